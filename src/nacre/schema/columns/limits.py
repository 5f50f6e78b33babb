"""What can be wrong with the bounds, steps and spikes of a column of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nacre.schema.columns.column import shown
from nacre.schema.columns.grid import Grid

if TYPE_CHECKING:
    from nacre.schema.columns.numeric import Integer, Real


def order_problems(low: Any, high: Any) -> list[str]:
    """Whether one bound is below the other."""
    return [] if low < high else [f"low={low} must be below high={high}."]


def is_positive(value: Any) -> bool:
    """Whether it is a finite number above 0."""
    return isinstance(value, float) and math.isfinite(value) and value > 0


def step_problems(column: Integer | Real, grid: Grid) -> list[str]:
    """Whether `high` is so many steps above `low`."""
    length = round(column.high * grid.unit) - grid.first
    whole, rest = divmod(length, grid.step)
    if not rest:
        return []
    if not whole:
        return [f"step={column.step} is wider than the range, low={column.low} to {column.high}."]
    wider = (grid.first + (whole + 1) * grid.step) / grid.unit
    return [
        f"high={column.high} is not a whole number of steps of {column.step} above "
        f"low={column.low}. Say high={wider:g}, or another low or step."
    ]


def spike_problems(column: Integer | Real, grid: Grid | None) -> list[str]:
    """Whether each spike is a value of the column."""
    spikes: Any = column.spikes
    if not isinstance(spikes, tuple):
        return [f"spikes={shown(spikes)} must be a list of numbers, such as [0, 999]."]
    found = []
    for value in spikes:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value):
            found.append(f"spike {shown(value)} must be a number.")
        elif not column.low <= value <= column.high:
            found.append(
                f"spike {value} lies outside low={column.low} to high={column.high}. Widen the "
                "bounds if that is public, or remove it."
            )
        elif grid is not None and grid.tick(value, column.ticks) is None:
            found.append(f"spike {value} is no value of the column: it lies between two steps.")
    return found


def inner_ticks(values: Sequence[float], grid: Grid, ticks: int) -> tuple[int, ...]:
    """The ticks of some values, those aside that are no value or one of the two ends."""
    found = dict.fromkeys(grid.tick(value, ticks) for value in values)
    return tuple(tick for tick in found if tick is not None and 0 < tick < ticks)
