"""Numbers, dates and times of day that never exceed others, where that is no matter of course."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from nacre.schema.columns.clock import Time
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.statement import Word
from nacre.schema.draft.guess import ENOUGH, FEW
from nacre.schema.draft.kinds import alike
from nacre.schema.draft.limits import Limits
from nacre.schema.draft.seen import Seen

MOST_COLUMNS = 100  # among which orders are looked for
BY_CHANCE = 0.02  # of the rows would break an order of numbers if the two had nothing in common
REACH = 0.25  # of the rows have less of the larger one than some row has of the smaller
NEAR = 0.1  # of the median difference
CLOSE = 0.005  # of the rows are so near to being equal
Pair: TypeAlias = tuple[str, str]
Values: TypeAlias = dict[str, np.ndarray]


def orders(
    columns: Mapping[str, Column], seen: Mapping[str, Seen], most: int = Limits.orders
) -> list[tuple[Pair, str]]:
    """Pairs that rows keep, and the sign: first dates and times, then numbers, the boldest first.

    What follows from two others is left out, and so are all but the `most` boldest of numbers.
    Where no two values are equal both signs are there.
    """
    dates, clocks = (_values(columns, seen, kind) for kind in (Datetime, Time))
    numbers = _values(columns, seen, Integer | Real)
    chances = {pair: _chance(numbers, pair) for pair in _kept(numbers)}
    bold = {
        pair: chance
        for pair, chance in chances.items()
        if chance >= BY_CHANCE and _plausible(numbers, pair)
    }
    boldest = sorted(_fewest(bold), key=lambda pair: -bold[pair])[:most]
    return [
        *((pair, "<=") for pair in sorted(_fewest([*_kept(dates), *_kept(clocks)]))),
        *((pair, sign) for pair in boldest for sign in _signs(columns, numbers, pair)),
    ]


def statement(pair: Pair, sign: str) -> str:
    """The order as a constraint says it."""
    return f"{Word.of_column(pair[0])} {sign} {Word.of_column(pair[1])}"


def _values(columns: Mapping[str, Column], seen: Mapping[str, Seen], kind: Any) -> Values:
    """Columns of a kind, not a number where one is missing."""
    names = [name for name, column in columns.items() if isinstance(column, kind)]
    return {
        name: np.where(seen[name].missing, np.nan, Scale(columns[name]).values(seen[name].places))
        for name in names[:MOST_COLUMNS]
    }


def _kept(values: Values) -> Iterator[Pair]:
    """Pairs of which the first never exceeds the second, and often enough is below it."""
    for first, last in itertools.permutations(values, 2):
        if (values[first] > values[last]).any():
            continue
        below = int((values[first] < values[last]).sum())
        both = below + int((values[first] == values[last]).sum())
        if both >= ENOUGH and below >= FEW:
            yield first, last


def _chance(values: Values, pair: Pair) -> float:
    """How many rows would break an order if the two columns had nothing in common.

    None where nearly all values of the one are below those of the other, so that the order says
    nothing of the rows: blood pressure is above pain on a scale from 0 to 10.
    """
    there = ~(np.isnan(values[pair[0]]) | np.isnan(values[pair[1]]))
    low, high = (values[name][there] for name in pair)
    below = np.searchsorted(np.sort(high), low) / len(high)
    return float(below.mean()) if below.max() >= REACH else 0.0


def _plausible(values: Values, pair: Pair) -> bool:
    """Whether the two may be amounts of one kind, so that an order is more than luck.

    By their names, or else because rows come close to being equal: of two that merely happen to be
    ordered, as many would lie a little beyond as a little below, and none does.  Rows at the low
    end of the smaller one do not count, as zeros are equal whatever they are zeros of.
    """
    said = alike(*pair)
    if said is not None:
        return said
    there = ~(np.isnan(values[pair[0]]) | np.isnan(values[pair[1]]))
    low, high = (values[name][there] for name in pair)
    apart = (high - low)[low > low.min()]
    near = int((apart <= NEAR * np.median(apart)).sum()) if len(apart) else 0
    return near >= max(FEW, CLOSE * len(apart))


def _signs(columns: Mapping[str, Column], values: Values, pair: Pair) -> tuple[str, ...]:
    """The signs that the rows keep, the stronger first."""
    strict = not (values[pair[0]] == values[pair[1]]).any()
    dense = any(Scale(columns[name]).dense for name in pair)  # where no two values are ever equal
    return ("<", "<=") if strict and not dense else ("<=",)


def _fewest(found: Collection[Pair]) -> list[Pair]:
    """Without those that follow from two others."""
    known, names = set(found), {name for pair in found for name in pair}
    return [
        (first, last)
        for first, last in found
        if not any((first, mid) in known and (mid, last) in known for mid in names)
    ]
