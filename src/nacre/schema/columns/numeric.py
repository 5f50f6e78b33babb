"""Whole and real numbers between public bounds, encoded as integer ticks above `low`."""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
import pyarrow as pa

from nacre.schema.columns import cells
from nacre.schema.columns.column import (
    NOT_A_NUMBER,
    NOT_WHOLE,
    OUT_OF_RANGE,
    Column,
    Reading,
    as_number,
    as_whole,
    settle,
    shown,
)

LARGEST_INTEGER = 2**53 - 1  # float64, and so JSON and most tools, hold integers up to here
REAL_TICKS = 2**30  # without `decimals`: an error of half a billionth of the range
DIGITS = 15  # so many decimal digits survive float64
# NumPy warns of overflows and of signaling NaNs, and so would tell that a row has one.
quiet = np.errstate(all="ignore")


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Integer(Column):
    """Whole numbers from `low` to `high`; tick = x - low, exact.

    Examples:
        >>> Integer(low=17, high=90).ticks
        73
    """

    type: ClassVar[str] = "integer"
    low: int
    high: int

    def __post_init__(self) -> None:
        settle(self, low=as_whole(self.low), high=as_whole(self.high))

    def problems(self) -> list[str]:
        """See `Column`."""
        found = self.flag_problems()
        for name, value in (("low", self.low), ("high", self.high)):
            if not isinstance(value, int) or isinstance(value, bool):
                found.append(f"{name}={shown(value)} must be a whole number.")
            elif abs(value) > LARGEST_INTEGER:
                found.append(
                    f"{name}={shown(value)} is beyond 2^53 - 1, where whole numbers stop being "
                    "exact. Give a nearer bound, or make the column categorical."
                )
        return found or _order(self.low, self.high)

    def accepts(self, kind: pa.DataType) -> bool:
        """See `Column`."""
        return cells.is_number(kind) or cells.is_text(kind)

    @quiet
    def read(self, array: pa.Array) -> Reading:
        """See `Column`."""
        values, missing, unreadable = cells.numbers(array)
        clamped, outside = _clamp(values, self.low, self.high)
        whole = np.rint(clamped)
        return Reading.of_ticks(
            whole.astype(np.int64) - self.low,
            missing=missing,
            unreadable={NOT_A_NUMBER: unreadable},
            changed={OUT_OF_RANGE: outside, NOT_WHOLE: whole != clamped},
            nullable=self.nullable,
        )

    def write(self, values: np.ndarray, missing: np.ndarray | None) -> pa.Array:
        """See `Column`."""
        return pa.array(values + self.low, pa.int64(), mask=missing)

    @property
    def ticks(self) -> int:
        """See `Column`."""
        return self.high - self.low

    @property
    def zero(self) -> int:
        """See `Column`."""
        return _zero(self.low, self.high, self.ticks)

    @property
    def size(self) -> None:
        """See `Column`."""
        return


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Real(Column):
    """Real numbers from `low` to `high`.

    With `decimals` a tick is one unit of the last decimal and the round trip is exact;
    without, the range has 2^30 ticks.

    Examples:
        >>> Real(low=0, high=1, decimals=2).ticks
        100
    """

    type: ClassVar[str] = "real"
    low: float
    high: float
    decimals: int | None = None

    def __post_init__(self) -> None:
        decimals = self.decimals if self.decimals is None else as_whole(self.decimals)
        settle(self, low=as_number(self.low), high=as_number(self.high), decimals=decimals)

    def problems(self) -> list[str]:
        """See `Column`."""
        found = self.flag_problems()
        for name, value in (("low", self.low), ("high", self.high)):
            if not isinstance(value, float) or not math.isfinite(value):
                found.append(f"{name}={shown(value)} must be a finite number.")
        found = found or _order(self.low, self.high) or self._width()
        if self.decimals is None:
            return found
        if not isinstance(self.decimals, int) or not 0 <= self.decimals <= DIGITS:
            return [*found, f"decimals={shown(self.decimals)} must be a number from 0 to {DIGITS}."]
        return found or [p for name in ("low", "high") for p in self._grid(name)]

    def _width(self) -> list[str]:
        if math.isfinite(self.high - self.low):
            return []
        return [f"the range from low={self.low} to high={self.high} is too wide. Narrow it."]

    def _grid(self, name: str) -> list[str]:
        value: float = getattr(self, name)
        if abs(value) * self._unit > 10**DIGITS:
            return [
                f"{name}={value} with decimals={self.decimals} needs more than {DIGITS} digits. "
                "Lower `decimals`, or leave it out."
            ]
        if np.rint(value * self._unit) / self._unit != value:
            return [
                f"{name}={value} has more than decimals={self.decimals} decimals. "
                f"Round {name} outward, or raise `decimals`."
            ]
        return []

    @cached_property
    def _unit(self) -> float:
        return float(10 ** (self.decimals or 0))

    @cached_property
    def _first(self) -> int:
        """The integer that tick 0 stands for, in units of the last decimal."""
        return int(np.rint(self.low * self._unit))

    def accepts(self, kind: pa.DataType) -> bool:
        """See `Column`."""
        return cells.is_number(kind) or cells.is_text(kind)

    @quiet
    def read(self, array: pa.Array) -> Reading:
        """See `Column`."""
        values, missing, unreadable = cells.numbers(array)
        if self.decimals is None:
            clamped, outside = _clamp(values, self.low, self.high)
            if pa.types.is_float32(array.type):  # 0.1 there is a little more than 0.1 here
                outside &= values.astype(np.float32) != clamped.astype(np.float32)
            ticks = np.rint((clamped - self.low) / (self.high - self.low) * REAL_TICKS)
            ticks = ticks.astype(np.int64)
        else:
            # Of the value itself, not of its distance to `low`, which is rounded already.
            units = np.rint(values * self._unit)
            units, outside = _clamp(units, self._first, self._first + self.ticks)
            ticks = units.astype(np.int64) - self._first
        return Reading.of_ticks(
            ticks,
            missing=missing,
            unreadable={NOT_A_NUMBER: unreadable},
            changed={OUT_OF_RANGE: outside},
            nullable=self.nullable,
        )

    def write(self, values: np.ndarray, missing: np.ndarray | None) -> pa.Array:
        """See `Column`."""
        if self.decimals is None:
            reals = self.low + values / REAL_TICKS * (self.high - self.low)
            reals = np.clip(reals, self.low, self.high)
        else:
            reals = (values + self._first) / self._unit
        return pa.array(reals, pa.float64(), mask=missing)

    @property
    def ticks(self) -> int:
        """See `Column`."""
        if self.decimals is None:
            return REAL_TICKS
        return int(np.rint(self.high * self._unit)) - self._first

    @property
    def zero(self) -> int:
        """See `Column`."""
        return _zero(self.low, self.high, self.ticks)

    @property
    def size(self) -> None:
        """See `Column`."""
        return


def _order(low: Any, high: Any) -> list[str]:
    return [] if low < high else [f"low={low} must be below high={high}."]


def _clamp(values: np.ndarray, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Values within the bounds, NaN at `low`, and where the bounds were passed."""
    outside = (values < low) | (values > high)
    return np.fmin(np.fmax(values, low), high), outside


def _zero(low: float, high: float, ticks: int) -> int:
    """The tick nearest to the value 0."""
    return round(min(max(-low / (high - low), 0), 1) * ticks)
