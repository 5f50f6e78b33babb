"""The very file that was looked at: its path may lead elsewhere a moment later."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from nacre.errors import NacreError
from nacre.rows.source import SUFFIXES

DESCRIPTORS = Path("/proc/self/fd")  # Linux; elsewhere a path is all that there is
GONE = (
    "{name}: the file was moved or replaced while it was being opened. Put it back, and open it "
    "anew."
)


@contextlib.contextmanager
def pinned(path: Path, root: Path | None, beside: Path) -> Iterator[Path]:
    """A name in the private folder `beside` for the file at `path`, opened once, without links.

    Whoever may write below `root` could put a link to another file of the server's owner into the
    place of a table after it was checked; what is read under this name stays the file that was
    opened.  Only this process can use the name.  Messages of ours name `path` as before.

    Args:
        path: a table, with all links resolved.
        root: the folder that it must lie below; None for a copy of the server's own.
        beside: a folder that only the server's owner may enter.
    """
    if root is None or not DESCRIPTORS.is_dir():
        yield path
        return
    descriptor = _open_below(root.resolve(), path)
    suffix = next(each for each in (".csv.gz", *SUFFIXES) if path.name.lower().endswith(each))
    name = beside / f".pinned-{secrets.token_hex(8)}{suffix}"
    try:
        name.symlink_to(DESCRIPTORS / str(descriptor))
        yield name
    except NacreError as error:
        error.args = (str(error).replace(str(name), str(path)).replace(name.name, path.name),)
        raise
    finally:
        name.unlink(missing_ok=True)
        os.close(descriptor)


def _open_below(top: Path, path: Path) -> int:
    """Open a regular file folder by folder, from `top` on, none of them a link."""
    here = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        *folders, last = path.relative_to(top).parts
        for folder in folders:
            there = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = there
        # Not blocking: a pipe would wait for whoever writes into it.
        found = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
        if not stat.S_ISREG(os.fstat(found).st_mode):
            os.close(found)
            raise ValueError
        return found
    except (OSError, ValueError):
        raise NacreError(GONE.format(name=path.name)) from None
    finally:
        os.close(here)
