"""Where messages lie for all to see: a folder, whose files people may mail to each other."""

from __future__ import annotations

import abc
import contextlib
import os
import tempfile
from pathlib import Path
from typing import final

from nacre import archive
from nacre.errors import NacreError
from nacre.partial import take_free_name
from nacre.sites.masked.message import SESSION, Address, Message, read
from nacre.sites.masked.session import Session


class AbstractBoard(abc.ABC):
    """Messages by name.  Nothing on it is secret.

    Of sites' messages the signature is checked; rolls and answers have none, and are taken within
    bounds that hold whatever they say (`turns.reveal`, `turns.require_given`, `turns.next_asked`).
    """

    _session: Session | None = None

    @abc.abstractmethod
    def names(self) -> set[str]:
        """What is there."""

    @abc.abstractmethod
    def fetch(self, name: str) -> Path:
        """A file with the message of this name."""

    @abc.abstractmethod
    def post(self, path: Path, name: str) -> None:
        """Put a copy of a file there; what is there already stays."""

    def session(self) -> Session:
        """The session that the board is for; read once."""
        if self._session is None:
            if SESSION not in self.names():
                raise NacreError(f"There is no session at {self}: `nacre site open` makes one.")
            self._session = Session.read(self.fetch(SESSION))
        return self._session

    def message(self, session: Session, address: Address) -> Message:
        """A message that is there, checked."""
        return read(self.fetch(address.name), session, address)


@final
class Folder(AbstractBoard):
    """A folder of files."""

    def __init__(self, path: str | Path):
        self.path = Path(path)

    def __str__(self) -> str:
        return str(self.path)

    def names(self) -> set[str]:
        """See `AbstractBoard`."""
        if not self.path.is_dir():
            raise NacreError(f"There is no folder {self.path}. Give the one with the messages.")
        return {each.name for each in self.path.iterdir() if not each.name.startswith(".")}

    def fetch(self, name: str) -> Path:
        """See `AbstractBoard`."""
        return self.path / name

    def post(self, path: Path, name: str) -> None:
        """See `AbstractBoard`; never half a file, and never in place of another one."""
        target, data = self.path / name, path.read_bytes()
        handle, temporary = tempfile.mkstemp(dir=self.path, prefix=f".{name}.")
        try:
            # By its descriptor: others may put a link in the place of its name at any time.
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                os.fchmod(handle, 0o644)
            with contextlib.suppress(FileExistsError):
                take_free_name(Path(temporary), target)
            if archive.bytes_of(target, most=len(data)) != data:
                raise _another(name)
        except archive.ArchiveError:
            raise _another(name) from None
        finally:
            Path(temporary).unlink(missing_ok=True)


def _another(name: str) -> NacreError:
    return NacreError(f"Another {name} is there already. One message each: see who wrote it.")
