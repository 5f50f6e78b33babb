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

    The old name may be left: whoever made the file takes it away.  Where there are no hard links
    an empty file has the name for a moment, or for good if the process is killed in it.
    """
    try:
        os.link(file, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links, as of some shared folders
        # The name is claimed by an empty file that nobody else can have made, then replaced.
        claim = _claim(target)
        try:
            file.replace(target)
        except BaseException:  # Ctrl-C, too
            _give_back(target, claim)
            raise


def _claim(target: Path) -> os.stat_result:
    """An empty file of that name; closed, as Windows replaces no open one."""
    opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        return os.fstat(opened)
    finally:
        os.close(opened)


def _give_back(target: Path, claim: os.stat_result) -> None:
    """Take the claim away, unless somebody has replaced it since, who may have its inode now."""
    with contextlib.suppress(OSError):
        found = target.lstat()
        if os.path.samestat(found, claim) and found.st_size == 0:
            target.unlink()
