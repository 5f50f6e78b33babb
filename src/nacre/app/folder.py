"""Files that only their owner reads, and that are whole or not there at all."""

from __future__ import annotations

import errno
import json
import os
import secrets
from pathlib import Path
from typing import Any, final

from nacre.errors import NacreError

FULL = (errno.ENOSPC, errno.EDQUOT)
# What a fit may need beside its table: model, samples, two reports.
ROOM = 64 << 20
BALLAST, LITTLE = 32 << 20, 4 << 20


class DiskFull(NacreError):
    """There is no room to write; what was there before is whole."""


def make(path: Path) -> None:
    """A new folder, which only its owner may enter; FileExistsError if it is there."""
    try:
        path.mkdir(mode=0o700)
    except OSError as error:
        raise _explained(error) from None


def write(path: Path, content: bytes) -> None:
    """Put content in the place of a file: all of it, or on any error none of it."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise _explained(error) from None


def settle(beside: Path, path: Path) -> None:
    """Let a file that somebody else has written take its place, on the disk before in name."""
    try:
        beside.chmod(0o600)
        descriptor = os.open(beside, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        beside.replace(path)
    except OSError as error:
        raise _explained(error) from None


def write_json(path: Path, value: Any) -> None:
    """Put plain data in the place of a file."""
    write(path, json.dumps(value, ensure_ascii=False, indent=1).encode())


def read_json(path: Path) -> Any:
    """Plain data; None if there is no such file."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None


def room(path: Path) -> int:
    """How many bytes can still be written there."""
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


@final
class Ballast:
    """Room on the disk that is held for the end of a fit, and given up when the disk is full.

    What was paid for must be written down, in the ledger and as a model, and by then others may
    have filled the disk.
    """

    def __init__(self, path: Path, size: int = BALLAST):
        self.path = path
        self.there = True
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                for _ in range(size >> 20):
                    os.write(descriptor, bytes(1 << 20))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise _explained(error) from None

    def relieve(self, *, now: bool = False) -> None:
        """Give the room up if it is needed, or at once."""
        if self.there and (now or room(self.path.parent) < LITTLE):
            self.path.unlink(missing_ok=True)
            self.there = False


def require_room(path: Path, size: int) -> None:
    """Refuse to begin what the disk has no room to end."""
    if room(path) < size:
        raise DiskFull(
            f"The disk has less than {max(size >> 20, 1):,} MB left where projects are kept. "
            "Nothing was begun, and nothing was spent. Make room, and try again."
        )


def _explained(error: OSError) -> Exception:
    if error.errno in FULL:
        return DiskFull(
            "The disk is full, and this was not written. What was there before is whole. Make "
            "room, and try again."
        )
    return error
