"""serve(): a board over https, and whoever collects beside it; it is trusted with nothing."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from nacre.archive import ArchiveError, plain
from nacre.errors import NacreError, in_words
from nacre.sites.masked.board import Folder
from nacre.sites.masked.collect import Progress, collect
from nacre.sites.masked.message import SESSION, Address, largest, read

AT_ONCE = 256  # connections
PIECE = 1 << 16  # bytes that are sent at once
PAUSE = 0.5  # seconds between two looks at what has come in


def make_app(board: Folder) -> Starlette:
    """Lists messages, hands them out, and takes signed ones in; what is there stays as it is."""
    session = board.session()
    turn = asyncio.Lock()  # one message at a time: what a stranger sends takes one's memory only

    def known(name: str) -> bool:
        number, _, kind = name.partition(".")
        ours = number.isdecimal() and kind in ("roll", "answers")
        return name == SESSION or ours or Address.parse(name) is not None

    def names(request: Request) -> Response:
        return JSONResponse({"names": sorted(name for name in board.names() if known(name))})

    def fetch(request: Request) -> Response:
        name = request.path_params["name"]
        try:
            # By its descriptor: others may write to the folder, and a link may lead anywhere.
            file = plain(board.fetch(name)) if known(name) else None
        except (ArchiveError, OSError):
            file = None
        if file is None:
            return PlainTextResponse("There is no such message.", 404)
        size = str(os.fstat(file.fileno()).st_size)
        kind = "application/octet-stream"
        return StreamingResponse(_pieces(file), headers={"content-length": size}, media_type=kind)

    async def post(request: Request) -> Response:
        name = request.path_params["name"]
        address = Address.parse(name)
        if address is None or address.site not in session.sites or address.round > session.rounds:
            return PlainTextResponse("No site of this session has such a message.", 404)
        most = largest(session, address)
        with tempfile.NamedTemporaryFile(prefix="nacre-message-") as file:
            async for piece in request.stream():
                if file.tell() + len(piece) > most:
                    return PlainTextResponse(f"More than {most:,} bytes.", 413)
                file.write(piece)
            file.flush()
            try:
                path = Path(file.name)
                async with turn:
                    await run_in_threadpool(read, path, session, address)
                    await run_in_threadpool(board.post, path, name)
            except NacreError as error:
                return PlainTextResponse(str(error).replace(file.name, name), 409)
        return Response(status_code=201)

    return Starlette(
        routes=[
            Route("/", names),
            Route("/{name}", fetch),
            Route("/{name}", post, methods=["PUT"]),
        ]
    )


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """A file bit by bit, closed in the end."""
    with file:
        while piece := file.read(PIECE):
            yield piece


class Collector(threading.Thread):
    """Collects as messages come in; goes on without sites that are late by `patience` seconds."""

    def __init__(self, board: Folder, *, patience: float, on_progress: Any = None):
        super().__init__(daemon=True)
        self.board, self.patience = board, patience
        self.stopped = threading.Event()
        self._report = on_progress or (lambda progress: None)
        self._began: dict[int, float] = {}

    def run(self) -> None:
        """See `Thread`."""
        seen: set[str] = set()
        last = None
        while not self.stopped.wait(PAUSE):
            names, late = self.board.names(), self._late()
            if names == seen and not late:
                continue
            seen = names
            try:
                found = collect(self.board, close=late)
            except Exception as error:  # of any kind: messages are strangers'
                found = Progress((), "trouble", refused=(in_words(error),))
            if found != last:
                self._report(found)
            last = found
            if not found.stage:
                return

    def _late(self) -> bool:
        """Whether the time of the round that is under way is over."""
        addresses = [Address.parse(name) for name in self.board.names()]
        rounds = {a.round for a in addresses if a is not None and a.kind == "masked"}
        if not rounds or f"{max(rounds)}.roll" in self.board.names():
            return False
        began = self._began.setdefault(max(rounds), time.monotonic())
        return time.monotonic() - began > self.patience


def serve(
    board: Folder,
    *,
    host: str,
    port: int,
    certificate: Path,
    key: Path,
    patience: float,
    on_progress: Any = None,
) -> None:
    """Answer by TLS until interrupted."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError):
        raise NacreError("The certificate or its key cannot be read.") from None
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError:
        found.close()
        raise NacreError(
            f"Port {port} of {host} is taken, or may not be used. Choose another with --port."
        ) from None
    config = uvicorn.Config(
        make_app(board),
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        ws="none",
        ssl_certfile=str(certificate),
        ssl_keyfile=str(key),
        limit_concurrency=AT_ONCE,
        timeout_graceful_shutdown=3,
    )
    collector = Collector(board, patience=patience, on_progress=on_progress)
    collector.start()
    try:
        uvicorn.Server(config).run([found])
    finally:
        collector.stopped.set()
