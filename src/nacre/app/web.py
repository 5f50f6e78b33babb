"""The application: which address leads to which page, and what an error looks like."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from concurrent.futures import Executor

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from nacre.app.folder import DiskFull
from nacre.app.guard import Guard
from nacre.app.pages import STATIC, refusal, stamp
from nacre.app.pages import static as static_file
from nacre.app.settings import Settings
from nacre.app.site import Site
from nacre.app.uploads import Refused
from nacre.app.views import enter, ledger, plan, run, schema, start
from nacre.errors import NacreError, in_words

YEAR = 365 * 24 * 3600


async def static(request: Request) -> Response:
    """A style sheet or script; browsers keep it under its stamp."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    fresh = request.query_params.get("v") == stamp()
    kept = {"cache-control": f"private, max-age={YEAR if fresh else 0}"}
    return Response(static_file(name), media_type=STATIC[name], headers=kept)


POST = ["POST"]
PROJECT = "/p/{project}"
COLUMN = PROJECT + "/columns/{place:int}"
RUN = PROJECT + "/r/{run:int}"
ROUTES = [
    Route("/static/{name}", static),
    Route("/enter", enter.enter),
    Route("/login", enter.login, methods=["GET", "POST"]),
    Route("/leave", enter.leave, methods=POST),
    Route("/", start.start),
    Route("/open", start.open_table, methods=POST),
    Route("/upload", start.upload, methods=POST),
    Route("/demo", start.demo, methods=POST),
    Route("/ledger", ledger.ledger),
    Route(PROJECT, start.here),
    Route(PROJECT + "/remove", start.remove, methods=POST),
    Route(PROJECT + "/schema", schema.schema),
    Route(PROJECT + "/schema.yaml", schema.download),
    Route(PROJECT + "/ticks", schema.tick_plain, methods=POST),
    Route(PROJECT + "/keep", schema.keep, methods=POST),
    Route(PROJECT + "/gather", schema.gather, methods=POST),
    Route(PROJECT + "/bring", schema.bring, methods=POST),
    Route(PROJECT + "/reviewed", schema.reviewed, methods=POST),
    Route(COLUMN, schema.column),
    Route(COLUMN + "/save", schema.save_column, methods=POST),
    Route(COLUMN + "/public", schema.tick, methods=POST),
    Route(PROJECT + "/plan", plan.plan),
    Route(PROJECT + "/outline", plan.outline, methods=POST),
    Route(PROJECT + "/fit", plan.fit, methods=POST),
    Route(RUN, run.run),
    Route(RUN + "/progress", run.progress),
    Route(RUN + "/cards", run.cards),
    Route(RUN + "/stop", run.stop, methods=POST),
    Route(RUN + "/files/{name}", run.file),
    Route(RUN + "/sample", run.sample, methods=POST),
]


def make_app(settings: Settings, executor: Executor | None = None) -> ASGIApp:
    """The server's application, behind its guard; `executor` works in place of own processes."""
    site = Site(settings, executor)

    @contextlib.asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        # The first process takes seconds to start: better before somebody waits for it.
        warm = asyncio.ensure_future(site.methods()) if executor is None else None
        yield
        if warm is not None:
            warm.cancel()
        site.work.end()

    app = Starlette(
        routes=ROUTES,
        lifespan=life,
        exception_handlers={HTTPException: _not_there, NacreError: _said, Exception: _failed},
    )
    app.state.site = site
    return Guard(app, settings=settings, sessions=site.sessions)


async def _not_there(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return refusal("There is no such page. Perhaps the project was removed.", status, back="/")


async def _said(request: Request, error: Exception) -> Response:
    """What nacre itself refuses, in its own words, which hold no private value."""
    status = error.status if isinstance(error, Refused) else 422
    if isinstance(error, DiskFull):
        status = 507
    return refusal(str(error), status, back="/")


async def _failed(request: Request, error: Exception) -> Response:
    """What went wrong without being said; only where, as messages may quote a private value."""
    return refusal(in_words(error), 500, back="/")
