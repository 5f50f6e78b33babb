"""Constraints on rows: start <= end, if, forbid, fixed; parsed, bound to columns, narrowed."""
