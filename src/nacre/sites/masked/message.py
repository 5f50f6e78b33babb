"""Signed messages of sites, in files: from whom, in which session, of which round."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, final

from numpy.typing import NDArray

from nacre import archive
from nacre.archive import ArchiveError
from nacre.errors import NacreError
from nacre.signature import Unsigned, opened, sign
from nacre.sites.masked.session import Session

CONTEXT = b"nacre masked sums message 1\0"
# Kinds of messages: of a site once a session, of a site in each round, and of whoever collects.
ONCE, EACH_ROUND, COLLECTED = ("keys", "shares"), ("masked", "reveal"), ("roll", "answers")
SESSION = "session.nacre"
NAMES = re.compile(
    rf"(?P<site>[a-z][a-z0-9-]{{0,31}})\.(?:(?P<once>{'|'.join(ONCE)})"
    rf"|(?P<round>[1-9][0-9]{{0,3}})\.(?P<kind>{'|'.join(EACH_ROUND)}))"
)


@final
@dataclasses.dataclass(frozen=True)
class Address:
    """What a message is: its file has the name."""

    kind: str
    site: str
    round: int = 0

    @property
    def name(self) -> str:
        """Of the file."""
        number = f".{self.round}" if self.round else ""
        return f"{self.site}{number}.{self.kind}"

    @classmethod
    def parse(cls, name: str) -> Self | None:
        """What a file's name says; None if it is no message of a site."""
        found = NAMES.fullmatch(name)
        if found is None:
            return None
        return cls(found["once"] or found["kind"], found["site"], int(found["round"] or 0))


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Message:
    """A message whose signature was checked: the site of that name in the session wrote it."""

    address: Address
    body: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]

    @property
    def digest(self) -> bytes:
        """Of what was signed."""
        return hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).digest()


def largest(session: Session, address: Address) -> int:
    """Bytes of a message of this kind at most, by public numbers."""
    sites, rounds = session.parties.sites, session.rounds
    frame = 16 << 10  # of the file itself
    if address.kind == "masked":
        if not 1 <= address.round <= rounds:
            return frame
        return frame + 8 * session.plan.asked[address.round - 1].release.size
    each = {
        "keys": 256 * (1 + rounds),  # two in hex a round
        "shares": sites * (1024 + 512 * rounds),  # sealed parts, and digests of them
        "reveal": 256 * sites,
    }
    return frame + each[address.kind]


def write(
    path: Path,
    session: Session,
    address: Address,
    key: str | Path,
    body: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]] | None = None,
) -> None:
    """Sign a message with the site's own key and write it to `path`."""
    said = {
        "file": address.kind,
        "session": session.id,
        "site": address.site,
        "round": address.round,
        **body,
    }
    partial = path.with_name(f".{path.name}.partial")  # a message is there once it is signed
    try:
        archive.write(partial, said, arrays or {})
        signed = sign(partial, key, context=CONTEXT)
        if signed.key.hex() != session.sites[address.site]:
            raise NacreError(
                f"The key given is not the one of '{address.site}' in this session: nothing was "
                "sent."
            )
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read(path: Path, session: Session, address: Address) -> Message:
    """A message of this session, round, kind and site, or an ArchiveError that says what is wrong.

    A copy of another one's, of another round or session, or one that was changed, is refused.  The
    file is read once, since it may be another a moment later, and parsed once it is known whose.
    """
    data = archive.bytes_of(path, most=largest(session, address))
    if address.site not in session.sites:
        raise ArchiveError(f"{path} is of no site of this session: refused.")
    key = bytes.fromhex(session.sites[address.site])
    try:
        _, body, arrays = opened(path, data, context=CONTEXT, key=key)
    except Unsigned:
        raise ArchiveError(f"{path} is not signed by '{address.site}': refused.") from None
    said = (body.get("file"), body.get("session"), body.get("site"), body.get("round"))
    if said != (address.kind, session.id, address.site, address.round):
        raise ArchiveError(
            f"{path} is a message of another session, site, round or kind than its name says: "
            "refused."
        )
    return Message(address, body, arrays)
