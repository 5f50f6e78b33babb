"""Numbers that are one and the same in all rows with a certain value: a season ticket costs 89."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from nacre.schema.columns.category import Boolean, Categorical, Ordinal
from nacre.schema.columns.column import Column
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.statement import Word
from nacre.schema.draft.guess import ENOUGH
from nacre.schema.draft.seen import Seen, name_of

MOST_LISTS, MOST_NUMBERS = 40, 60  # columns that are looked at
MOST_VALUES = 50  # of a list
MOST_CONSTANTS = 10  # more are not confirmed one by one
MOST_OF_ONE = 3  # of one number: where several lists say the same, one of them is enough
BY_CHANCE = 20.0  # that all these rows have the number by luck has a chance of e^-20 or less


def constants(columns: Mapping[str, Column], seen: Mapping[str, Seen]) -> dict[str, str]:
    """Such constraints and their numbers, those of most rows first: `fare = 89 if kind = season`.

    Not where the list determines the number altogether: a look-up table says that.
    """
    lists = [name for name, column in columns.items() if _is_list(column)]
    numbers = [name for name, column in columns.items() if _is_number(column)]
    found = [
        (*each, name)
        for by in lists[:MOST_LISTS]
        for name in numbers[:MOST_NUMBERS]
        for each in _of(columns, seen, by, name)
    ]
    found.sort(key=lambda each: -each[0])
    offered: dict[str, str] = {}
    for _, said, name in found:
        if list(offered.values()).count(name) < MOST_OF_ONE and len(offered) < MOST_CONSTANTS:
            offered[said] = name
    return offered


def _is_list(column: Column) -> bool:
    return isinstance(column, Categorical | Ordinal | Boolean) and column.size <= MOST_VALUES


def _is_number(column: Column) -> bool:
    return isinstance(column, Integer | Real) and not Scale(column).dense


def _of(
    columns: Mapping[str, Column], seen: Mapping[str, Seen], by: str, name: str
) -> Iterator[tuple[int, str]]:
    """The rows of each value of a list in which a number is always the same, and the statement."""
    places, number = seen[by].places, seen[name]
    there = ~seen[by].missing
    values = np.unique(places[there])
    constant = {}
    for value in values:
        rows = there & (places == value)
        if rows.sum() >= ENOUGH and not number.missing[rows].any():
            ticks = number.places[rows]
            if (ticks == ticks[0]).all():
                constant[int(value)] = int(ticks[0]), int(rows.sum())
    if len(constant) == len(values):
        return
    known = number.places[~number.missing]
    for value, (tick, rows) in constant.items():
        share = float((known == tick).mean())
        if share < 1 and -rows * math.log(share) >= BY_CHANCE:
            other = Word.of_value(name_of(columns[by], value), tuple(columns))
            amount = Scale(columns[name]).values(np.array([tick]))[0].item()
            amount = int(amount) if amount == int(amount) else amount
            yield rows, f"{Word.of_column(name)} = {amount} if {Word.of_column(by)} = {other}"
