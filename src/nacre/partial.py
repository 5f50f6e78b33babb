"""A file that is there whole or not at all."""

from __future__ import annotations

import contextlib
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
