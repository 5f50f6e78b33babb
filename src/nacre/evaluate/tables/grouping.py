"""Rows in groups that a reader would compare: values, ranges of numbers, months or quarters."""

from typing import NamedTuple

import numpy as np

from nacre.evaluate.tables.names import bin_names
from nacre.evaluate.tables.rows import Coded, Rows
from nacre.schema import Column, Datetime
from nacre.schema.written import MISSING, value_at

RANGES = 10
"""Ranges of a number, each with about as many real rows."""
FEW_VALUES = 20
"""A number of no more values has a group for each."""
MOST_PERIODS = 24
"""Dates are grouped by the shortest period of which there are no more."""
NONE = np.iinfo(np.int64).min


class Grouping(NamedTuple):
    """The rows of two tables by the groups of one column.

    Attributes:
        names: of the groups, as a sentence says them: "agent = A7", "fare from 10 to 19".
        real: the group of each real row.
        synthetic: likewise.
    """

    names: list[str]
    real: np.ndarray
    synthetic: np.ndarray


def group_rows(real: Rows, synthetic: Rows, name: str) -> Grouping:
    """Both tables by a column: each value of a category, ranges of a number, periods of dates."""
    column = real.schema.columns[name]
    if isinstance(column, Datetime):
        found = _periods(real, synthetic, name)
        if found is not None:
            return found
    if not real.is_number(name) or (column.ticks or 0) < FEW_VALUES:
        coded = real.bin(name)
        names = [_said(name, "=", value) for value in bin_names(real, name, coded.size)]
        return Grouping(names, coded.codes, synthetic.bin(name).codes)
    edges = real.quantile_edges(name, RANGES)
    cut: list[Coded] = [rows.bin_at(name, edges) for rows in (real, synthetic)]
    ranges = [f"{name} {text}" for text in _ranges(column, edges)]
    gap = [f"{name} is {MISSING}"] * (cut[0].size - len(ranges))
    return Grouping([*ranges, *gap], cut[0].codes, cut[1].codes)


def _said(name: str, sign: str, value: str) -> str:
    """A group in words.

    Examples:
        >>> _said("agent", "=", "A7"), _said("agent", "=", MISSING)
        ('agent = A7', 'agent is missing')
    """
    return f"{name} is {MISSING}" if value == MISSING else f"{name} {sign} {value}"


def _ranges(column: Column, edges: np.ndarray) -> list[str]:
    """What lies in each bin of `Rows.bin_at`, in words."""
    top = max(column.ticks or 0, 1)
    last = [value_at(column, min(max(int(edge), 0), top) / top) for edge in edges]
    first = [value_at(column, min(int(edge) + 1, top) / top) for edge in edges]
    if not last:
        return [f"from {value_at(column, 0.0)}"]
    inner = [
        f"= {low}" if low == high else f"from {low} to {high}"
        for low, high in zip(first[:-1], last[1:], strict=True)
    ]
    return [f"up to {last[0]}", *inner, f"above {last[-1]}"]


def _periods(real: Rows, synthetic: Rows, name: str) -> Grouping | None:
    """Dates by month, quarter or year; None if the real ones are of too short a time."""
    months = [_months(rows.values(name)) for rows in (real, synthetic)]
    known = months[0][months[0] != NONE]
    if not len(known):
        return None
    for length in (1, 3, 12):
        first, last = int(known.min()) // length, int(known.max()) // length
        if last - first < MOST_PERIODS or length == 12:
            break
    if last == first:
        return None
    names = [f"{name} in {_period(number, length)}" for number in range(first, last + 1)]
    outside, missing = len(names), len(names) + 1
    codes = []
    for each in months:
        period = each // length - first
        code = np.where((period < 0) | (period > last - first), outside, period)
        codes.append(np.where(each == NONE, missing, code))
    return Grouping([*names, f"{name} beyond all real ones", f"{name} is {MISSING}"], *codes)


def _months(moments: np.ndarray) -> np.ndarray:
    """Months since 1970 of moments in microseconds; `NONE` where there is none."""
    known = ~np.isnan(moments)
    found = np.full(len(moments), NONE)
    found[known] = moments[known].astype("M8[us]").astype("M8[M]").astype(np.int64)
    return found


def _period(number: int, length: int) -> str:
    """The name of a month, quarter or year, counted from 1970.

    Examples:
        >>> _period(640, 1), _period(213, 3), _period(53, 12)
        ('2023-05', '2023 Q2', '2023')
    """
    year, place = divmod(number, 12 // length)
    if length == 12:
        return f"{1970 + year}"
    return f"{1970 + year}-{place + 1:02d}" if length == 1 else f"{1970 + year} Q{place + 1}"
