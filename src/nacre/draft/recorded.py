"""Releases as a schema keeps them, so that every fit with it composes what it was bought with."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from nacre.vault import Release


def recorded(releases: Iterable[Release]) -> tuple[dict[str, Any], ...]:
    """Each release in the plain form of a schema's YAML: what is at its default is left out."""
    return tuple(map(_plain, releases))


def _plain(release: Release) -> dict[str, Any]:
    defaults = {field.name: field.default for field in dataclasses.fields(release)}
    said = {**release.to_dict(), "adjacency": release.adjacency.value}
    return {name: value for name, value in said.items() if value != defaults[name]}
