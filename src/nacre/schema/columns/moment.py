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
from nacre.schema.columns.column import (
    NOT_A_DATE,
    OUT_OF_RANGE,
    Column,
    Reading,
    as_flag,
    settle,
    shown,
)
from nacre.schema.columns.date_format import DateFormat
from nacre.schema.columns.grid import lattices

DAY = 86_400_000_000
UNITS = {"us": 1, "ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": DAY}
WEEK = 7
UNITS["w"] = WEEK * DAY
HALF_HOUR = 30 * UNITS["min"]
WEEKLY = 26 * WEEK  # of so many days, what is told apart is weeks, and the days of all of them
# What people round times to, each a multiple of the one before.
ROUND = (10**3, 10**6, *(minutes * UNITS["min"] for minutes in (1, 5, 15, 30)), UNITS["h"], DAY)


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Datetime(Column):
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
        if _step(self.step) is None:
            found.append(
                f"step={shown(self.step)} must be a number and a unit, such as 1d, 1h, 15min, 1s."
            )
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
        return _step(self.step) or 1

    @property
    def whole_days(self) -> bool:
        """Whether every tick is midnight, so that decoded values are dates."""
        return self.whole(DAY)

    def whole(self, unit: int) -> bool:
        """Whether every tick is a whole number of so many microseconds since 1970."""
        return self.length % unit == 0 and self.start % unit == 0

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
        values, missing, unreadable = cells.moments(array)
        # Compared by tick: with step 1d, an evening of the last day is within the range.
        end = self.start + (self.ticks + 1) * self.length
        outside = ((values < self.start) | (values >= end)) & ~missing & ~unreadable
        ticks = (np.clip(values, self.start, end - 1) - self.start) // self.length
        return Reading.of_ticks(
            ticks,
            missing=missing,
            unreadable={NOT_A_DATE: unreadable},
            changed={} if self.clamp else {OUT_OF_RANGE: outside},
            nullable=self.nullable,
        )

    def write(self, values: np.ndarray, missing: np.ndarray | None) -> pa.Array:
        """See `Column`."""
        micro = self.start + values * self.length
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
        return lattices(self.start, self.length, ROUND, self.ticks)

    @property
    def stretch(self) -> int:
        """See `Column`: a week of many days, half an hour of a day."""
        if self.whole_days and self.length == DAY:
            return WEEK if self.ticks >= WEEKLY else 1
        within = (self.ticks + 1) * self.length <= DAY
        return max(1, HALF_HOUR // self.length) if within else 1

    @property
    def size(self) -> None:
        """See `Column`."""
        return


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


def _step(step: Any) -> int | None:
    """Microseconds of a step such as "15min"."""
    found = re.fullmatch(r"([1-9]\d{0,8})\s*([a-z]+)", step) if isinstance(step, str) else None
    if found is None or found[2] not in UNITS:
        return None
    return int(found[1]) * UNITS[found[2]]
