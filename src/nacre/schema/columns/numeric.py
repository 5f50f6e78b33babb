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
    OFF_STEP,
    OUT_OF_RANGE,
    Column,
    Reading,
    as_flag,
    as_number,
    as_whole,
    settle,
    shown,
)
from nacre.schema.columns.grid import COMMON, DIGITS, Grid, dense_tick, digits, endings
from nacre.schema.columns.limits import (
    inner_ticks,
    is_positive,
    order_problems,
    spike_problems,
    step_problems,
)

LARGEST_INTEGER = 2**53 - 1  # float64, and so JSON and most tools, hold integers up to here
REAL_TICKS = 2**30  # without `decimals`: an error of half a billionth of the range
# NumPy warns of overflows and of signaling NaNs, and so would tell that a row has one.
quiet = np.errstate(all="ignore")


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Integer(Column):
    """Whole numbers from `low` to `high`, each `step` from the last; tick = (x - low) / step.

    `spikes` are values that many rows are known to share; methods keep them apart from others.
    With `clamp`, what lies beyond the bounds is meant to be cut to them, and nobody is warned.

    Examples:
        >>> Integer(low=17, high=90).ticks
        73
        >>> Integer(low=0, high=100_000, step=100).ticks
        1000
    """

    type: ClassVar[str] = "integer"
    low: int
    high: int
    step: int = 1
    spikes: tuple[int, ...] = ()
    clamp: bool = False

    def __post_init__(self) -> None:
        spikes = _listed(self.spikes, as_whole)
        settle(
            self,
            low=as_whole(self.low),
            high=as_whole(self.high),
            step=as_whole(self.step),
            spikes=spikes,
            clamp=as_flag(self.clamp),
        )

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
        if not isinstance(self.step, int) or isinstance(self.step, bool) or self.step < 1:
            found.append(f"step={shown(self.step)} must be a whole number from 1.")
        found = found or order_problems(self.low, self.high)
        return found or step_problems(self, self.grid) or spike_problems(self, self.grid)

    @cached_property
    def grid(self) -> Grid:
        """The numbers that ticks stand for."""
        return Grid(self.low, self.step, 0)

    def accepts(self, kind: pa.DataType) -> bool:
        """See `Column`."""
        return cells.is_number(kind) or cells.is_text(kind)

    @quiet
    def read(self, array: pa.Array) -> Reading:
        """See `Column`."""
        array = self.present(array)
        units = _within(array, self.low, self.high) if pa.types.is_integer(array.type) else None
        if units is not None:
            units = units.astype(np.int64)
            missing = unreadable = outside = broken = np.zeros(len(units), bool)
        else:
            values, missing, unreadable = cells.numbers(array)
            clamped, outside = _clamp(values, self.low, self.high)
            whole = np.rint(clamped)
            units, broken = whole.astype(np.int64), whole != clamped
        ticks = self.grid.ticks(units)
        changed = {NOT_WHOLE: broken}
        if not self.clamp:
            changed = {OUT_OF_RANGE: outside, **changed}
        if self.step > 1:
            changed[OFF_STEP] = self.grid.units(ticks) != units
        return Reading.of_ticks(
            ticks,
            missing=missing,
            unreadable={NOT_A_NUMBER: unreadable},
            changed=changed,
            nullable=self.nullable,
        )

    def write(self, values: np.ndarray, missing: np.ndarray | None) -> pa.Array:
        """See `Column`."""
        return pa.array(self.grid.units(np.asarray(values, np.int64)), pa.int64(), mask=missing)

    @property
    def ticks(self) -> int:
        """See `Column`."""
        return (self.high - self.low) // self.step

    @property
    def zero(self) -> int:
        """See `Column`."""
        return dense_tick(0, self.low, self.high, self.ticks)

    @property
    def spike_ticks(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """See `Column`."""
        ticks = [inner_ticks(some, self.grid, self.ticks) for some in (self.spikes, COMMON)]
        return ticks[0], ticks[1]

    @property
    def rounds(self) -> tuple[tuple[int, int], ...]:
        """See `Column`."""
        return endings(self.grid.first, self.grid.step, self.ticks)

    @property
    def size(self) -> None:
        """See `Column`."""
        return


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Real(Column):
    """Real numbers from `low` to `high`.

    With `decimals` a tick is one unit of the last decimal, with `step` one step from `low`, and
    the round trip is exact; without either, the range has 2^30 ticks.  `spikes` are values that
    many rows are known to share; methods keep them apart from others.  With `clamp`, what lies
    beyond the bounds is meant to be cut to them, and nobody is warned.

    Examples:
        >>> Real(low=0, high=1, decimals=2).ticks
        100
        >>> Real(low=0, high=10, step=0.25).ticks
        40
    """

    type: ClassVar[str] = "real"
    low: float
    high: float
    decimals: int | None = None
    step: float | None = None
    spikes: tuple[float, ...] = ()
    clamp: bool = False

    def __post_init__(self) -> None:
        decimals = self.decimals if self.decimals is None else as_whole(self.decimals)
        settle(
            self,
            low=as_number(self.low),
            high=as_number(self.high),
            decimals=decimals,
            step=self.step if self.step is None else as_number(self.step),
            spikes=_listed(self.spikes, as_number),
            clamp=as_flag(self.clamp),
        )

    def problems(self) -> list[str]:
        """See `Column`."""
        found = self.flag_problems()
        for name, value in (("low", self.low), ("high", self.high)):
            if not isinstance(value, float) or not math.isfinite(value):
                found.append(f"{name}={shown(value)} must be a finite number.")
        found = found or order_problems(self.low, self.high) or self._width()
        whole = isinstance(self.decimals, int) and 0 <= self.decimals <= DIGITS
        if self.decimals is not None and not whole:
            found.append(f"decimals={shown(self.decimals)} must be a number from 0 to {DIGITS}.")
        if self.step is not None and not is_positive(self.step):
            found.append(f"step={shown(self.step)} must be a number above 0.")
        if self.step is not None or self.decimals is not None:
            found = found or [p for name in ("low", "high", "step") for p in self._digits(name)]
            found = found or (step_problems(self, self._grid) if self.step is not None else [])
        return found or spike_problems(self, self.grid)

    def _width(self) -> list[str]:
        if math.isfinite(self.high - self.low):
            return []
        return [f"the range from low={self.low} to high={self.high} is too wide. Narrow it."]

    def _digits(self, name: str) -> list[str]:
        """Whether a number has a place on the grid, within what float64 can hold."""
        value: float | None = getattr(self, name)
        decimals = self._decimals
        if value is None:
            return []
        if decimals > DIGITS or abs(value) * 10**decimals > 10**DIGITS:
            given = self.decimals is not None
            said = f"decimals={self.decimals}" if given else f"step={self.step}"
            advice = "Lower `decimals`, or leave it out." if given else "Round `step`."
            return [f"{name}={value} with {said} needs more than {DIGITS} digits. {advice}"]
        if np.rint(value * 10**decimals) / 10**decimals != value:
            outward = f"Round {name} outward" if name != "step" else "Round `step`"
            return [
                f"{name}={value} has more than decimals={self.decimals} decimals. "
                f"{outward}, or raise `decimals`."
            ]
        return []

    @cached_property
    def _decimals(self) -> int:
        if self.decimals is not None or self.step is None:
            return self.decimals or 0
        return max(digits(self.low), digits(self.high), digits(self.step))

    @cached_property
    def _grid(self) -> Grid:
        unit = 10**self._decimals
        step = 1 if self.step is None else int(np.rint(self.step * unit))
        return Grid(int(np.rint(self.low * unit)), step, self._decimals)

    @property
    def grid(self) -> Grid | None:
        """The numbers that ticks stand for; None if there are too many to be written down."""
        return None if self.decimals is None and self.step is None else self._grid

    def accepts(self, kind: pa.DataType) -> bool:
        """See `Column`."""
        return cells.is_number(kind) or cells.is_text(kind)

    @quiet
    def read(self, array: pa.Array) -> Reading:
        """See `Column`."""
        array = self.present(array)
        found = _within(array, self.low, self.high)
        if found is not None:
            values = found.astype(np.float64)
            missing = unreadable = outside = np.zeros(len(values), bool)
        else:
            values, missing, unreadable = cells.numbers(array)
        grid, changed = self.grid, {}
        if grid is None:
            clamped = values
            if found is None:
                clamped, outside = _clamp(values, self.low, self.high)
                if pa.types.is_float32(array.type):  # 0.1 there is a little more than 0.1 here
                    outside &= values.astype(np.float32) != clamped.astype(np.float32)
            share = clamped - self.low
            share /= self.high - self.low
            share *= REAL_TICKS
            ticks = np.rint(share, out=share).astype(np.int64)
        else:
            # Of the value itself, not of its distance to `low`, which is rounded already.
            near = np.rint(values * float(grid.unit))
            if found is None:  # rounding keeps the order, so what was within is so still
                near, outside = _clamp(near, grid.first, grid.first + grid.step * self.ticks)
            units = near.astype(np.int64)
            ticks = grid.ticks(units)
            if grid.step > 1:
                changed = {OFF_STEP: grid.units(ticks) != units}
        return Reading.of_ticks(
            ticks,
            missing=missing,
            unreadable={NOT_A_NUMBER: unreadable},
            changed=changed if self.clamp else {OUT_OF_RANGE: outside, **changed},
            nullable=self.nullable,
        )

    def write(self, values: np.ndarray, missing: np.ndarray | None) -> pa.Array:
        """See `Column`."""
        values = np.asarray(values, np.int64)
        if self.grid is not None:
            return pa.array(self.grid.values(values), pa.float64(), mask=missing)
        reals = self.low + values / REAL_TICKS * (self.high - self.low)
        reals = np.clip(reals, self.low, self.high)
        for tick, value in self._exact.items():  # a spike is the number itself, not near it
            reals[values == tick] = value
        return pa.array(reals, pa.float64(), mask=missing)

    @cached_property
    def _exact(self) -> dict[int, float]:
        """Of a dense column, the spikes by tick."""
        inside = [value for value in (*COMMON, *self.spikes) if self.low < value < self.high]
        return {self._tick(value): float(value) for value in inside}

    def _tick(self, value: float) -> int:
        return dense_tick(value, self.low, self.high, REAL_TICKS)

    @property
    def ticks(self) -> int:
        """See `Column`."""
        if self.grid is None:
            return REAL_TICKS
        return (int(np.rint(self.high * self.grid.unit)) - self.grid.first) // self.grid.step

    @property
    def zero(self) -> int:
        """See `Column`."""
        return dense_tick(0, self.low, self.high, self.ticks)

    @property
    def spike_ticks(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """See `Column`."""
        if self.grid is not None:
            ticks = [inner_ticks(some, self.grid, self.ticks) for some in (self.spikes, COMMON)]
            return ticks[0], ticks[1]
        stated = {self._tick(value) for value in self.spikes}
        return tuple(stated & set(self._exact)), tuple(self._exact)

    @property
    def rounds(self) -> tuple[tuple[int, int], ...]:
        """See `Column`; nothing is known of numbers without decimals or a step."""
        if self.grid is None:
            return ()
        return endings(self.grid.first, self.grid.step, self.ticks)

    @property
    def size(self) -> None:
        """See `Column`."""
        return


def _clamp(values: np.ndarray, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Values within the bounds, NaN at `low`, and where the bounds were passed."""
    outside = (values < low) | (values > high)
    return np.fmin(np.fmax(values, low), high), outside


def _within(array: pa.Array, low: float, high: float) -> np.ndarray | None:
    """The numbers of a clean column as they stand: none is missing or out of bounds, else None.

    Most columns are clean, and what is there already need not be looked at cell by cell; a cell
    means the same either way.
    """
    kind = array.type
    plain = pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)
    if not plain or array.null_count or not len(array):
        return None
    values = np.asarray(array.to_numpy(zero_copy_only=False))
    # As numbers of Python, which compare exactly; a NaN is the least and within nothing.
    return values if low <= values.min().item() and values.max().item() <= high else None


def _listed(values: Any, convert: Any) -> Any:
    """A list as a tuple of numbers; anything else is left for `problems` to report."""
    if not isinstance(values, list | tuple):
        return values
    return tuple(dict.fromkeys(convert(value) for value in values if not isinstance(value, list)))
