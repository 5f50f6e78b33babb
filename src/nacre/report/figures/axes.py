"""Axes of values and shares: Matplotlib's own ticks, few of them, written alike."""

from typing import Any

import numpy as np

from nacre.schema import Column, Integer, Time
from nacre.schema.columns.scale import Scale
from nacre.schema.columns.timed import DAY, Timed

STEPS = [1, 2, 2.5, 5, 10]
MOST = 5  # intervals; more crowd a small figure
LARGE = 10_000  # from here on thousands are written as k, millions as M
CLOSE = 1e-3  # values that differ by less than this share of themselves need every digit
# From days between ticks to how a moment is written.
TIMES = {365.0: "%Y", 30.0: "%b %Y", 1.0: "%d %b %Y", 1 / 24: "%d %b %H:%M", 1 / 86_400: "%H:%M:%S"}
CLOCKS = {1.0: "%H:%M", 1 / 86_400: "%H:%M:%S"}
CALENDAR = -719_162.0, 2_932_896.0  # the first and the last day that Python knows, from 1970


def on_axis(column: Column, units: Any) -> np.ndarray:
    """The values at places between 0 (the column's low) and 1 (its high); dates and times of day in
    days.

    Examples:
        >>> on_axis(Integer(low=10, high=30), [0, 0.5]).tolist()
        [10.0, 20.0]
    """
    low, high = (float(end) for end in (Scale(column).low, Scale(column).high))
    found = low + np.asarray(units, np.float64) * (high - low)
    return np.clip(found / DAY, *CALENDAR) if isinstance(column, Timed) else found


def share_axis(axis: Any) -> None:
    """Shares in percent, with as many digits as their steps need."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(MOST - 1, steps=STEPS))
    axis.set_major_formatter(lambda value, _: f"{100 * value:.6g}%")


def value_axis(axis: Any, column: Column) -> None:
    """Values of a number or date; the axis must have its limits."""
    from matplotlib.dates import AutoDateFormatter, AutoDateLocator
    from matplotlib.ticker import MaxNLocator

    if isinstance(column, Timed):
        locator = AutoDateLocator(minticks=2, maxticks=MOST)
        formatter = AutoDateFormatter(locator)
        formatter.scaled = CLOCKS if isinstance(column, Time) else TIMES
        axis.set_major_locator(locator)
        axis.set_major_formatter(formatter)
        return
    axis.set_major_locator(MaxNLocator(MOST, steps=STEPS, integer=isinstance(column, Integer)))
    write_numbers(axis)


def write_numbers(axis: Any) -> None:
    """Numbers with as many decimals as their steps need, large ones with k, M, G."""
    from matplotlib.ticker import EngFormatter, ScalarFormatter, StrMethodFormatter

    low, high = sorted(axis.get_view_interval())
    largest = max(abs(low), abs(high))
    if largest < LARGE:
        axis.set_major_formatter(ScalarFormatter(useOffset=False))
    elif high - low > CLOSE * largest:
        axis.set_major_formatter(EngFormatter())
    else:
        axis.set_major_formatter(StrMethodFormatter("{x:,.12g}"))
