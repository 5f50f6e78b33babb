"""Pages from templates, which share parts and style with the reports."""

from __future__ import annotations

import functools
import hashlib
from importlib import resources
from typing import Any

import jinja2
import markupsafe
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from nacre.report.builder import environment
from nacre.report.builder.text import printable
from nacre.version import __version__

STATIC = {
    "app.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
}


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page for a browser, or a part of one; forms in it carry the session's token."""
    session = getattr(request.state, "session", None)
    filled = _environment().get_template(template)
    text = filled.render(
        form_token="" if session is None else session.form_token,
        user="" if session is None else session.user,
        version=__version__,
        stamp=stamp(),
        **values,
    )
    return HTMLResponse(text, status)


def refusal(message: str, status: int, *, back: str | None = None) -> HTMLResponse:
    """A page that says what was wrong and what to do, outside of any session."""
    text = (
        _environment()
        .get_template("refusal.html")
        .render(message=message, back=back, stamp=stamp(), status=status)
    )
    return HTMLResponse(text, status)


def go(request: Request, address: str) -> Response:
    """Send the browser to another page, also where a script asked."""
    if request.headers.get("hx-request"):
        return Response(status_code=204, headers={"HX-Redirect": address})
    return RedirectResponse(address, 303)


@functools.cache
def static(name: str) -> bytes:
    """A style sheet or script, all of them ours or vendored; KeyError if there is none."""
    STATIC[name]
    own = resources.files("nacre.app").joinpath("static")
    if name == "style.css":
        shared = resources.files("nacre.report").joinpath("templates")
        sheets = [shared / "style.css", shared / "public.css", own / "app.css"]
        return b"\n".join(sheet.read_bytes() for sheet in sheets)
    return own.joinpath(name).read_bytes()


@functools.cache
def stamp() -> str:
    """Changes with the style sheets and scripts, so that browsers may keep them."""
    return hashlib.sha256(b"".join(static(name) for name in STATIC)).hexdigest()[:12]


@functools.cache
def _environment() -> jinja2.Environment:
    found = environment("nacre.app", "nacre.report")
    found.filters |= {"size": size, "lines": lines}
    return found


def lines(text: str) -> markupsafe.Markup:
    """Text of several lines, escaped, with their ends, which other text is cleaned of."""
    every = (markupsafe.escape(printable(line)) for line in text.splitlines())
    return markupsafe.Markup("\n").join(every)


def size(count: int) -> str:
    """Bytes as people write them.

    Examples:
        >>> size(532), size(20480), size(3_500_000)
        ('532 B', '20 kB', '3.5 MB')
    """
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    if count < 1_000_000_000:
        return f"{count / 1e6:.1f} MB"
    return f"{count / 1e9:.1f} GB"
