"""How a browser is let in: by the opening address, or by name and password."""

from __future__ import annotations

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nacre.app.forms import posted, read
from nacre.app.guard import cookie_name, read_cookie
from nacre.app.pages import page, refusal
from nacre.app.sessions import same
from nacre.app.site import Site, site_of

ONE = anyio.CapacityLimiter(1)  # a hash takes 128 MB: one at a time
MOST_WAITING = 20
WRONG = "Name and password do not fit."
BUSY = "Too many people log in at this moment. Try again in a few seconds."
WAIT = "Too many wrong passwords for this name. Wait for a minute."
OLD = (
    "This is not the address that `nacre serve` printed, or it is that of an earlier start. Copy "
    "the address from the terminal."
)


async def enter(request: Request) -> Response:
    """The opening address: its token becomes a cookie."""
    site = site_of(request)
    wanted = site.settings.token
    if wanted is None or not same(request.query_params.get("token", ""), wanted):
        return refusal(OLD, 401)
    # A page that goes on by itself, and no redirect: a browser that came here from another site
    # would not send a strict cookie along with one.
    return _let_in(site, page(request, "entered.html"), "")


def _let_in(site: Site, response: Response, user: str, mark: bytes = b"") -> Response:
    response.set_cookie(
        cookie_name(site.settings),
        site.sessions.begin(user, mark),
        path="/",
        httponly=True,
        samesite="strict",
        secure=site.settings.secure,
    )
    return response


async def login(request: Request) -> Response:
    """The page that asks for name and password, and its answer."""
    site = site_of(request)
    users = site.settings.users
    if users is None:
        return RedirectResponse("/", 303)
    problem = ""
    if request.method == "POST":
        form = await read(request)
        if not same(form.get("form_token"), site.sessions.login_token):
            return refusal("This form is of an earlier visit. Load the page again.", 403)
        name, (password, *_) = form.get("name"), (*form.all("password"), "")
        if users.waits(name):
            problem = WAIT
        elif ONE.statistics().tasks_waiting >= MOST_WAITING:
            problem = BUSY
        elif await anyio.to_thread.run_sync(users.right, name, password, limiter=ONE):
            return _let_in(site, RedirectResponse("/", 303), name, users.mark(name) or b"")
        else:
            problem = WRONG
    status = 401 if problem else 200
    token = site.sessions.login_token
    return page(request, "login.html", status=status, problem=problem, login_token=token)


@posted
async def leave(request: Request, form: object) -> Response:
    """Forget the browser."""
    site = site_of(request)
    name = cookie_name(site.settings)
    site.sessions.end(read_cookie(request.headers, name) or "")
    response = refusal("This browser has been let out. Close the tab.", 200)
    response.delete_cookie(
        name, path="/", httponly=True, samesite="strict", secure=site.settings.secure
    )
    return response
