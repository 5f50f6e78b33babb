"""Numbers whose range is clearly narrower in one group: counters are open from 8 to 18."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nacre.schema.columns.column import Column
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.scale import Scale
from nacre.schema.columns.timed import Timed
from nacre.schema.constraints.statement import Word
from nacre.schema.draft.constants import (
    BY_CHANCE,
    MOST_LISTS,
    MOST_NUMBERS,
    has_name,
    is_list,
)
from nacre.schema.draft.guess import ENOUGH, FEW
from nacre.schema.draft.limits import Limits
from nacre.schema.draft.outward import Bound, beyond
from nacre.schema.draft.seen import Seen, name_of

NARROW = 2 / 3  # of what the other rows span, at most
OUTSIDE = 0.25  # of the other rows, at least, lie outside
ONE_END = 0.05  # of the other rows, at least, lie beyond an end that is said


class Range(NamedTuple):
    """A number lies within bounds in all rows with a value of a list.

    Attributes:
        said: the constraint: `480 <= minute <= 1080 if channel = counter`.
        name: the number, or the date or time of day.
        by: the column whose value says so.
        rows: which rows have that value.
        low, high: in values of its scale; infinite where nothing is said.
        strength: how many of these rows would lie outside if the two had nothing in common.
    """

    said: str
    name: str
    by: str
    rows: NDArray[np.bool_]
    low: float
    high: float
    strength: float


def ranges(
    columns: Mapping[str, Column], seen: Mapping[str, Seen], *, persons: bool
) -> list[Range]:
    """All that are clear, the strongest first.

    A bound that fewer than `FEW` rows of the group hold is rounded outward, and left out where no
    rounder value is near.  With `persons` all are: so many rows may be one person's.
    """
    lists = [name for name, column in columns.items() if is_list(column)][:MOST_LISTS]
    numbers = [name for name, column in columns.items() if _is_number(column)][:MOST_NUMBERS]
    values = {
        name: np.where(
            seen[name].missing, np.nan, Scale(columns[name]).values(seen[name].places)
        ).astype(np.float64)
        for name in numbers
    }
    spans = {
        name: np.nanmax(each) - np.nanmin(each) if not np.isnan(each).all() else 0.0
        for name, each in values.items()
    }
    found = [
        each
        for by in lists
        for rows, value in _groups(columns[by], seen[by])
        for name in numbers
        if np.ptp(values[name][rows]) < NARROW * spans[name]  # what is not is not looked at more
        and (each := _range(columns, values[name], rows, (by, value, name), persons)) is not None
    ]
    return sorted(found, key=lambda each: -each.strength)


def _is_number(column: Column) -> bool:
    return isinstance(column, Integer | Real | Timed)


def _groups(column: Column, seen: Seen) -> Iterator[tuple[NDArray[np.bool_], int]]:
    """The rows of each listed value that enough rows hold, but not nearly all."""
    for value in np.unique(seen.places[~seen.missing]).tolist():
        rows = ~seen.missing & (seen.places == value)
        if has_name(column, value) and ENOUGH <= rows.sum() <= len(rows) - ENOUGH:
            yield rows, value


def _range(
    columns: Mapping[str, Column],
    values: NDArray[np.float64],
    rows: NDArray[np.bool_],
    names: tuple[str, int, str],
    persons: bool,
) -> Range | None:
    """The range of a number in some rows; None if it says too little, or would say too much."""
    by, place, name = names
    own = values[rows]
    low, high = float(own.min()), float(own.max())
    # Where some have no number, those that have one may be few persons.  One number is a constant.
    if math.isnan(low) or low == high:
        return None
    others = values[~rows]
    others = others[~np.isnan(others)]
    span = float(np.ptp(others)) if len(others) >= ENOUGH else 0.0
    bounds = []
    for end, at in (("low", low), ("high", high)):
        few = persons or int((own == at).sum()) < FEW
        bound = beyond(columns[name], low, high, end, few=few)
        bounds.append(_telling(bound, end, len(own), others))
    first, last = (bound.value if bound else math.nan for bound in bounds)
    first = float(others.min()) if math.isnan(first) else first
    last = float(others.max()) if math.isnan(last) else last
    outside = float(((others < first) | (others > last)).mean())
    if last - first >= NARROW * span or outside < OUTSIDE:
        return None
    given = Word.of_value(name_of(columns[by], place), tuple(columns))
    said = f"{_between(name, bounds, tuple(columns))} if {Word.of_column(by)} = {given}"
    return Range(said, name, by, rows, first, last, outside * len(own))


def _telling(bound: Bound | None, end: str, rows: int, others: NDArray[np.float64]) -> Bound | None:
    """The bound if many other rows lie beyond it, and it is no luck that none of these does."""
    if bound is None:
        return None
    out = others < bound.value if end == "low" else others > bound.value
    count = int(out.sum())
    share = count / (len(others) + rows)
    sure = -rows * math.log1p(-share) >= BY_CHANCE
    return bound if sure and count >= max(ENOUGH, ONE_END * len(others)) else None


def _between(name: str, bounds: Sequence[Bound | None], columns: tuple[str, ...]) -> str:
    """What a constraint demands; one of the bounds may be None."""
    low, high = (None if each is None else Word.of_value(each.text, columns) for each in bounds)
    word = Word.of_column(name)
    if low is None:
        return f"{word} <= {high}"
    return f"{word} >= {low}" if high is None else f"{low} <= {word} <= {high}"


def strongest(found: Sequence[Range], limits: Limits) -> tuple[list[Range], int]:
    """The first few, a few of each number, that no earlier one implies; and how many are left."""
    chosen: list[Range] = []
    left = 0
    for each in found:
        own = [other for other in chosen if other.name == each.name]
        implied = any(
            o.low >= each.low and o.high <= each.high and (o.rows | ~each.rows).all() for o in own
        )
        if implied:
            continue
        if len(chosen) < limits.ranges and len(own) < limits.ranges_of_one:
            chosen.append(each)
        else:
            left += 1
    return chosen, left
