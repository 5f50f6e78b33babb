"""Settings as text: what each means, from the method's docstring, and values typed by a person."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

from nacre.errors import NacreError

LINE = re.compile(r"^(\w+)  +(\S.*)$")
KINDS = {bool: "true or false", int: "a whole number", float: "a number"}


def meanings(method: type[Any]) -> dict[str, str]:
    """What each setting of a method means: the lines `name  meaning` of its docstring.

    >>> from nacre.methods import MERF
    >>> meanings(MERF)["steps"]
    'how many steps of Adam fit the mixture'
    """
    names = {field.name for field in dataclasses.fields(method)}
    found: dict[str, str] = {}
    name = ""
    for line in inspect.getdoc(method).splitlines():  # type: ignore[union-attr]
        start = LINE.match(line)
        if start and start[1] in names:
            name = start[1]
            found[name] = start[2]
        elif name and line.startswith("  "):
            found[name] += f" {line.strip()}"
        else:
            name = ""
    return found


def parse(name: str, text: str, default: Any) -> Any:
    """A setting's value from text, of the same type as its default."""
    kind = type(default)
    try:
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        return kind(text)
    except (ValueError, KeyError):
        raise NacreError(
            f"{name}={text}: '{text}' is not {KINDS.get(kind, 'text')}. The default is {default}."
        ) from None
