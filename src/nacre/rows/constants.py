"""Values that a constraint demands of drawn rows, set where a row lacks them.

`fee = 250 if hazmat = yes` leaves a row with hazmat no choice.  Where noise hides such a value, the
model hardly ever draws it, and dropping the rows that lack it would drop the whole group.  So the
value is set, and nothing else in the row changes: given the premise it is the only one that there
is.  A model that has learnt how often there is such a fee, but not whose it is, has drawn it for
others: these get the numbers that were replaced, so that the column's own shares stay.  Everything
here works on drawn rows, by the public schema: post-processing.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.schema import Encoded, Schema
from nacre.schema.columns.column import Column
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.condition import Among, ColumnValues, Condition
from nacre.schema.constraints.constraint import Rule


@final
@dataclasses.dataclass(frozen=True)
class Constant:
    """One value that a rule demands.

    Attributes:
        rule: with this demand alone.
        column: whose value it is.
        place: its tick or code; None for a gap.
    """

    rule: Rule
    column: str
    place: int | None

    @property
    def premise(self) -> set[str]:
        """The columns that it follows from."""
        return {name for condition in self.rule.premise for name in condition.names}

    def demanded(self, view: ColumnValues) -> NDArray[np.bool_]:
        """The rows of which it is demanded."""
        found = np.ones(view.rows, bool)
        for condition in self.rule.premise:
            found &= condition.truth(view)[0]
        return found

    def set_in(self, rows: Encoded, column: Column, where: NDArray[np.bool_]) -> None:
        """Set the value in these rows, in place."""
        layout, place = rows.layout, self.place
        if column.size is not None:
            gap = column.size - 1
            rows.codes[where, layout.code(self.column)] = gap if place is None else place
            return
        rows.ticks[where, layout.number(self.column)] = 0 if place is None else place
        if column.nullable:
            rows.codes[where, layout.code(self.column, "missing")] = place is None


def find_constants(schema: Schema, bound: Collection[str]) -> tuple[Constant, ...]:
    """The constants that the schema's rules demand under a premise.

    Args:
        schema: with its rules.
        bound: columns that others are computed from, or that are computed themselves: rows of
            these are dropped as before.
    """
    found = []
    for whole in schema.rules:
        if whole.kind != "rule" or not whole.premise:
            continue
        for rule in whole.parts:
            (demand,) = rule.demands
            if not isinstance(demand, Among) or demand.name in bound:
                continue
            known, place = _place(demand, schema.columns[demand.name])
            constant = Constant(rule, demand.name, place)
            if known and demand.name not in constant.premise:
                found.append(constant)
    return tuple(found)


def set_constants(
    rows: Encoded,
    constants: Sequence[Constant],
    columns: Mapping[str, Column],
    rng: np.random.Generator,
) -> Encoded:
    """The rows with the values that they must have; `rng` says who gets what they had."""
    if not constants:
        return rows
    rows = dataclasses.replace(rows, ticks=rows.ticks.copy(), codes=rows.codes.copy())
    for constant in constants:
        _exchange(rows, constant, constants, columns, rng)
    # A value that is set may be the premise of another rule, so of a chain one link a pass.
    for _ in range(len(constants) + 1):
        view, done = ColumnValues.of(columns, rows), True
        for constant in constants:
            broken = ~constant.rule.holds(view)
            if broken.any():
                constant.set_in(rows, columns[constant.column], broken)
                view, done = ColumnValues.of(columns, rows), False
        if done:
            break
    return rows


def _place(demand: Condition, column: Column) -> tuple[bool, int | None]:
    """Whether a demand leaves one value, and the place of it."""
    if not isinstance(demand, Among):
        return False, None
    if not demand.spans:
        return bool(demand.gap), None
    if demand.gap or len(demand.spans) > 1:
        return False, None
    (low, high), scale = demand.spans[0], Scale(column)
    if column.size is not None:
        return low == high, int(low)
    # A date stands for all moments of its day, of which one may be a value of the column.
    places = range((column.ticks or 0) + 1)
    first = bisect.bisect_left(places, low, key=lambda at: scale.values(np.array([at]))[0])
    after = bisect.bisect_right(places, high, key=lambda at: scale.values(np.array([at]))[0])
    return after - first == 1, first


def _exchange(
    rows: Encoded,
    constant: Constant,
    constants: Sequence[Constant],
    columns: Mapping[str, Column],
    rng: np.random.Generator,
) -> None:
    """Give a number that some rows lack to them, from rows of which nothing demands it."""
    name, column = constant.column, columns[constant.column]
    if column.size is not None or constant.place is None:
        return
    view, place = ColumnValues.of(columns, rows), rows.layout.number(name)
    bound = np.zeros(len(rows), bool)
    for other in constants:
        if other.column == name:
            bound |= other.demanded(view)
    spare = ~bound & ~rows.missing(name) & (rows.ticks[:, place] == constant.place)
    lack = np.flatnonzero(~constant.rule.holds(view) & ~rows.missing(name))
    some = rng.permutation(np.flatnonzero(spare))[: len(lack)]
    lack = rng.permutation(lack)[: len(some)]
    rows.ticks[some, place] = rows.ticks[lack, place]
    rows.ticks[lack, place] = constant.place
