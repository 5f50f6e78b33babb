"""Figures, drawn by Matplotlib, that follow the page in light and dark."""
