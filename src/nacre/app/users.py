"""Who may log in: names and salted scrypt hashes in a file, a line each."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import time
from pathlib import Path
from typing import final

from nacre.app.folder import write
from nacre.errors import NacreError

# OWASP's password-storage sheet: 2^17, r = 8, p = 1 take 128 MiB and some 0.3 s.
COST, BLOCK, LANES = 1 << 17, 8, 1
MEMORY = 256 << 20
NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
SHORTEST = 12  # letters of a password
TRIES, PAUSE = 5, 60.0  # wrong passwords of a name, and seconds until it may try again


@final
class Users:
    """The people in a file, which is read again whenever somebody logs in.

    A name that was given a wrong password five times has to wait for a minute.
    """

    def __init__(self, path: Path):
        self.path = path
        self._wrong: dict[str, list[float]] = {}
        if not self._read():
            raise NacreError(
                f"{path} names nobody. Add people with: nacre serve --users {path} --add-user NAME"
            )

    def waits(self, name: str) -> bool:
        """Whether too many wrong passwords were given for a name."""
        since = time.monotonic() - PAUSE
        recent = {who: [at for at in tries if at > since] for who, tries in self._wrong.items()}
        self._wrong = {who: tries for who, tries in recent.items() if tries}
        return len(self._wrong.get(name, ())) >= TRIES

    def right(self, name: str, password: str) -> bool:
        """Whether this is the person's password; takes as long for names that nobody has."""
        if self.waits(name) or not NAME.fullmatch(name):  # which nobody can have
            return False
        known = self._read()
        salt, wanted = known.get(name, (b"nobody", b""))
        found = _hash(password, salt)
        right = name in known and hmac.compare_digest(found, wanted)
        if not right:
            self._wrong.setdefault(name, []).append(time.monotonic())
        return right

    def mark(self, name: str) -> bytes | None:
        """What changes with a person's password; None for people who are no longer in the file."""
        found = self._read().get(name)
        return None if found is None else found[0]

    def _read(self) -> dict[str, tuple[bytes, bytes]]:
        return read_users(self.path)


def read_users(path: Path) -> dict[str, tuple[bytes, bytes]]:
    """Salt and hash by name."""
    if not path.exists():
        return {}
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            name, kind, salt, wanted = line.split(":")
            if kind != "scrypt" or not NAME.fullmatch(name):
                raise ValueError
            found[name] = base64.b64decode(salt), base64.b64decode(wanted)
        except ValueError:
            raise NacreError(
                f"{path}, line {number} is no `name:scrypt:salt:hash`. Remove it, and add the "
                "person again with --add-user."
            ) from None
    return found


def add_user(path: Path, name: str, password: str) -> None:
    """Write a person's line, in place of one that is there."""
    if not NAME.fullmatch(name):
        raise NacreError(
            f"The name '{name}' may have letters, digits, '.', '_' and '-', 64 at most."
        )
    if len(password) < SHORTEST:
        raise NacreError(f"A password needs {SHORTEST} letters or more.")
    salt = secrets.token_bytes(16)
    known = read_users(path) | {name: (salt, _hash(password, salt))}
    lines = [
        f"{who}:scrypt:{base64.b64encode(own).decode()}:{base64.b64encode(wanted).decode()}\n"
        for who, (own, wanted) in known.items()
    ]
    write(path, "".join(lines).encode())


def _hash(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(
        password.encode("utf-8", "surrogatepass"),
        salt=salt,
        n=COST,
        r=BLOCK,
        p=LANES,
        maxmem=MEMORY,
    )
