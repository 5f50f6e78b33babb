"""Figures of a comparison of tables."""
