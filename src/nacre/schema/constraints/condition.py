"""Clauses bound to a schema's columns: what each says about every row of a batch at once.

A clause about a missing value is neither true nor false, as in SQL, unless it speaks of missing
values itself.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from nacre.schema.columns.column import Column
from nacre.schema.columns.scale import Scale
from nacre.schema.columns.span import Spans, contains
from nacre.schema.layout import Encoded

Mask: TypeAlias = NDArray[np.bool_]
Part: TypeAlias = tuple[NDArray[np.integer], Mask]
SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@final
class ColumnValues:
    """Rows as the clauses see them: numbers that compare, and which values are missing."""

    def __init__(self, columns: Mapping[str, Column], rows: int, part: Callable[[str], Part]):
        self.rows = rows
        self._columns = columns
        self._part = part
        self._known: dict[str, tuple[NDArray[Any], Mask]] = {}

    @classmethod
    def of(cls, columns: Mapping[str, Column], encoded: Encoded) -> ColumnValues:
        """The view of encoded rows."""
        layout = encoded.layout
        never = np.zeros(len(encoded), bool)

        def part(name: str) -> Part:
            column = columns[name]
            if column.size is not None:
                codes = encoded.codes[:, layout.code(name)]
                return codes, codes == column.size - 1 if column.nullable else never
            ticks = encoded.ticks[:, layout.number(name)]
            if not column.nullable:
                return ticks, never
            return ticks, encoded.codes[:, layout.code(name, "missing")] == 1

        return cls(columns, len(encoded), part)

    def __getitem__(self, name: str) -> tuple[NDArray[Any], Mask]:
        if name not in self._known:
            places, missing = self._part(name)
            self._known[name] = Scale(self._columns[name]).values(places), missing
        return self._known[name]


@final
@dataclasses.dataclass(frozen=True)
class Among:
    """Whether a column's value lies in some spans; `gap` is what is said of a missing one."""

    name: str
    spans: Spans
    gap: bool | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it speaks of."""
        return (self.name,)

    def truth(self, view: ColumnValues) -> tuple[Mask, Mask]:
        """Where it is true, and where it is false."""
        values, missing = view[self.name]
        inside = contains(self.spans, values)
        true, false = inside & ~missing, ~inside & ~missing
        if self.gap is not None:
            (true if self.gap else false)[missing] = True
        return true, false


@final
@dataclasses.dataclass(frozen=True)
class Order:
    """Two columns compared; `places` renumbers codes where the lists of values differ."""

    left: str
    sign: str
    right: str
    places: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it speaks of."""
        return (self.left, self.right)

    def truth(self, view: ColumnValues) -> tuple[Mask, Mask]:
        """Where it is true, and where it is false."""
        (left, no_left), (right, no_right) = view[self.left], view[self.right]
        if self.places is not None:
            # A missing value has the code after the last, for which any place will do.
            left, right = (
                np.array([*places, -1])[codes]
                for places, codes in zip(self.places, (left, right), strict=True)
            )
        there = ~(no_left | no_right)
        found = SIGNS[self.sign](left, right)
        return found & there, ~found & there


Condition: TypeAlias = Among | Order
