"""What a server is started with: decided once, by whoever starts it."""

from __future__ import annotations

import dataclasses
import ipaddress
import secrets
from pathlib import Path
from typing import final
from urllib.parse import urlsplit

from nacre.app.users import Users
from nacre.errors import NacreError

UPLOAD = 2 << 30  # bytes of one table
PORT = 8765


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """Where a server finds tables, where it keeps what it makes, and who may talk to it.

    Attributes:
        root: the folder whose tables may be opened; nothing outside of it is read.
        state: the folder of projects, the server's own.
        ledger: the file or address of the ledger that every fit is charged to.
        origins: the addresses under which browsers may reach it, such as http://127.0.0.1:8765.
        token: what the opening address carries; None where people log in.
        users: who may log in; None where the token opens.
        upload: the most bytes of an uploaded table.
    """

    root: Path
    state: Path
    ledger: str
    origins: tuple[str, ...]
    token: str | None = None
    users: Users | None = None
    upload: int = UPLOAD

    @property
    def hosts(self) -> frozenset[str]:
        """What the header `Host` may say."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)

    @property
    def secure(self) -> bool:
        """Whether browsers come by TLS."""
        return all(origin.startswith("https://") for origin in self.origins)

    @property
    def opening(self) -> str:
        """The address to open first."""
        return self.origins[0] + ("/" if self.token is None else f"/enter?token={self.token}")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address to bind to.

    Examples:
        >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
        (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def origins_of(
    host: str, port: int, *, users: bool, certificate: bool, proxy: str | None
) -> tuple[str, ...]:
    """The addresses under which a server that is bound to `host` may be reached.

    Raises NacreError for a server that others can reach without a password, or in the clear.
    """
    if proxy is not None and not (urlsplit(proxy).scheme == "https" and urlsplit(proxy).netloc):
        raise NacreError(
            f"--proxy {proxy}: give the address that people open, such as https://nacre.example."
        )
    if proxy is not None and not users:
        raise NacreError(
            "Behind a proxy others can reach the page, so that each must log in: give --users FILE."
        )
    if not is_loopback(host):
        if not users:
            raise NacreError(
                f"Others can reach {host}, so that each must log in: give --users FILE (make it "
                "with --add-user NAME), or bind to 127.0.0.1, which only this machine reaches."
            )
        if not certificate and proxy is None:
            raise NacreError(
                f"Others can reach {host}, and private rows must not travel in the clear: give "
                "--certificate and --key, or --proxy https://NAME for a proxy that does TLS."
            )
    if proxy is not None:
        parts = urlsplit(proxy)
        return (_origin("https", parts.netloc.lower().removesuffix(":443")),)
    scheme = "https" if certificate else "http"
    names = ["127.0.0.1", "localhost", "[::1]"]
    if not is_loopback(host):
        if host in ("0.0.0.0", "::"):
            raise NacreError(
                f"{host} is no address that a browser shows, so it cannot be checked. Bind to the "
                "address or name that people open, or to 127.0.0.1 with --proxy https://NAME."
            )
        names = [f"[{host}]" if ":" in host else host]
    elif host == "::1":
        names = ["[::1]", "localhost"]
    return tuple(_origin(scheme, name.lower(), port) for name in names)


def _origin(scheme: str, name: str, port: int | None = None) -> str:
    """As browsers write it: without the port that goes without saying."""
    usual = port is None or port == {"http": 80, "https": 443}[scheme]
    return f"{scheme}://{name}" + ("" if usual else f":{port}")


def new_token() -> str:
    """256 random bits."""
    return secrets.token_urlsafe(32)
