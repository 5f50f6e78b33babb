"""Tables below one folder: listed, and opened only if they really lie there."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import final

from nacre.errors import NacreError
from nacre.rows.source import SUFFIXES

MOST_FILES = 500
MOST_LOOKED = 20_000  # entries of folders
DEEPEST = 6


@final
@dataclasses.dataclass(frozen=True)
class Found:
    """A table that may be opened: its path from the root, and its size in bytes."""

    path: str
    size: int


def is_table(name: str) -> bool:
    """Whether a file's name says that it holds a table."""
    return name.lower().endswith(SUFFIXES) and not name.startswith(".")


def listed(root: Path, *, beside: Path) -> list[Found]:
    """Tables below `root` in the order of names; hidden folders and `beside` are left out."""
    found: list[Found] = []
    looked = 0
    top, beside = root.resolve(), beside.resolve()
    for folder, folders, files in os.walk(top):  # which follows no links
        here = Path(folder)
        depth = len(here.relative_to(top).parts)
        folders[:] = sorted(
            name
            for name in folders
            if depth < DEEPEST and not name.startswith(".") and here / name != beside
        )
        looked += len(files)
        for name in sorted(files):
            path = here / name
            within = inside(root, path) if is_table(name) else None
            if within is not None and not within.is_relative_to(beside):
                found.append(Found(path.relative_to(top).as_posix(), within.stat().st_size))
        if len(found) >= MOST_FILES or looked > MOST_LOOKED:
            break
    return found[:MOST_FILES]


def inside(root: Path, path: Path) -> Path | None:
    """The regular file that a path leads to, links followed; None unless it lies below `root`."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    top = root.resolve()
    return real if real.is_relative_to(top) and real.is_file() else None


def table_at(root: Path, said: str, *, beside: Path) -> Path:
    """The table that a person named, relative to `root`; refuses all that is not listed there.

    Neither hidden folders nor `beside`, where other people's uploads are, even if it lies below.
    """
    path = Path(said)
    real = None if path.is_absolute() or "\0" in said else inside(root, root / path)
    if real is not None:
        hidden = any(part.startswith(".") for part in real.relative_to(root.resolve()).parts)
        real = None if hidden or real.is_relative_to(beside.resolve()) else real
    # One sentence for all cases: what lies outside is nobody's business.
    if real is None or not is_table(real.name):
        raise NacreError(
            "There is no such table in the folder that this page may read. Choose one from the "
            f"list: files that end in {', '.join(SUFFIXES)}."
        )
    return real
