"""The methods, one file each; a new one is one line here."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from nacre.errors import NacreError
from nacre.methods.marginals import Marginals
from nacre.methods.merf import MERF
from nacre.methods.method import Method, Question
from nacre.methods.mosaic import Mosaic
from nacre.methods.pearl import PEARL
from nacre.methods.settings import meanings, parse
from nacre.schema import Schema
from nacre.schema.suggest import suggest

METHODS: dict[str, type[Any]] = {
    "mosaic": Mosaic,
    "pearl": PEARL,
    "merf": MERF,
    "marginals": Marginals,
}
SHORTHANDS: dict[str, tuple[str, dict[str, Any]]] = {
    "aim": ("marginals", {"algorithm": "aim"}),
    "mst": ("marginals", {"algorithm": "mst"}),
}
"""Other names for a method with some settings."""

__all__ = [
    "MERF",
    "METHODS",
    "PEARL",
    "SHORTHANDS",
    "Marginals",
    "Method",
    "Mosaic",
    "Question",
    "choose",
    "meanings",
    "with_settings",
]


def choose(method: str | Method, schema: Schema, epsilon: float) -> tuple[Method, str]:
    """The method to use and why, from public facts only."""
    if isinstance(method, type):
        raise NacreError(f"{method.__name__} is a class: give {method.__name__}(), with settings.")
    if not isinstance(method, str):
        if not hasattr(method, "questions"):
            raise NacreError(
                "method must be a name such as 'mosaic' or a method such as nacre.Mosaic(), got "
                f"{method!r}."
            )
        return method, "Chosen by you."
    if method == "auto":
        return Mosaic(), "Chosen automatically: Mosaic has scored best on tables."
    name, settings = SHORTHANDS.get(method.lower(), (method.lower(), {}))
    if name not in METHODS:
        known = ["auto", *METHODS, *SHORTHANDS]
        raise NacreError(
            f"There is no method '{method}'. Choose one of: {', '.join(known)}."
            f"{suggest(method, known)}"
        )
    return METHODS[name](**settings), "Chosen by you."


def with_settings(method: str, settings: Mapping[str, str], schema: Schema) -> Method:
    """A method with settings given as text (`--set frequencies=2000`), checked by name and type."""
    base, _ = choose(method, schema, 1.0)
    fields = {f.name: f for f in dataclasses.fields(base)}  # type: ignore[arg-type]
    parsed: dict[str, Any] = {}
    for name, text in settings.items():
        if name not in fields:
            raise NacreError(
                f"{base.title} has no setting '{name}'. It has: {', '.join(sorted(fields))}."
                f"{suggest(name, fields)}"
            )
        parsed[name] = parse(name, text, getattr(base, name))
    return dataclasses.replace(base, **parsed)  # type: ignore[type-var]
