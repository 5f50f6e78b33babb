"""Settings: what each means, values typed by a person, and the ranges that a fit can serve."""

from __future__ import annotations

import dataclasses
import inspect
import numbers
import re
from collections.abc import Sequence
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


def settle(method: Any, *, or_zero: Sequence[str] = (), **ranges: tuple[float, float]) -> None:
    """Check each setting against its range, both ends included, when a method is made.

    A method whose settings were accepted must not stop for them later, when budget has been
    charged.  Whether a setting is whole follows from its default; NumPy's numbers become Python's.
    Those named in `or_zero` may be zero, too, which means 'none of it'.
    """
    defaults: dict[str, Any] = {f.name: f.default for f in dataclasses.fields(method)}
    for name, (low, high) in ranges.items():
        value, kind = getattr(method, name), type(defaults[name])
        wanted = numbers.Integral if kind is int else numbers.Real
        number = isinstance(value, wanted) and not isinstance(value, bool)
        if not number or not (low <= value <= high or (name in or_zero and value == 0)):
            zero = " (or 0)" if name in or_zero else ""
            raise NacreError(
                f"{name} must be {KINDS[kind]} from {low:,.10g} to {high:,.10g}{zero}, got "
                f"{value!r}. The default is {defaults[name]}."
            )
        object.__setattr__(method, name, kind(value))
