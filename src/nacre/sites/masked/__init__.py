"""Sums that nobody is trusted with: sites add noise, mask them, and only the total can be seen."""
