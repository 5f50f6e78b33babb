"""What dates and times of day have in common: whole steps of time from a first moment on."""

from __future__ import annotations

import abc
import dataclasses
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.schema.columns.column import OUT_OF_RANGE, Column, Reading
from nacre.schema.columns.grid import lattices

DAY = 86_400_000_000
UNITS = {"us": 1, "ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": DAY}
UNITS["w"] = 7 * DAY
HALF_HOUR = 30 * UNITS["min"]
# What people round times to, each a multiple of the one before.
ROUND = (10**3, 10**6, *(minutes * UNITS["min"] for minutes in (1, 5, 15, 30)), UNITS["h"], DAY)
STEPS = "must be a number and a unit, such as {}."


@dataclasses.dataclass(frozen=True, kw_only=True)
class Timed(Column):
    """A column whose tick t stands for `start` + t * `length`, in microseconds."""

    @property
    @abc.abstractmethod
    def start(self) -> int:
        """The first tick, in microseconds since 1970, or since midnight."""

    @property
    @abc.abstractmethod
    def length(self) -> int:
        """Of a tick, in microseconds."""

    @property
    @abc.abstractmethod
    def ticks(self) -> int:
        """See `Column`."""

    @property
    def size(self) -> None:
        """See `Column`."""
        return

    def whole(self, unit: int) -> bool:
        """Whether every tick is a whole number of so many microseconds."""
        return self.length % unit == 0 and self.start % unit == 0

    def moments(self, ticks: NDArray[np.integer]) -> NDArray[np.int64]:
        """What ticks stand for, in microseconds."""
        return self.start + np.asarray(ticks, np.int64) * self.length

    def first_from(self, moment: float) -> int:
        """The first tick that is not before a moment, or else the last one."""
        return min(-int((self.start - moment) // self.length), self.ticks)

    def reading(
        self,
        found: tuple[np.ndarray, np.ndarray, np.ndarray],
        *,
        unreadable: str,
        clamp: bool,
    ) -> Reading:
        """Cells in microseconds, with masks for those missing and unreadable, as ticks.

        Compared by tick: with step 1d, an evening of the last day is within the range.
        """
        values, missing, unread = found
        end = self.start + (self.ticks + 1) * self.length
        outside = ((values < self.start) | (values >= end)) & ~missing & ~unread
        return Reading.of_ticks(
            (np.clip(values, self.start, end - 1) - self.start) // self.length,
            missing=missing,
            unreadable={unreadable: unread},
            changed={} if clamp else {OUT_OF_RANGE: outside},
            nullable=self.nullable,
        )

    def round_times(self) -> tuple[tuple[int, int], ...]:
        """The ticks that people round to: full seconds, minutes, quarters of an hour, and so on."""
        return lattices(self.start, self.length, ROUND, self.ticks)

    def half_hours(self) -> int:
        """How many ticks half an hour has, where all ticks are of one day."""
        within = (self.ticks + 1) * self.length <= DAY
        return max(1, HALF_HOUR // self.length) if within else 1


def step_length(step: Any) -> int | None:
    """Microseconds of a step such as "15min"; None if it is none."""
    found = re.fullmatch(r"([1-9]\d{0,8})\s*([a-z]+)", step) if isinstance(step, str) else None
    if found is None or found[2] not in UNITS:
        return None
    return int(found[1]) * UNITS[found[2]]
