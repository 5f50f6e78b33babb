"""What sites agree on before any of them reads a row: terms, budget, and who they are."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, final

from nacre import archive
from nacre.errors import NacreError
from nacre.sites.answers import opening
from nacre.sites.terms import Terms
from nacre.vault import Plan
from nacre.vault.parties import Parties
from nacre.vault.shares import shared

KIND = "session"
NAME = re.compile("[a-z][a-z0-9-]{0,31}")
KEY = re.compile("[0-9a-f]{64}")


@final
@dataclasses.dataclass(frozen=True)
class Session:
    """One model that several sites make together; public, and the same at all of them.

    Attributes:
        terms: schema, method and public randomness.
        epsilon: of all rounds together.
        delta: likewise.
        parties: how many sites there are, may drop out, and may collude.
        sites: names, and public Ed25519 keys in hex by which sites sign.
        nonce: random, so that no two sessions are the same.
    """

    terms: Terms
    epsilon: float
    delta: float
    parties: Parties
    sites: Mapping[str, str]
    nonce: str

    def __post_init__(self) -> None:
        if bad := [name for name in self.sites if not NAME.fullmatch(name)]:
            raise NacreError(
                f"A site's name has small letters, digits and hyphens, a letter first and at most "
                f"32 of them; {bad[0]!r} has not."
            )
        keys = list(self.sites.values())
        if len(set(keys)) < len(keys) or not all(map(KEY.fullmatch, keys)):
            raise NacreError("Each site needs a public key of its own, of 32 bytes.")
        if len(keys) != self.parties.sites:
            raise NacreError(f"The session is for {self.parties.sites} sites, not {len(keys)}.")

    @classmethod
    def new(
        cls,
        terms: Terms,
        sites: Mapping[str, bytes],
        *,
        epsilon: float,
        delta: float,
        dropouts: int = 0,
        colluding: int = 1,
    ) -> Self:
        """A session for these sites; refuses what they could not answer."""
        parties = Parties(sites=len(sites), dropouts=dropouts, colluding=colluding)
        keys = {name: key.hex() for name, key in sites.items()}
        found = cls(terms, float(epsilon), float(delta), parties, keys, secrets.token_hex(32))
        found.plan  # noqa: B018 (refuses what is no sum)
        return found

    @functools.cached_property
    def id(self) -> str:
        """By which all messages name the session: a digest of all of it."""
        said = json.dumps(self.to_dict(), sort_keys=True, allow_nan=False)
        return hashlib.sha256(said.encode()).hexdigest()

    @property
    def fingerprint(self) -> str:
        """By which people compare sessions, over another line than the one it came by."""
        # All of it: who opens a session chooses what it says, and could make half of it agree.
        return " ".join(self.id[i : i + 4] for i in range(0, len(self.id), 4))

    @functools.cached_property
    def plan(self) -> Plan:
        """What all rounds release, with its noise in shares."""
        return shared(self.terms.plan(self.epsilon, self.delta), self.parties)

    @property
    def rounds(self) -> int:
        """How many there are: one for each question."""
        return len(self.plan.asked)

    @property
    def names(self) -> list[str]:
        """Of the sites, by their places."""
        return list(self.sites)

    def require(self, fingerprint: str) -> None:
        """Refuse to take part in another session than the one that a person has looked at."""
        if fingerprint.replace(" ", "").lower() != self.id:
            raise NacreError(
                f"The session has the fingerprint {self.fingerprint}, not the one given. Look at "
                "it (`nacre site show`): are these the sites' keys, and is this the budget?"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "terms": self.terms.to_dict(),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "parties": self.parties.to_dict(),
            "sites": [[name, key] for name, key in self.sites.items()],
            "nonce": self.nonce,
        }

    def save(self, path: str | Path) -> None:
        """Write it; nothing in it is private."""
        archive.write(Path(path), {"file": KIND, **self.to_dict()}, {})

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The inverse of `save`."""
        document, _ = archive.read(Path(path))
        with opening(path, document, KIND):
            return cls(
                Terms.from_dict(document["terms"]),
                float(document["epsilon"]),
                float(document["delta"]),
                Parties(**document["parties"]),
                {str(name): str(key) for name, key in document["sites"]},
                str(document["nonce"]),
            )
