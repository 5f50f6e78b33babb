"""A board at an https address: the same messages, fetched and sent by TLS."""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import ssl
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, final
from urllib.parse import urlsplit

from nacre.errors import NacreError
from nacre.sites.masked.board import AbstractBoard

SECONDS = 60.0  # of silence after which a server is given up
LARGEST = 1 << 30  # bytes of one message that are read
NAMES = 4 << 20  # bytes of a list of messages
PIECE = 1 << 20


class Unreachable(NacreError):
    """Nobody answers at an address; perhaps later."""


@final
class Web(AbstractBoard):
    """A board that `nacre site serve` shows; who serves it is no more trusted than a postman."""

    def __init__(self, address: str, *, authority: str | Path | None = None):
        """Args: its address, and a file of certificates to trust instead of the system's."""
        parts = urlsplit(address)
        if parts.scheme != "https" or not parts.hostname or parts.path.strip("/"):
            raise NacreError(f"{address} is no address of a board: write https://host:port.")
        try:
            self._context = ssl.create_default_context(cafile=authority and str(authority))
        except (OSError, ssl.SSLError):
            raise NacreError(f"{authority} holds no certificate that can be read.") from None
        self.address, self._host, self._port = address, parts.hostname, parts.port or 443
        self._folder = Path(tempfile.mkdtemp(prefix="nacre-board-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def __str__(self) -> str:
        return self.address

    def names(self) -> set[str]:
        """See `AbstractBoard`."""
        with self._asked("GET", "/") as answer:
            try:
                found = json.loads(answer.read(NAMES))
                return {str(name) for name in found["names"]}
            except (ValueError, KeyError, TypeError):
                raise NacreError(f"{self} does not answer as a board does.") from None

    def fetch(self, name: str) -> Path:
        """See `AbstractBoard`; once, as messages do not change."""
        path = self._folder / name
        if not path.exists():
            partial = path.with_name(f".{name}")
            with self._asked("GET", f"/{name}") as answer, partial.open("wb") as file:
                while piece := answer.read(PIECE):
                    if file.tell() > LARGEST:
                        raise NacreError(f"{self} sends more than a message can have.")
                    file.write(piece)
            partial.replace(path)
        return path

    def post(self, path: Path, name: str) -> None:
        """See `AbstractBoard`."""
        with path.open("rb") as file, self._asked("PUT", f"/{name}", file):
            pass

    @contextlib.contextmanager
    def _asked(
        self, verb: str, where: str, body: BinaryIO | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        line = http.client.HTTPSConnection(
            self._host, self._port, context=self._context, timeout=SECONDS
        )
        try:
            line.request(verb, where, body=body)
            answer = line.getresponse()
            if answer.status >= 300:
                said = answer.read(1000).decode("utf-8", "replace")
                raise NacreError(f"{self} refuses {where.strip('/') or 'to list messages'}: {said}")
            yield answer
        except ssl.SSLCertVerificationError:
            raise NacreError(
                f"The certificate of {self} is not trusted. Give the one to trust with --ca."
            ) from None
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self} cannot be reached ({type(error).__name__}).") from None
        finally:
            line.close()


def board_at(place: str, *, authority: str | Path | None = None) -> AbstractBoard:
    """A board in a folder, or at an https address."""
    from nacre.sites.masked.board import Folder

    if "://" in place:
        return Web(place, authority=authority)
    return Folder(place)
