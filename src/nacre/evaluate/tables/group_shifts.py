"""How far the median of a number is off within groups: the costs of one ward, the ages of another.

A column by itself may be right while every group has the same average.
"""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.tables.rows import Rows
from nacre.evaluate.tables.shift import Group, Shift
from nacre.evaluate.tables.shifts import FEWEST, compare_values
from nacre.schema.columns.scale import Scale

MOST_GROUPS = 50
"""A column with more values than this has no groups that are worth a sentence each."""
ROWS = 50_000
"""Rows of each table that are looked at, a seeded sample."""
MEDIAN = (0.5,)


def find_group_shifts(real: Rows, synthetic: Rows, rng: np.random.Generator) -> tuple[Shift, ...]:
    """The median of each number in each group of at least 200 rows of both tables."""
    tables = [rows.sample(ROWS, rng) for rows in (real, synthetic)]
    groups = [name for name in real.names if not real.is_number(name)]
    return tuple(
        shift
        for name in filter(real.is_number, real.names)
        for by in groups
        for shift in _shifts(tables[0], tables[1], name, by)
    )


def _shifts(real: Rows, synthetic: Rows, name: str, by: str) -> Iterator[Shift]:
    names = Scale(real.schema.columns[by]).names
    if len(names) > MOST_GROUPS:
        return
    codes = [rows.bin(by).codes for rows in (real, synthetic)]
    values = [rows.values(name) for rows in (real, synthetic)]
    counts = [np.bincount(c, minlength=len(names)) for c in codes]
    for code, value in enumerate(names):
        if min(count[code] for count in counts) >= FEWEST:
            one, other = (v[c == code] for v, c in zip(values, codes, strict=True))
            yield from compare_values(Group(name, by, value), MEDIAN, one, other)
