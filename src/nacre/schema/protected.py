"""Sets of columns whose joint distribution is to be hidden, each with the level of its test."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, Self, final

from nacre.errors import NacreError

JOIN, LEVEL = "+", "@"
MARKS = (JOIN, LEVEL, ",")
USUAL = 0.05
"""The level of a set that names none."""


@final
@dataclasses.dataclass(frozen=True)
class Protected:
    """One set of columns, and the level of the test that is to tell its marginal from the data's.

    As text, which is how settings keep it, names are joined by '+', and '@' leads the level.

    Examples:
        >>> Protected.read("V1+V2@0.01", 0.05)
        Protected(columns=('V1', 'V2'), alpha=0.01)
        >>> str(Protected(("age",), 0.05))
        'age@0.05'
    """

    columns: tuple[str, ...]
    alpha: float

    def __post_init__(self) -> None:
        for name in self.columns:
            if not isinstance(name, str) or not name or any(mark in name for mark in MARKS):
                raise NacreError(
                    f"Cannot protect a column called {name!r}: {' '.join(MARKS)} have a meaning "
                    "in `protect`. Rename the column."
                )
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise NacreError(
                "A protected set names at least one column, and each once; got "
                f"{', '.join(self.columns) or 'none'}."
            )
        real = isinstance(self.alpha, numbers.Real) and not isinstance(self.alpha, bool)
        if not real or not 1e-6 <= self.alpha <= 0.5:
            raise NacreError(f"alpha must be a number from 1e-6 to 0.5, got {self.alpha!r}.")

    def __str__(self) -> str:
        return f"{JOIN.join(self.columns)}{LEVEL}{self.alpha:.10g}"

    @classmethod
    def read(cls, text: str, alpha: float) -> Self:
        """A set from its text; `alpha` if it names no level."""
        names, mark, level = text.partition(LEVEL)
        if mark:
            try:
                alpha = float(level)
            except ValueError:
                raise NacreError(
                    f"'{text}': after {LEVEL} comes the level of the test, such as 0.05."
                ) from None
        return cls(tuple(name.strip() for name in names.split(JOIN)), alpha)


def as_sets(given: Any, alpha: float) -> tuple[Protected, ...]:
    """Sets from any form that people write: text, lists of names, levels by set.

    Examples:
        >>> [str(one) for one in as_sets([("V1", "V2"), "age"], 0.05)]
        ['V1+V2@0.05', 'age@0.05']
        >>> [str(one) for one in as_sets({("V1", "V2"): 0.01}, 0.05)]
        ['V1+V2@0.01']
    """
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Mapping):
        return tuple(_one(columns, level) for columns, level in given.items())
    if not isinstance(given, Sequence):
        raise NacreError(
            "protect must be a list of sets of columns, such as [('V1', 'V2')] or 'V1+V2@0.05'; "
            f"got {given!r}."
        )
    return tuple(_one(columns, alpha) for columns in given)


def _one(columns: Any, alpha: float) -> Protected:
    if isinstance(columns, Protected):
        return columns
    if isinstance(columns, str):
        return Protected.read(columns, alpha)
    if not isinstance(columns, Sequence):
        raise NacreError(f"A protected set is a list of names of columns; got {columns!r}.")
    return Protected(tuple(columns), alpha)


def require_known(sets: Sequence[Protected], known: Sequence[str]) -> None:
    """Refuse sets that name what is no column."""
    named = {name for one in sets for name in one.columns}
    if unknown := sorted(named - set(known)):
        raise NacreError(
            f"protect names columns that the schema does not have: {', '.join(unknown)}. Its "
            f"columns are: {', '.join(known)}."
        )
