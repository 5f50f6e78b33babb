"""Columns of some rows side by side, as facts are looked for in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.schema.columns.category import Boolean, Categorical, Ordinal
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import Integer
from nacre.schema.columns.scale import Scale
from nacre.schema.columns.timed import DAY
from nacre.schema.facts.amounts import adds_up, amounts, half_step, line, listed_numbers
from nacre.schema.facts.times import is_date

MOST_TICKS = 1_000  # of a whole number that a table may tell, or that tells one
NEAR_MOST_DATES = 946_684_800 * 10**6 // DAY  # 2000-01-01 in days; less is lost of small numbers
ROWS = 2_000  # in which numbers are compared; what they agree on is then held against every row
Places: TypeAlias = NDArray[np.int64]
Matrix: TypeAlias = NDArray[np.float64]


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Seen:
    """A column of some rows.

    Attributes:
        places: ticks or codes; of a list or a short range the last one where a value is missing.
        missing: where it is.
        size: of a list of values or a short range, missing included; 0 for all others.
    """

    places: Places
    missing: NDArray[np.bool_]
    size: int

    @classmethod
    def of(cls, column: Column, cells: pa.Array) -> Seen:
        """The cells of a column; what cannot be read is missing."""
        reading = column.read(cells)
        gone = reading.missing.copy()
        for where in reading.refused.values():
            gone |= where
        return cls.at(column, reading.values, gone)

    @classmethod
    def at(cls, column: Column, places: NDArray[np.integer], gone: NDArray[np.bool_]) -> Seen:
        """Ticks or codes of a column, and where there is none."""
        size = size_of(column)
        return cls(np.where(gone, max(size - 1, 0), places).astype(np.int64), gone, size)

    def where(self, there: NDArray[np.bool_]) -> Seen:
        """Some of the rows."""
        return dataclasses.replace(self, places=self.places[there], missing=self.missing[there])


def size_of(column: Column) -> int:
    """How many places a list or a short range of whole numbers has, missing included; else 0."""
    if isinstance(column, Categorical | Ordinal | Boolean):
        return column.size + (not column.nullable)
    if isinstance(column, Integer) and column.ticks <= MOST_TICKS:
        return column.ticks + 2
    return 0


def name_of(column: Column, place: int) -> str:
    """The value at a place of a list or a short range."""
    names = Scale(column).names
    return names[place] if names else str(Scale(column).values(np.array([place]))[0])


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers and dates that vary, dates in days; not a number where one is missing.

    Attributes:
        names: the columns; those of the schema that have a last decimal, lists of numbers too.
        columns: their types.
        values: a row for each of the rows, a column for each name.
        halves: half a step of each.
    """

    names: tuple[str, ...]
    columns: Mapping[str, Column]
    values: Matrix
    halves: Matrix

    @classmethod
    def of(cls, columns: Mapping[str, Column], seen: Mapping[str, Seen]) -> Numbers:
        """Those of some rows."""
        found: dict[str, Matrix] = {}
        for name, column in columns.items():
            numbers = adds_up(column) or listed_numbers(column) is not None
            if not numbers or line(column) is None:
                continue
            each = seen[name]
            every = slice(None, None, max(1, len(each.places) // ROWS))
            gone = each.missing[every]
            places = Scale(column).values(np.where(gone, 0, each.places[every]))
            values = amounts(column, places) - (
                NEAR_MOST_DATES if isinstance(column, Datetime) else 0
            )
            found[name] = np.where(gone, np.nan, values)
        several = tuple(name for name, each in found.items() if _varies(each))
        values = (
            np.stack([found[name] for name in several], axis=1) if several else np.empty((0, 0))
        )
        halves = np.array([float(half_step(columns[name])) for name in several])
        return cls(several, columns, values, halves)

    def computable(self, place: int) -> bool:
        """Whether a formula may compute the column: lists are only added up."""
        return adds_up(self.columns[self.names[place]])

    def without(self, names: set[str]) -> Numbers:
        """The others."""
        kept = [place for place, name in enumerate(self.names) if name not in names]
        return Numbers(
            tuple(self.names[place] for place in kept),
            self.columns,
            self.values[:, kept],
            self.halves[kept],
        )

    @property
    def complete(self) -> Numbers:
        """Those that most rows have, of three values or more, in rows in which none is missing."""
        often = np.isfinite(self.values).mean(axis=0) > 0.5 if len(self.values) else []
        most = self.without(
            {name for name, there in zip(self.names, often, strict=True) if not there}
        )
        values = most.values[np.isfinite(most.values).all(axis=1)]
        few = {n for i, n in enumerate(most.names) if len(np.unique(values[:, i])) < 3}
        return dataclasses.replace(most, values=values).without(few)

    @property
    def dates(self) -> set[str]:
        """Those that are points in time, or times of day."""
        return {name for name in self.names if is_date(self.columns[name])}


def _varies(values: Matrix) -> bool:
    there = values[~np.isnan(values)]
    return len(there) > 0 and bool((there != there[0]).any())
