"""Mosaic: its settings, and the parts that it alone has."""
