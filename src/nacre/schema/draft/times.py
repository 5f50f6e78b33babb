"""The points in time that a column has shown, in every way of writing them that still fits."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeAlias, final

import numpy as np
import pyarrow as pa

from nacre.schema.columns import cells
from nacre.schema.columns.date_format import DateFormat
from nacre.schema.columns.moment import UNITS

STEPS = ("1d", "1h", "1min", "1s", "1ms", "1us")
DAYS = (
    "%Y%m%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
)
# ISO 8601, too: in which of these it is written, so that it can be written so again.
ISO = tuple("%Y-%m-%d" + time for time in (" %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S"))
FORMATS = (
    *ISO,
    *(day + time for day in DAYS for time in ("", " %H:%M", " %H:%M:%S")),
    *("%Y%m%d" + time for time in ("T%H%M", "T%H%M%S", "%H%M%S")),
)
PLAIN = "%Y%m%d"  # which whole numbers may be, too
LEAST = 6  # digits of a date: 1/2/2024
YEARS = (1800_01_01, 2200_12_31)  # where a whole number of eight digits is a day


@final
@dataclasses.dataclass(frozen=True)
class Times:
    """The first and last moment, how many rows hold each, and the step (a place in `STEPS`)."""

    first: int = np.iinfo(np.int64).max
    last: int = np.iinfo(np.int64).min
    first_rows: int = 0
    last_rows: int = 0
    step: int = 0

    def add(self, values: np.ndarray, rows: np.ndarray) -> Times:
        """After some more of them, each held by so many rows."""
        if not len(values):
            return self
        step = self.step
        while (values % UNITS[STEPS[step][1:]]).any():
            step += 1
        first, first_rows = extreme(min, values, rows, (self.first, self.first_rows))
        last, last_rows = extreme(max, values, rows, (self.last, self.last_rows))
        return Times(int(first), int(last), first_rows, last_rows, step)


Ways: TypeAlias = "Mapping[str | None, Times]"  # by format; None is ISO 8601


def every_way() -> Ways:
    """All ways of writing, before a cell is seen."""
    return {None: Times(), **{text: Times() for text in FORMATS}}


def still(ways: Ways, array: pa.Array, rows: np.ndarray) -> Ways:
    """The ways in which these cells can be read as well, with what they then say."""
    if not len(array) or not ways:
        return ways
    first = array[0].as_py()
    if isinstance(first, str) and sum(letter.isdigit() for letter in first) < LEAST:
        return {}  # most columns hold no dates at all
    found = {}
    for text, times in ways.items():
        if text is not None and _fails(text, array[:1]):
            continue
        read = array if text is None else DateFormat(text).read(array)
        values, missing, unreadable = cells.moments(read)
        if not unreadable.any():
            found[text] = times.add(values[~missing], rows[~missing])
    return found


def still_numbers(ways: Ways, array: pa.Array, rows: np.ndarray) -> Ways:
    """Likewise of numbers, which may be days such as 20241231."""
    if PLAIN not in ways:
        return {}
    values, missing, _ = cells.numbers(array)
    there = values[~missing]
    if not len(there):
        return {PLAIN: ways[PLAIN]}
    if there.min() < YEARS[0] or there.max() > YEARS[1] or (there != np.rint(there)).any():
        return {}
    return still({PLAIN: ways[PLAIN]}, pa.array(there.astype(np.int64)), rows[~missing])


def _fails(text: str, cell: pa.Array) -> bool:
    return bool(cells.moments(DateFormat(text).read(cell))[2].any())


def extreme(
    pick: Any, values: np.ndarray, rows: np.ndarray, before: tuple[Any, int]
) -> tuple[Any, int]:
    """The smallest or largest value so far, and how many rows hold it."""
    found = pick(values.min(), values.max())
    count = int(rows[values == found].sum())
    if found == before[0]:
        return found, before[1] + count
    return (found, count) if pick(found, before[0]) == found else before
