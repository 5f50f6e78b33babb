"""Measurements: quality against the papers' tables, speed against references in the same run."""
