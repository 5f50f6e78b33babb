"""Before the first round: each site shows its keys, and divides its secrets among all sites."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nacre.errors import NacreError
from nacre.sites.masked import masks, shamir
from nacre.sites.masked.board import AbstractBoard
from nacre.sites.masked.keeper import Kept
from nacre.sites.masked.message import Address, Message, write
from nacre.sites.masked.session import KEY, Session

SECRETS = 2  # of a site and round: the key of its masks with others, and the seed of its own


def joined(session: Session, site: str) -> Kept:
    """Fresh secrets for all rounds, from the operating system."""
    rounds = [str(number) for number in range(1, session.rounds + 1)]
    return Kept(
        session=session.id,
        site=site,
        channel=masks.new_secret().hex(),
        masks={number: masks.new_secret().hex() for number in rounds},
        seeds={number: secrets.token_hex(32) for number in rounds},
    )


def write_keys(path: Path, session: Session, kept: Kept, key: str | Path) -> None:
    """The public side of a site's secrets, signed by the key by which the others know it."""
    place = session.names.index(kept.site)
    body = {
        "channel": masks.public_of(bytes.fromhex(kept.channel)).hex(),
        "masks": [masks.public_of(bytes.fromhex(each)).hex() for each in kept.masks.values()],
        "seeds": [
            masks.commitment(bytes.fromhex(seed), bytes.fromhex(session.id), place, int(number))
            for number, seed in kept.seeds.items()
        ],
    }
    write(path, session, Address("keys", kept.site), key, body)


class Roster:
    """The keys of all sites, checked.

    Attributes:
        transcript: a digest of the session and all keys: sites with other keys share no mask.
        channels: public keys by which parts are sealed, by the sites' places.
    """

    def __init__(self, session: Session, messages: Sequence[Message]):
        self._bodies = [message.body for message in messages]
        digest = hashlib.sha256(bytes.fromhex(session.id))
        for message in messages:
            digest.update(message.digest)
            if not _are_keys(message.body, session.rounds):
                raise NacreError(f"'{message.address.site}' shows keys that are none.")
            _try(message)
        shown = [key for body in self._bodies for key in (body["channel"], *body["masks"])]
        if len(set(shown)) < len(shown):
            raise NacreError("Two sites show the same key: one has copied the other's. Refused.")
        self.transcript = digest.digest()
        self.channels = [bytes.fromhex(body["channel"]) for body in self._bodies]

    @classmethod
    def of(cls, board: AbstractBoard, session: Session) -> Roster | None:
        """None while somebody's are missing."""
        addresses = [Address("keys", name) for name in session.names]
        if not board.names() >= {address.name for address in addresses}:
            return None
        return cls(session, [board.message(session, address) for address in addresses])

    def keys(self, number: int) -> list[bytes]:
        """Public keys for the masks of a round, by the sites' places."""
        return [bytes.fromhex(body["masks"][number - 1]) for body in self._bodies]

    def commitments(self, number: int) -> list[str]:
        """By which seeds of a round are known again."""
        return [str(body["seeds"][number - 1]) for body in self._bodies]


def _are_keys(body: Mapping[str, Any], rounds: int) -> bool:
    """Whether a site shows as many keys as it must, of the right length, in one spelling."""
    both = [body.get("masks"), body.get("seeds")]
    if not all(isinstance(each, list) and len(each) == rounds for each in both):
        return False
    keys = [body.get("channel"), *body["masks"], *body["seeds"]]
    return all(isinstance(key, str) and KEY.fullmatch(key) for key in keys)


def _try(message: Message) -> None:
    """Refuse keys with which nobody can agree on a secret, before anything was paid for."""
    secret = masks.new_secret()
    try:
        for key in (message.body["channel"], *message.body["masks"]):
            masks.agree(secret, bytes.fromhex(key))
    except NacreError:
        raise NacreError(f"'{message.address.site}' shows keys that are none.") from None


def write_shares(path: Path, session: Session, roster: Roster, kept: Kept, key: str | Path) -> None:
    """A site's secrets of all rounds in parts, each sealed for the site that is to keep it."""
    number, threshold = session.parties.sites, session.parties.threshold
    parts = [  # by round and secret, then by place
        shamir.split(bytes.fromhex(secret), number, threshold)
        for both in zip(kept.masks.values(), kept.seeds.values(), strict=True)
        for secret in both
    ]
    digests, sealed = {}, {}
    for place, name in enumerate(session.names):
        own = [each[place] for each in parts]
        digests[name] = [hashlib.sha256(part).hexdigest() for part in own]
        about = (roster.transcript, kept.site.encode(), name.encode())
        found = masks.seal(
            b"".join(own),
            bytes.fromhex(kept.channel),
            roster.channels[place],
            secrets.token_bytes(masks.SALT),
            *about,
        )
        sealed[f"to-{name}"] = np.frombuffer(found, np.uint8)
    body = {"transcript": roster.transcript.hex(), "digests": digests}
    write(path, session, Address("shares", kept.site), key, body, sealed)


def digests_of(message: Message, name: str, number: int) -> list[str]:
    """Of the two parts that `name` was given for a round, as their owner says."""
    found = message.body["digests"][name][SECRETS * (number - 1) : SECRETS * number]
    return [str(each) for each in found]


def opened(
    session: Session, roster: Roster, kept: Kept, messages: Mapping[str, Message]
) -> dict[str, Any]:
    """The parts that others have sealed for this site, by round and owner.

    Refuses, by name, a site whose parts cannot be opened, are not as it says itself, or that has
    seen other keys than this site.
    """
    found: dict[str, Any] = {str(number): {} for number in range(1, session.rounds + 1)}
    for place, (name, message) in enumerate(messages.items()):
        about = (roster.transcript, name.encode(), kept.site.encode())
        try:
            if message.body["transcript"] != roster.transcript.hex():
                raise NacreError("It has seen other keys.")
            sealed = np.asarray(message.arrays[f"to-{kept.site}"]).tobytes()
            text = masks.unseal(sealed, bytes.fromhex(kept.channel), roster.channels[place], *about)
            size = shamir.BYTES
            for number in range(1, session.rounds + 1):
                start = SECRETS * size * (number - 1)
                both = [text[start : start + size], text[start + size : start + 2 * size]]
                told = digests_of(message, kept.site, number)
                if [hashlib.sha256(part).hexdigest() for part in both] != told:
                    raise NacreError("Its parts are not as it says.")
                found[str(number)][name] = [part.hex() for part in both]
        except (NacreError, KeyError, TypeError) as error:
            why = str(error) if isinstance(error, NacreError) else "They are not there."
            raise NacreError(
                f"The parts of '{name}' for '{kept.site}' cannot be used. {why} Open another "
                "session; nothing was spent."
            ) from None
    return found
