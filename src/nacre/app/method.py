"""The methods that the page offers: private ones for tables, and what each is good for."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from nacre.methods import AbstractMethod, find, with_settings
from nacre.registry import METHODS

if TYPE_CHECKING:
    from nacre.app.planning import Choices


def method_of(choices: Choices) -> str | AbstractMethod:
    """The method with its settings; its name alone if there are none, so that a plan says why."""
    if not choices.settings:
        return choices.method
    given = dict(text.split("=", 1) for text in choices.settings)
    return with_settings(choices.method, given, "table")


def offered() -> list[dict[str, Any]]:
    """Name, title and use of each method that keeps tables private, without what is missing."""
    found = []
    for name in METHODS:
        if name in ("aim", "mst") and find_spec("mbi") is None:
            continue
        kind = find(name)
        if kind.private and "table" in kind.data:
            found.append({"name": name, "title": kind.title, "when": kind.when})
    return found
