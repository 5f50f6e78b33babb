"""Text that is given back, and written to a file where one is named."""

from __future__ import annotations

from pathlib import Path


def written(text: str, path: str | Path | None, end: str = "") -> str:
    """The text itself; written to `path` first, with `end` after it, if there is one."""
    if path is not None:
        Path(path).write_text(text + end, encoding="utf-8")
    return text
