"""How pages are made: templates, parts of a page, scales of figures."""
