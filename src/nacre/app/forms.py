"""Forms that browsers post: bounded, and taken only with the token of the browser's session."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from nacre.app.sessions import same
from nacre.app.uploads import Refused

LARGEST = 4 << 20  # bytes: lists of values of wide tables are long
MOST_FIELDS = 20_000
STALE = "This form is of an earlier visit. Load the page again; nothing was changed."


@final
class Form:
    """The fields of a form, in order."""

    def __init__(self, fields: list[tuple[str, str]]):
        self.fields = fields

    def get(self, name: str, otherwise: str = "") -> str:
        """A field's last value, without spaces around it."""
        found = [value for key, value in self.fields if key == name]
        return found[-1].strip() if found else otherwise

    def all(self, name: str) -> list[str]:
        """A field's values."""
        return [value for key, value in self.fields if key == name]

    def places(self, name: str) -> set[int]:
        """A field's values that are whole numbers: places in a list."""
        return {int(value) for value in self.all(name) if value.isdecimal() and len(value) < 7}


Handler = Callable[[Request, Form], Awaitable[Response]]


def posted(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """The handler behind a form: called only if the form carries the session's token."""

    @functools.wraps(handler)
    async def checked(request: Request) -> Response:
        form = await read(request)
        require_token(request, form.get("form_token") or request.headers.get("x-form-token", ""))
        return await handler(request, form)

    return checked


def require_token(request: Request, said: str) -> None:
    """Refuse a form that was not made for this browser's session."""
    session = request.state.session
    if session is None or not same(said, session.form_token):
        raise Refused(STALE, 403)


async def read(request: Request) -> Form:
    """The form, as long as it is not too large."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/x-www-form-urlencoded", ""):
        raise Refused("The browser sent a form that cannot be read.", 415)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST:
            raise Refused("The form is too long to be taken.", 413)
    try:
        text = body.decode("utf-8")
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise Refused("The browser sent a form that cannot be read.", 400) from None
    return Form(pairs)
