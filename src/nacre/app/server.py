"""Run the application until somebody stops it: one process, no log of what was asked."""

from __future__ import annotations

import os
import socket
import webbrowser
from pathlib import Path

import uvicorn

from nacre.app import folder
from nacre.app.settings import Settings
from nacre.app.web import make_app
from nacre.errors import NacreError


def default_state() -> Path:
    """Where projects are kept if nobody says so."""
    data = os.environ.get("XDG_DATA_HOME", "")
    return (Path(data) if data else Path.home() / ".local" / "share") / "nacre"


def serve(
    settings: Settings,
    *,
    host: str,
    port: int,
    certificate: Path | None = None,
    key: Path | None = None,
    browser: bool = True,
) -> None:
    """Answer until interrupted; everything that is written is its owner's alone."""
    os.umask(0o077)
    sock = _bind(host, port)
    app = make_app(settings)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        access_log=False,  # addresses hold the token
        log_level="warning",
        http="h11",  # strict about where a request ends, whatever else is installed
        proxy_headers=False,
        server_header=False,
        date_header=False,
        ws="none",
        ssl_certfile=None if certificate is None else str(certificate),
        ssl_keyfile=None if key is None else str(key),
        timeout_graceful_shutdown=3,
    )
    server = uvicorn.Server(config)
    if browser:
        _open_browser(settings)
    server.run([sock])


def _bind(host: str, port: int) -> socket.socket:
    """A socket, or a sentence about why there is none; uvicorn would end the process instead."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By its name, or asyncio leaves Nagle's algorithm on, and each answer waits for 40 ms.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError:
        found.close()
        raise NacreError(
            f"Port {port} of {host} is taken, or may not be used. Choose another with --port."
        ) from None
    return found


def _open_browser(settings: Settings) -> None:
    """Open the page by a file that only its owner reads: others see the arguments of a browser."""
    if settings.token is None:
        webbrowser.open(settings.opening)
        return
    link = settings.state / "open.html"
    text = (
        '<!doctype html><meta charset="utf-8"><title>nacre</title>'
        f'<meta http-equiv="refresh" content="0; url={settings.opening}">'
        f'<a href="{settings.opening}">Open nacre</a>'
    )
    folder.write(link, text.encode())
    webbrowser.open(link.as_uri())
