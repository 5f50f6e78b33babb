"""What every request passes first: the right host, a browser that is in, and no other site's form.

- DNS rebinding: `Host` must be one of the server's own names, so that a page of another name that
  was made to lead here is refused.
- Cross-site requests: what changes something needs the server's own `Origin` and
  `Sec-Fetch-Site: same-origin`, beside the form's token (`nacre.app.forms`); other sites' pages,
  frames and scripts get nothing, as cookies are `SameSite=Strict`.
- What comes back may run no script but ours, load nothing from elsewhere, and be framed by nobody.
"""

from __future__ import annotations

import logging
import os
from typing import final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nacre.app.pages import refusal
from nacre.app.sessions import Session, Sessions
from nacre.app.settings import Settings
from nacre.errors import NacreError, in_words

log = logging.getLogger("nacre.app")
SAFE = ("GET", "HEAD")
OPEN = ("/enter", "/login")  # pages for browsers that are not in yet
STATIC = "/static/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Reports are pages of their own, with their style inside; they run nothing at all.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-popups; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    # Not `no-referrer`, under which browsers send the origin `null` with forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
    "x-robots-tag": "noindex",
}
HOST = (
    "This page answers only under the address that it was opened with. Copy that address from the "
    "terminal."
)
SITE = "Another site sent this, or the browser does not say who did. Load the page again."
OUTSIDE = (
    "This browser has not been let in. Open the address that `nacre serve` printed in the terminal."
)


@final
class Guard:
    """Refuses, or calls `app` with the browser's session in `scope["state"]`."""

    def __init__(self, app: ASGIApp, *, settings: Settings, sessions: Sessions):
        self.app = app
        self.settings = settings
        self.sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                found = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    found.setdefault(name, value)
            await send(message)

        if (why := self._foreign(scope, headers)) is not None:
            await refusal(why, 403)(scope, receive, guarded)
            return
        cookie = read_cookie(headers, cookie_name(self.settings))
        session = None if cookie is None else self._known(cookie)
        scope.setdefault("state", {})["session"] = session
        path = scope["path"]
        if session is None and path not in OPEN and not path.startswith(STATIC):
            await self._outside(scope, receive, guarded)
            return
        try:
            await self.app(scope, receive, guarded)
        except Exception as error:
            # Never the server's log: messages and tracebacks may quote a private value.
            if os.environ.get("NACRE_TRACEBACK"):
                raise
            log.error(in_words(error))
            if not started:
                await refusal(in_words(error), 500, back="/")(scope, receive, guarded)

    def _foreign(self, scope: Scope, headers: Headers) -> str | None:
        """Why a request is not from this server's own pages."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.settings.hosts:
            return HOST
        site = headers.get("sec-fetch-site")
        if scope["method"] in SAFE:
            # Other sites may link here; they may not embed, frame or fetch anything.
            embeds = headers.get("sec-fetch-mode", "navigate") != "navigate" or (
                headers.get("sec-fetch-dest", "document") != "document"
            )
            return SITE if site in ("cross-site", "same-site") and embeds else None
        origin = headers.get("origin", "")
        here = origin in self.settings.origins and urlsplit(origin).netloc == hosts[0].lower()
        return None if here and site == "same-origin" else SITE

    def _known(self, cookie: str) -> Session | None:
        """Whose cookie it is; nobody's once the person was removed or has another password."""
        found, users = self.sessions.find(cookie), self.settings.users
        if found is None or users is None:
            return found
        try:
            same = users.mark(found.user) == found.mark
        except (NacreError, OSError):  # the file cannot be read: whoever logs in is told
            return None
        if not same:
            self.sessions.end(cookie)
        return found if same else None

    async def _outside(self, scope: Scope, receive: Receive, send: Send) -> None:
        response: Response = refusal(OUTSIDE, 401)
        if self.settings.users is not None and scope["method"] in SAFE:
            response = RedirectResponse("/login", 303)
        await response(scope, receive, send)


def cookie_name(settings: Settings) -> str:
    """Ports do not keep cookies apart, names do; `__Host-` ties it to this host by TLS."""
    port = urlsplit(settings.origins[0]).port or 443
    return f"__Host-nacre-{port}" if settings.secure else f"nacre-{port}"


def read_cookie(headers: Headers, name: str) -> str | None:
    """The value of a cookie, if the browser sent one.

    Browsers send the cookies of all servers on this machine, whatever their port, and some of them
    are odd; two of one name are none, as only one can be ours.
    """
    pairs = (each.partition("=") for line in headers.getlist("cookie") for each in line.split(";"))
    found = [value.strip() for key, _, value in pairs if key.strip() == name]
    return found[0] if len(found) == 1 else None
