"""Functional Renyi DP: its settings, and the release that it alone has."""
