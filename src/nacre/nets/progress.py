"""Reports of progress, for those who want none."""

from __future__ import annotations


def ignore(done: float) -> None:
    """No progress report."""
