"""Browsers that have been let in: a random cookie each, of which the server keeps the hash only."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import secrets
import time
from typing import final

IDLE = 12 * 3600.0  # seconds after which a browser has to come in again
MOST = 1000


@final
@dataclasses.dataclass(frozen=True)
class Session:
    """One browser.

    Attributes:
        user: who logged in; empty where the opening address lets in.
        form_token: what each of its forms must carry.
        mark: of the password that was given; another password is another mark.
    """

    user: str
    form_token: str
    mark: bytes = b""


@final
class Sessions:
    """All browsers that are in; forgotten when the server ends."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._open: dict[str, tuple[Session, float]] = {}

    @property
    def login_token(self) -> str:
        """What the form of the login page must carry, as nobody is in yet."""
        return self._sign("login")

    def begin(self, user: str, mark: bytes = b"") -> str:
        """Let a browser in; returns its cookie."""
        cookie = secrets.token_urlsafe(32)
        self._forget()
        self._open[_digest(cookie)] = Session(user, self._sign(cookie), mark), time.monotonic()
        return cookie

    def find(self, cookie: str) -> Session | None:
        """Whose cookie it is."""
        known = self._open.get(_digest(cookie))
        if known is None or time.monotonic() - known[1] > IDLE:
            return None
        self._open[_digest(cookie)] = known[0], time.monotonic()
        return known[0]

    def end(self, cookie: str) -> None:
        """Let a browser out."""
        self._open.pop(_digest(cookie), None)

    def _forget(self) -> None:
        """Drop those that were idle, and the oldest if there are too many."""
        now = time.monotonic()
        kept = {name: s for name, s in self._open.items() if now - s[1] <= IDLE}
        latest = sorted(kept, key=lambda name: kept[name][1])[-MOST + 1 :]
        self._open = {name: kept[name] for name in latest}

    def _sign(self, what: str) -> str:
        return hmac.new(self._key, what.encode(), hashlib.sha256).hexdigest()


def same(said: str, wanted: str) -> bool:
    """Whether two secrets are the same, in a time that tells nothing."""
    return hmac.compare_digest(said.encode("utf-8", "replace"), wanted.encode())


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).hexdigest()
