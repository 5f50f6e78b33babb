"""What a site keeps to itself in a session: secret keys, others' parts, and what it has done.

A site masks one vector a round and answers one roll a round.  So what it did is written down before
a message leaves, and a folder that is brought back from an old copy would let it do so twice.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, final

from nacre.errors import NacreError

FILE, LOCK = "secrets.json", ".lock"


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Kept:
    """A site's own memory of a session.

    Attributes:
        session: its number.
        site: who it is.
        channel: the secret key by which parts are sealed for it; gone once they are opened.
        masks: secret keys for masks, by round; gone once the round is over.
        seeds: of its own masks, likewise.
        transcript: of the keys of all sites, once it has seen them.
        parts: of others' secrets, by round and site: of the key for masks, and of the seed.
        opened: whether it has them.
        masked: rounds in which it has drawn noise, and so questions of the plan, by their places
            from one: a round answers the question at its own place and no other.
        revealed: rounds in which it has given out parts, and of whom it was told that they are
            there.
        account: a digest of ledger and data set that the first round was charged to.
        entry: of the ledger, once there is one.
        left: whether it has left the session, and forgotten all secrets.
    """

    session: str
    site: str
    channel: str
    masks: dict[str, str]
    seeds: dict[str, str]
    transcript: str = ""
    parts: dict[str, dict[str, list[str]]] = dataclasses.field(default_factory=dict)
    opened: bool = False
    masked: tuple[int, ...] = ()
    revealed: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    account: str = ""
    entry: int | None = None
    left: bool = False

    def __repr__(self) -> str:
        return f"<what '{self.site}' keeps, secret>"

    def without(self, number: str) -> Self:
        """The same without the secrets of a round that is over."""

        def left(held: dict[str, Any]) -> dict[str, Any]:
            return {key: value for key, value in held.items() if key != number}

        return dataclasses.replace(
            self, masks=left(self.masks), seeds=left(self.seeds), parts=left(self.parts)
        )

    def forgotten(self) -> Self:
        """The same without any secret; what was done stays, so that nothing is done twice."""
        return dataclasses.replace(self, channel="", masks={}, seeds={}, parts={}, left=True)


@final
class Keeper:
    """The folder in which a site's secrets lie, for its owner's eyes alone; one user at a time."""

    def __init__(self, folder: Path):
        self.folder = folder

    @classmethod
    @contextlib.contextmanager
    def of(cls, folder: str | Path) -> Iterator[Self]:
        """Hold the folder: two programs at once might answer two rolls."""
        import fcntl

        path = Path(folder)
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (path / LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise NacreError(
                    f"Another program works with {path} at this moment: wait until it is done."
                ) from None
            for left in path.glob(f".{FILE}.*"):  # of a program that was stopped while it wrote
                left.unlink()
            yield cls(path)

    def path(self, name: str) -> Path:
        """Of a message of its own."""
        return self.folder / name

    def read(self) -> Kept | None:
        """What is kept; None before the first time."""
        try:
            said: dict[str, Any] = json.loads((self.folder / FILE).read_text())
            return Kept(**{**said, "masked": tuple(said["masked"])})
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError):
            raise NacreError(f"{self.folder / FILE} is damaged; this site must drop out.") from None

    def write(self, kept: Kept) -> Kept:
        """Keep it; on the disk before anything is sent."""
        handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=f".{FILE}.")
        try:
            with os.fdopen(handle, "w") as file:
                json.dump(dataclasses.asdict(kept), file)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(self.folder / FILE)
            folder = os.open(self.folder, os.O_RDONLY)  # else a power cut might bring it back
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return kept
