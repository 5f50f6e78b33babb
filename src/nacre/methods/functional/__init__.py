"""Functional Renyi DP: its settings, and its two step-wise releases."""
