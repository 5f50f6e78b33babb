"""How far the median of a number is off within groups: the costs of one ward, the stays in another.

A column by itself may be right while every group has the same average.
"""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.tables import apart
from nacre.evaluate.tables.names import MISSING, bin_names
from nacre.evaluate.tables.rows import Rows
from nacre.evaluate.tables.shift import Difference, Group, Shift
from nacre.evaluate.tables.shifts import FEWEST, compare_values, step_of
from nacre.schema import Integer

MOST_GROUPS = 50
"""Of a column with more values, so many of the most frequent ones are looked at."""
MOST_CODES = 100
"""Whole numbers from so short a range may be codes, so they make groups, too."""
MOST_PAIRS = 400
"""Of a number and a column of groups, beyond which whole numbers make no groups."""
ROWS = 50_000
"""Rows of each table that are looked at, a seeded sample."""
MEDIAN = (0.5,)


def find_group_shifts(real: Rows, synthetic: Rows, rng: np.random.Generator) -> tuple[Shift, ...]:
    """The median of each number in each group of at least 200 rows of both tables.

    Then of what lies between two ordered columns: lengths of stay by department.
    """
    tables = [rows.sample(ROWS, rng) for rows in (real, synthetic)]
    numbers = [name for name in real.names if real.is_number(name)]
    groups = [name for name in real.names if not real.is_number(name)]
    codes = [name for name in numbers if _may_be_codes(real, name)]
    groups += codes[: max(MOST_PAIRS // max(len(numbers), 1) - len(groups), 0)]
    judged: list[str | Difference] = [*numbers, *apart.differences(tables[0])]
    return tuple(
        shift
        for number in judged
        for by in groups
        if by not in _columns(number)
        for shift in _shifts(tables[0], tables[1], number, by)
    )


def _columns(number: str | Difference) -> tuple[str, ...]:
    return (number,) if isinstance(number, str) else (number.later, number.earlier)


def _values(rows: Rows, number: str | Difference) -> np.ndarray:
    return rows.values(number) if isinstance(number, str) else apart.values(rows, number)


def _shifts(real: Rows, synthetic: Rows, number: str | Difference, by: str) -> Iterator[Shift]:
    names = bin_names(real, by, real.bin(by, MOST_CODES).size)
    codes = [rows.bin(by, MOST_CODES).codes for rows in (real, synthetic)]
    values = [_values(rows, number) for rows in (real, synthetic)]
    counts = [np.bincount(c, minlength=len(names)) for c in codes]
    frequent = np.argsort(-counts[0], kind="stable")[:MOST_GROUPS]
    step = step_of(real.schema.columns[_columns(number)[0]])
    for code in np.sort(frequent):
        if names[code] != MISSING and min(count[code] for count in counts) >= FEWEST:
            one, other = (v[c == code] for v, c in zip(values, codes, strict=True))
            group = Group(number, by, names[code])
            yield from compare_values(group, MEDIAN, one, other, step=step)


def _may_be_codes(rows: Rows, name: str) -> bool:
    column = rows.schema.columns[name]
    return isinstance(column, Integer) and column.ticks < MOST_CODES
