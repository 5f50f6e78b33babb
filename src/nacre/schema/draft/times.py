"""The dates or times of day that a column has shown, in every way of writing that still fits."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeAlias, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nacre.schema.columns import cells
from nacre.schema.columns.clock import Time
from nacre.schema.columns.date_format import DateFormat
from nacre.schema.columns.timed import Timed, step_length

STEPS = ("1d", "1h", "1min", "1s", "1ms", "1us")
CLOCK_STEPS = ("1h", "30min", "15min", "5min", "1min", "1s", "1ms", "1us")
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
CLOCK = "time of day"  # however it is written
CLOCKS = {CLOCK: cells.CLOCK, "%H:%M": r"^\d+:\d+$", "%H:%M:%S": r"^\d+:\d+:\d+$"}
PLAIN = "%Y%m%d"  # which whole numbers may be, too
LEAST = 6  # digits of a date: 1/2/2024
YEARS = (1800_01_01, 2200_12_31)  # where a whole number of eight digits is a day


@final
@dataclasses.dataclass(frozen=True)
class Times:
    """The first and last moment, how many rows hold each, and the step (a place in `steps`)."""

    first: int = np.iinfo(np.int64).max
    last: int = np.iinfo(np.int64).min
    first_rows: int = 0
    last_rows: int = 0
    step: int = 0
    steps: tuple[str, ...] = STEPS

    def add(self, values: np.ndarray, rows: np.ndarray) -> Times:
        """After some more of them, each held by so many rows."""
        if not len(values):
            return self
        step = self.step
        while (values % (step_length(self.steps[step]) or 1)).any():
            step += 1
        first, first_rows = extreme(min, values, rows, (self.first, self.first_rows))
        last, last_rows = extreme(max, values, rows, (self.last, self.last_rows))
        return Times(int(first), int(last), first_rows, last_rows, step, self.steps)

    @property
    def step_text(self) -> str:
        """The step as a schema has it."""
        return self.steps[self.step]


Ways: TypeAlias = "Mapping[str | None, Times]"  # by format; None is ISO 8601


def every_way() -> Ways:
    """All ways of writing, before a cell is seen."""
    dates: Ways = {text: Times() for text in (None, *FORMATS)}
    return {**dates, **{text: Times(steps=CLOCK_STEPS) for text in CLOCKS}}


def times_of(ways: Ways, column: Timed) -> Times | None:
    """What a column of dates or times of day has shown in its own way of writing."""
    return ways.get(CLOCK if isinstance(column, Time) else getattr(column, "format", None))


def still(ways: Ways, array: pa.Array, rows: np.ndarray) -> Ways:
    """The ways in which these cells can be read as well, with what they then say."""
    if not len(array) or not ways:
        return ways
    first = array[0].as_py()
    if isinstance(first, str) and sum(letter.isdigit() for letter in first) < LEAST:
        ways = clocks_of(ways)  # most columns hold no dates at all
    found = {}
    for text, times in ways.items():
        if text is not None and _fails(text, array[:1]):
            continue
        values, missing, unreadable = _read(text, array)
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
    return bool(_read(text, cell)[2].any())


def _read(text: str | None, array: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cells as one way of writing has them, with those that are missing and unreadable."""
    if text in CLOCKS:
        values, missing, unreadable = cells.clocks(array)
        if cells.is_text(array.type):
            unreadable = unreadable | ~cells.mask(pc.match_substring_regex(array, CLOCKS[text]))
        return values, missing, unreadable & ~missing
    return cells.moments(array if text is None else DateFormat(text).read(array))


def clocks_of(ways: Ways) -> Ways:
    """The ways of writing times of day."""
    return {text: times for text, times in ways.items() if text in CLOCKS}


def extreme(
    pick: Any, values: np.ndarray, rows: np.ndarray, before: tuple[Any, int]
) -> tuple[Any, int]:
    """The smallest or largest value so far, and how many rows hold it."""
    found = pick(values.min(), values.max())
    count = int(rows[values == found].sum())
    if found == before[0]:
        return found, before[1] + count
    return (found, count) if pick(found, before[0]) == found else before
