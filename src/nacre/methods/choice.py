"""A method by its name, with settings as text."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any

from nacre.errors import NacreError
from nacre.methods.method import AbstractMethod
from nacre.methods.settings import in_words, parse
from nacre.registry import AUTOMATIC, HIDING, METHODS, load_class
from nacre.schema.suggest import suggest


def find(name: str) -> type[AbstractMethod]:
    """The class of a method, imported when it is asked for."""
    key = name.lower()
    if key not in METHODS:
        known = ["auto", *METHODS]
        raise NacreError(
            f"There is no method '{name}'. Choose one of: {', '.join(known)}.{suggest(key, known)}"
        )
    found: type[AbstractMethod] = load_class(METHODS, key)
    return found


def choose(
    method: str | AbstractMethod, data: str = "table", protect: tuple[str, ...] = ()
) -> tuple[AbstractMethod, str]:
    """The method to use for a kind of data and why, from public facts only.

    `protect` are the sets of columns that the schema asks to hide.
    """
    if isinstance(method, type):
        raise NacreError(f"{method.__name__} is a class: give {method.__name__}(), with settings.")
    if method == "auto":
        if data not in AUTOMATIC:
            raise NacreError(f"There is no method for data of the kind '{data}' yet; name one.")
        name, reason = HIDING if protect else AUTOMATIC[data]
        return find(name)().hiding(protect), f"Chosen automatically: {reason}."
    chosen = find(method)() if isinstance(method, str) else method
    if not isinstance(chosen, AbstractMethod):
        raise NacreError(
            "method must be a name such as 'mosaic' or a method such as nacre.Mosaic(), got "
            f"{method!r}."
        )
    if data not in chosen.data:
        raise NacreError(
            f"{chosen.title} learns from {' and '.join(sorted(chosen.data))} data, not from "
            f"{data} data. Choose another method; 'nacre methods' lists them."
        )
    return chosen.hiding(protect), "Chosen by you."


def meanings(method: type[AbstractMethod]) -> dict[str, str]:
    """What each setting of a method means.

    Examples:
        >>> meanings(find("merf"))["components"]
        'how many products the mixture has'
    """
    return {field.name: field.metadata.get("meaning", "") for field in dataclasses.fields(method)}


def with_settings(method: str, settings: Mapping[str, str], data: str = "table") -> AbstractMethod:
    """A method with settings given as text (`--set frequencies=2000`), checked by name and type."""
    base, _ = choose(method, data)
    kinds = typing.get_type_hints(type(base))
    names = [field.name for field in dataclasses.fields(base)]
    parsed: dict[str, Any] = {}
    for name, text in settings.items():
        if name not in names:
            raise NacreError(
                f"{base.title} has no setting '{name}'. It has: {', '.join(sorted(names))}."
                f"{suggest(name, names)}"
            )
        try:
            parsed[name] = parse(text, kinds[name])
        except ValueError:
            raise NacreError(
                f"{name}={text}: '{text}' is not {in_words(kinds[name])}. "
                f"The default is {getattr(base, name)}."
            ) from None
    return dataclasses.replace(base, **parsed)
