"""Times of day between public bounds, encoded as steps since `low`."""

from __future__ import annotations

import dataclasses
import datetime
import re
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nacre.schema.columns import cells
from nacre.schema.columns.column import NOT_A_TIME, Reading, as_flag, settle, shown
from nacre.schema.columns.timed import DAY, STEPS, UNITS, Timed, step_length

FORMATS = {"%H:%M": len("18:30"), "%H:%M:%S": len("18:30:00")}


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Time(Timed):
    """Times of day from `low` to `high` in whole steps; tick = floor((x - low) / step).

    Without bounds they are all of the day: from 00:00 to its last step. Nothing goes on beyond
    midnight: 23:59 and 00:00 lie a day apart. Cells are read as 08:30, 8:30 and 08:30:00, and
    written with seconds only where the step has some, or where `format` says %H:%M:%S.
    With `clamp`, what lies beyond the bounds is meant to be cut to them, and nobody is warned.

    Examples:
        >>> Time(step="15min").high, Time(step="15min").ticks
        ('23:45', 95)
        >>> Time(low="8:00", high="18:00", step="1h").ticks
        10
    """

    type: ClassVar[str] = "time"
    low: str = "00:00"
    high: str | None = None
    step: str = "1min"
    format: str | None = None
    clamp: bool = False

    def __post_init__(self) -> None:
        low, high = _as_clock(self.low), _as_clock(self.high)
        if high is None:
            first, length = _since_midnight(low) or 0, step_length(self.step) or UNITS["min"]
            high = clock_text(first + (DAY - 1 - first) // length * length)
        settle(self, clamp=as_flag(self.clamp), low=low, high=high)

    def problems(self) -> list[str]:
        """See `Column`."""
        found = self.flag_problems()
        for name, value in (("low", self.low), ("high", self.high)):
            if _since_midnight(value) is None:
                found.append(f"{name}={shown(value)} must be a time of day such as 08:30.")
        if step_length(self.step) is None:
            found.append(f"step={shown(self.step)} {STEPS.format('1h, 15min, 1min, 1s')}")
        if self.format is not None and self.format not in FORMATS:
            found.append(f"format={shown(self.format)} must be {' or '.join(FORMATS)}.")
        if found:
            return found
        if self._last <= self.start:
            return [
                f"low={self.low} must be before high={self.high}. Times that go on beyond midnight "
                "need all of the day: leave out `low` and `high`."
            ]
        if self.ticks < 1:
            return [f"step={self.step} is longer than the time from {self.low} to {self.high}."]
        if self.format == "%H:%M" and not self.whole(UNITS["min"]):
            return ["format=%H:%M has no seconds, and `low` or `step` has. Say %H:%M:%S."]
        return []

    @cached_property
    def start(self) -> int:
        """See `Timed`."""
        return _since_midnight(self.low) or 0

    @cached_property
    def length(self) -> int:
        """See `Timed`."""
        return step_length(self.step) or 1

    @cached_property
    def _last(self) -> int:
        return _since_midnight(self.high) or 0

    @property
    def letters(self) -> int | None:
        """How many letters of 18:30:00 are written; None for all, with parts of a second."""
        return self.told if self.format is None else FORMATS[self.format]

    @property
    def told(self) -> int | None:
        """How many of these letters differ between values."""
        if not self.whole(UNITS["s"]):
            return None
        return FORMATS["%H:%M" if self.whole(UNITS["min"]) else "%H:%M:%S"]

    def accepts(self, kind: pa.DataType) -> bool:
        """See `Column`."""
        return cells.is_clock(kind) or cells.is_text(kind)

    def read(self, array: pa.Array) -> Reading:
        """See `Column`."""
        found = cells.clocks(self.present(array))
        return self.reading(found, unreadable=NOT_A_TIME, clamp=self.clamp)

    def write(self, values: np.ndarray, missing: np.ndarray | None) -> pa.Array:
        """See `Column`."""
        micro = self.moments(values)
        if self.whole(UNITS["s"]):
            seconds = (micro // UNITS["s"]).astype(np.int32)
            return pa.array(seconds, pa.int32(), mask=missing).view(pa.time32("s"))
        return pa.array(micro, pa.int64(), mask=missing).view(pa.time64("us"))

    def formatted(self, array: pa.Array) -> pa.Array:
        """See `Column`; beside a word for "missing" it is text, too."""
        if self.format is None and not any(self.missing[:1]):
            return array
        return pc.utf8_slice_codeunits(pc.cast(array, pa.string()), 0, self.letters)

    @property
    def ticks(self) -> int:
        """See `Column`."""
        return (self._last - self.start) // self.length

    @property
    def rounds(self) -> tuple[tuple[int, int], ...]:
        """See `Column`."""
        return self.round_times()

    @property
    def stretch(self) -> int:
        """See `Column`: half an hour."""
        return self.half_hours()


def clock_text(micro: int) -> str:
    """Microseconds since midnight as text, with seconds only where there are some.

    Examples:
        >>> clock_text(510 * UNITS["min"]), clock_text(UNITS["s"])
        ('08:30', '00:00:01')
    """
    return _short((datetime.datetime.min + datetime.timedelta(microseconds=int(micro))).time())


def _short(time: datetime.time) -> str:
    return time.isoformat("auto" if time.second or time.microsecond else "minutes")


def _as_clock(value: Any) -> Any:
    """A time of day as text; anything else is left for `problems` to report."""
    if isinstance(value, str) and re.match(cells.CLOCK, value.strip()):
        text = value.strip()
        value = datetime.time.fromisoformat(text if text[2] == ":" else f"0{text}")
    return _short(value) if isinstance(value, datetime.time) else value


def _since_midnight(value: Any) -> int | None:
    """Microseconds of text as `_as_clock` writes it."""
    found = re.match(cells.CLOCK, value) if isinstance(value, str) else None
    if found is None:
        return None
    time = datetime.datetime.combine(datetime.datetime.min, datetime.time.fromisoformat(value))
    return (time - datetime.datetime.min) // datetime.timedelta(microseconds=1)
