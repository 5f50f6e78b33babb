"""Feature maps of one row that know their own bound."""
