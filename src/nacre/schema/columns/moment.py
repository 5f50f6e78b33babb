"""Dates and times between public bounds, encoded as steps since `low`."""

from __future__ import annotations

import dataclasses
import datetime
import re
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
import pyarrow as pa

from nacre.schema.columns import cells
from nacre.schema.columns.column import NOT_A_DATE, Reading, as_flag, settle, shown
from nacre.schema.columns.date_format import DateFormat
from nacre.schema.columns.timed import DAY, STEPS, Timed, step_length

WEEK = 7
LONGEST = 1 << 18  # days of which those of the month are told apart: 700 years
WEEKLY = 26 * WEEK  # of so many days, what is told apart is weeks, and the days of all of them


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Datetime(Timed):
    """Points in time from `low` to `high` in whole steps; tick = floor((x - low) / step).

    A `high` without a time of day includes that whole day. Times with a zone are read as UTC.
    With `format`, cells are read and written as it says (%Y%m%dT%H%M%S); ISO 8601 otherwise.
    With `clamp`, what lies beyond the bounds is meant to be cut to them, and nobody is warned.

    Examples:
        >>> Datetime(low="2024-01-01", high="2024-12-31").ticks
        365
        >>> Datetime(low="2024-01-01", high="2024-01-01", step="1h").ticks
        23
    """

    type: ClassVar[str] = "datetime"
    low: str
    high: str
    step: str = "1d"
    format: str | None = None
    clamp: bool = False

    def __post_init__(self) -> None:
        ends = {"low": _as_iso(self.low), "high": _as_iso(self.high)}
        settle(self, clamp=as_flag(self.clamp), **ends)

    def problems(self) -> list[str]:
        """See `Column`."""
        found = self.flag_problems()
        for name, value in (("low", self.low), ("high", self.high)):
            if _moment(value) is None:
                found.append(
                    f"{name}={shown(value)} must be a date such as 2024-12-31, "
                    "or a time such as 2024-12-31T18:30."
                )
        if step_length(self.step) is None:
            found.append(f"step={shown(self.step)} {STEPS.format('1d, 1h, 15min, 1s')}")
        if self.format is not None:
            found += DateFormat(self.format).problems()
        if found:
            return found
        if self._last <= self.start:
            return [f"low={self.low} must be before high={self.high}."]
        if self.ticks < 1:
            return [f"step={self.step} is longer than the time from {self.low} to {self.high}."]
        return []

    @cached_property
    def start(self) -> int:
        """The first tick, in microseconds since 1970."""
        return _moment(self.low) or 0

    @cached_property
    def _last(self) -> int:
        day = len(self.high) == len("2024-12-31")
        return (_moment(self.high) or 0) + (DAY - 1 if day else 0)

    @cached_property
    def length(self) -> int:
        """Of a tick, in microseconds."""
        return step_length(self.step) or 1

    @property
    def whole_days(self) -> bool:
        """Whether every tick is midnight, so that decoded values are dates."""
        return self.whole(DAY)

    def accepts(self, kind: pa.DataType) -> bool:
        """See `Column`."""
        if self.format is None:
            return cells.is_moment(kind) or cells.is_text(kind)
        # 20241231 is a number in many tables.  No points in time: one word among them would make
        # text of all, which is then read by the format.
        return cells.is_text(kind) or cells.is_number(kind)

    def read(self, array: pa.Array) -> Reading:
        """See `Column`."""
        array = self.present(array)
        if self.format is not None:
            array = DateFormat(self.format).read(array)
        return self.reading(cells.moments(array), unreadable=NOT_A_DATE, clamp=self.clamp)

    def write(self, values: np.ndarray, missing: np.ndarray | None) -> pa.Array:
        """See `Column`."""
        micro = self.moments(values)
        if self.whole_days:
            days = pa.array((micro // DAY).astype(np.int32), pa.int32(), mask=missing)
            return days.view(pa.date32())
        return pa.array(micro, pa.int64(), mask=missing).view(pa.timestamp("us"))

    def formatted(self, array: pa.Array) -> pa.Array:
        """See `Column`."""
        return array if self.format is None else DateFormat(self.format).write(array)

    @property
    def ticks(self) -> int:
        """See `Column`."""
        return (self._last - self.start) // self.length

    @property
    def rounds(self) -> tuple[tuple[int, int], ...]:
        """See `Column`; of many days, the seven days of the week."""
        if self.whole_days and self.length == DAY:
            return tuple((WEEK, day) for day in range(WEEK)) if self.stretch > 1 else ()
        return self.round_times()

    @property
    def day(self) -> int | None:
        """See `Column`."""
        days = self.whole_days and self.length == DAY and WEEKLY <= self.ticks < LONGEST
        return self.start // DAY if days else None

    @property
    def stretch(self) -> int:
        """See `Column`: a week of many days, half an hour of a day."""
        if self.whole_days and self.length == DAY:
            return WEEK if self.ticks >= WEEKLY else 1
        return self.half_hours()


def iso_day(day: int) -> str:
    """A day, counted from 1970, as ISO text."""
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=day)).isoformat()


def _as_iso(value: Any) -> Any:
    """A date or time as ISO text in UTC; anything else is left for `problems` to report."""
    if isinstance(value, str):
        text = value.strip()
        try:
            if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
                return datetime.date.fromisoformat(text).isoformat()
            if not re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d", text):
                return value
            value = datetime.datetime.fromisoformat(text)
        except ValueError:
            return value
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        return value.isoformat()
    return value.isoformat() if isinstance(value, datetime.date) else value


def _moment(value: Any) -> int | None:
    """Microseconds since 1970 of ISO text as `_as_iso` writes it."""
    try:
        moment = datetime.datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
