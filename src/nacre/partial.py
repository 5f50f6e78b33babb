"""A file that is there whole or not at all, or that takes no other one's place."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_or_none(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its place in the end; on any error there is none."""
    partial = path.with_name(f".{secrets.token_hex(4)}.partial")
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        if error.filename in (None, str(partial)):
            error.filename = str(path)  # a full disk does not say where
        raise
    finally:
        partial.unlink(missing_ok=True)


def take_free_name(file: Path, target: Path) -> None:
    """Give a file the name `target`; FileExistsError if something has it, also since a moment.

    The old name may be left: whoever made the file takes it away.
    """
    try:
        os.link(file, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links, as of some shared folders
        if os.path.lexists(target):
            raise FileExistsError from None
        file.replace(target)
