"""Facts bound to a schema's columns: which rows keep them, and what they make of other columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.schema.columns.column import Column
from nacre.schema.columns.grid import Grid
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.condition import ColumnValues, Condition, Mask
from nacre.schema.facts.amounts import amounts, line, units_of

Places: TypeAlias = NDArray[np.int64]
SLACK = 1e-9  # of a step, or of all values of a column whose values are no steps
ROUNDED = 64  # units of the last place, which a sum of products may be off by


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Computed:
    """A column that follows from others.

    Attributes:
        places: ticks or codes.
        missing: where there is no value.
        possible: where the column can hold the value; elsewhere `places` stand for nothing.
    """

    places: Places
    missing: Mask
    possible: Mask


@final
@dataclasses.dataclass(frozen=True, eq=False)
class LookUp:
    """`column` by the span of `by` that a row lies in; spans are sorted and cover every value.

    Attributes:
        starts: where each span begins, on the scale of `by`.
        places: the tick or code that belongs to it, -1 for missing.
        unknown: likewise where `by` is missing.
    """

    text: str
    column: str
    by: str
    starts: NDArray[np.generic]
    places: Places
    unknown: int
    scale: Scale

    @property
    def sources(self) -> frozenset[str]:
        """The columns that it follows from."""
        return frozenset((self.by,))

    def compute(self, view: ColumnValues, rng: np.random.Generator) -> Computed:
        """What the table says of each row."""
        values, gaps = view[self.by]
        span = np.maximum(np.searchsorted(self.starts, values, side="right") - 1, 0)
        places = np.where(gaps, self.unknown, self.places[span])
        return Computed(np.maximum(places, 0), places < 0, np.ones(view.rows, bool))

    def holds(self, view: ColumnValues) -> Mask:
        """Which rows agree with the table."""
        values, gaps = view[self.column]
        meant = self.compute(view, np.random.default_rng(0))
        same = self.scale.values(meant.places) == values
        return np.where(gaps | meant.missing, gaps == meant.missing, same)


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Belonging:
    """`column` is a code of its row's group, where it is known; it may be missing anywhere.

    Neither follows from the other, and both are modeled.  A code of another group is drawn again.

    Attributes:
        places: the place of each code's group, -1 for missing.
    """

    text: str
    column: str
    group: str
    places: Places

    @property
    def sources(self) -> frozenset[str]:
        """What says which codes there can be."""
        return frozenset((self.group,))

    def groups(self, view: ColumnValues) -> Places:
        """Each row's group, -1 for missing."""
        values, gaps = view[self.group]
        return np.where(gaps, -1, values).astype(np.int64)

    def compute(self, view: ColumnValues, rng: np.random.Generator) -> Computed:
        """Codes of the rows' groups: as they were, or one that another row of the table has.

        So codes of a group keep the shares that they have among all rows, and groups stay.  Where
        no row has one, any of the group's is as likely; a group without codes can have none.
        """
        codes, gaps = view[self.column]
        groups, codes = self.groups(view), np.where(gaps, 0, codes).astype(np.int64)
        wrong = ~gaps & (self.places[codes] != groups)
        chance = rng.random(view.rows)  # one number for each row, whatever becomes of others
        listed, known = self._drawn(np.arange(len(self.places)), groups, chance)
        drawn, held = self._drawn(codes[~gaps], groups, chance)
        codes = np.where(wrong, np.where(held, drawn, listed), codes)
        return Computed(codes, gaps, ~wrong | known)

    def _drawn(
        self, pool: Places, groups: Places, chance: NDArray[np.float64]
    ) -> tuple[Places, Mask]:
        """For each row one of the pool's codes of its group, and whether there is any."""
        if not len(pool):
            return np.zeros(len(groups), np.int64), np.zeros(len(groups), bool)
        pool = pool[np.argsort(self.places[pool], kind="stable")]
        own = self.places[pool]
        first, last = (np.searchsorted(own, groups, side=side) for side in ("left", "right"))
        place = first + np.floor(chance * (last - first)).astype(np.int64)
        return pool[np.minimum(place, len(pool) - 1)], last > first

    def holds(self, view: ColumnValues) -> Mask:
        """Which rows have no code, or one of their group's."""
        codes, gaps = view[self.column]
        meant = self.places[np.where(gaps, 0, codes).astype(np.int64)]
        return np.asarray(gaps | (meant == self.groups(view)))


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Linear:
    """`column` as an exact sum of numbers, or of a date and a time, in whole parts of one.

    Attributes:
        factors: of each source, counted in units of its own last decimal, dates in microseconds.
        constant: what is added.
        unit: one unit of the column's last decimal.
    """

    text: str
    column: str
    factors: Mapping[str, int]
    constant: int
    unit: int
    columns: Mapping[str, Column]

    @property
    def sources(self) -> frozenset[str]:
        """The columns that it follows from."""
        return frozenset(self.factors)

    def compute(self, view: ColumnValues, rng: np.random.Generator) -> Computed:
        """The sum in each row; a sum of something missing is missing."""
        own, ticks = self.line(self.column), self.columns[self.column].ticks
        total, missing = self._total(view)
        places = (total // self.unit - own.first) // own.step
        possible = missing | ((places >= 0) & (places <= (ticks or 0)))
        return Computed(np.where(possible & ~missing, places, 0), missing, possible)

    def holds(self, view: ColumnValues) -> Mask:
        """Which rows add up."""
        total, missing = self._total(view)
        units, gaps = self._units(view, self.column)
        return np.where(gaps | missing, gaps == missing, units * self.unit == total)

    def _total(self, view: ColumnValues) -> tuple[Places, Mask]:
        total, missing = np.full(view.rows, self.constant, np.int64), np.zeros(view.rows, bool)
        for name, factor in self.factors.items():
            units, gaps = self._units(view, name)
            total += factor * units
            missing |= gaps
        return total, missing

    def line(self, name: str) -> Grid:
        """A column's values as whole numbers: a sum is exact only among columns that have one."""
        found = line(self.columns[name])
        if found is None:
            raise NacreError(f"'{name}' is a real number without decimals.")
        return found

    def _units(self, view: ColumnValues, name: str) -> tuple[Places, Mask]:
        values, gaps = view[name]
        return units_of(self.columns[name], np.where(gaps, 0, values)), gaps


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Near:
    """`column` as a sum of products, within a tolerance; any value within it is as likely.

    Attributes:
        terms: a factor, and the names of the columns that it is multiplied by.
        within: the tolerance; as a share of the sum if `relative`.
    """

    text: str
    column: str
    terms: tuple[tuple[float, tuple[str, ...]], ...]
    within: float
    relative: bool
    scale: Scale
    columns: Mapping[str, Column]

    @property
    def sources(self) -> frozenset[str]:
        """The columns that it follows from."""
        return frozenset(name for _, names in self.terms for name in names)

    def compute(self, view: ColumnValues, rng: np.random.Generator) -> Computed:
        """The sum in each row, uniform within the tolerance and the bounds."""
        exact, missing = self._exact(view)
        reach = self._reach(exact)
        (low, high), ticks = self._bounds, self.scale.column.ticks
        step = (high - low) / (ticks or 1)
        slack = SLACK + self._rounding(exact) / step
        first = np.maximum(np.ceil((exact - reach - low) / step - slack), 0)
        last = np.minimum(np.floor((exact + reach - low) / step + slack), ticks or 0)
        # One number for each row, whatever its range, so that the next row's does not move.
        drawn = first + np.floor(rng.random(view.rows) * np.maximum(last - first + 1, 1))
        possible = missing | (first <= last)
        places = np.where(possible & ~missing, np.minimum(drawn, last), 0)
        return Computed(places.astype(np.int64), missing, possible)

    def holds(self, view: ColumnValues) -> Mask:
        """Which rows are within the tolerance."""
        exact, missing = self._exact(view)
        values, gaps = self._amounts(view, self.column)
        slack = 2 * (SLACK * self._unit(exact) + self._rounding(exact))
        near = np.abs(values - exact) <= self._reach(exact) + slack
        return np.where(gaps | missing, gaps == missing, near)

    @property
    def _bounds(self) -> tuple[float, float]:
        ends = np.array([self.scale.low, self.scale.high])
        low, high = amounts(self.scale.column, ends).tolist()
        return float(low), float(high)

    def _amounts(self, view: ColumnValues, name: str) -> tuple[NDArray[Any], Mask]:
        values, gaps = view[name]
        return amounts(self.columns[name], np.where(gaps, 0, values)), gaps

    def _unit(self, exact: NDArray[np.float64]) -> NDArray[np.float64]:
        """A step, if all columns have some; else numbers are known to a part of their size."""
        low, high = self._bounds
        if all(line(self.columns[name]) is not None for name in (self.column, *self.sources)):
            return np.full(len(exact), (high - low) / (self.scale.column.ticks or 1))
        return np.maximum(np.abs(exact), high - low)

    def _rounding(self, exact: NDArray[np.float64]) -> NDArray[np.float64]:
        """What sums of numbers so large, such as days since 1970, may be off by."""
        largest = max(abs(end) for end in self._bounds)
        return ROUNDED * np.finfo(np.float64).eps * np.maximum(np.abs(exact), largest)

    def _reach(self, exact: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.within * (np.abs(exact) if self.relative else np.ones(len(exact)))

    def _exact(self, view: ColumnValues) -> tuple[NDArray[np.float64], Mask]:
        total, missing = np.zeros(view.rows), np.zeros(view.rows, bool)
        for factor, names in self.terms:
            product = np.full(view.rows, factor)
            for name in names:
                values, gaps = self._amounts(view, name)
                product = product * values
                missing |= gaps
            total += product
        return total, missing


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Absence:
    """`column` is missing exactly where all conditions are true."""

    text: str
    column: str
    conditions: tuple[Condition, ...]

    @property
    def sources(self) -> frozenset[str]:
        """The columns that its gaps follow from."""
        return frozenset(name for condition in self.conditions for name in condition.names)

    def gaps(self, view: ColumnValues) -> Mask:
        """Where it is missing."""
        found = np.ones(view.rows, bool)
        for condition in self.conditions:
            found &= condition.truth(view)[0]
        return found

    def holds(self, view: ColumnValues) -> Mask:
        """Which rows have a gap where there is to be one, and nowhere else."""
        return np.asarray(view[self.column][1] == self.gaps(view))


Value: TypeAlias = LookUp | Belonging | Linear | Near
BoundFact: TypeAlias = Value | Absence
