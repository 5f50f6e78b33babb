"""Where the ticks of an axis are and what they say: round numbers, evenly spaced, alike in form."""

import datetime
import math
from itertools import pairwise
from typing import Any

from nacre.schema import Column, Datetime, Integer, Real

STEPS = [1, 2, 2.5, 5, 10]
MOST = 5  # intervals; more crowd a small figure
# What a number's thousands are called where they would take too much room.
LARGE = ((1e12, " tn"), (1e9, " bn"), (1e6, " m"))


def share_axis(axis: Any) -> None:
    """Shares in percent, with as many digits as their steps need."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(MOST - 1, steps=STEPS))
    axis.set_major_formatter(lambda value, _: f"{100 * value:.6g}%")


def value_axis(axis: Any, column: Column, low: float, high: float) -> None:
    """The values of a number or time on an axis that runs over units, 0 its `low`, 1 its `high`."""
    if isinstance(column, Datetime):
        places, names = _times(column, low, high)
    elif isinstance(column, Integer | Real):
        places, names = _numbers(column, low, high)
    else:
        return
    axis.set_ticks(places, names)


def _numbers(column: Integer | Real, low: float, high: float) -> tuple[list[float], list[str]]:
    from matplotlib.ticker import MaxNLocator

    start, span = float(column.low), float(column.high) - float(column.low)
    locator = MaxNLocator(MOST, steps=STEPS, integer=isinstance(column, Integer))
    edges = (start + low * span, start + high * span)
    values = [float(v) for v in locator.tick_values(*edges) if edges[0] <= v <= edges[1]]
    return [(value - start) / span for value in values], number_names(values)


def number_names(values: list[float]) -> list[str]:
    """Numbers written alike: as many decimals as the steps between them need.

    Example:
        >>> number_names([0.0, 0.5, 1.0]), number_names([0.0, 5e5, 1e6, 1.5e6])
        (['0.0', '0.5', '1.0'], ['0', '500,000', '1,000,000', '1,500,000'])
        >>> number_names([0.0, 2e7, 4e7]), number_names([-5.0, 0.0])
        (['0', '20 m', '40 m'], ['−5', '0'])
    """
    largest = max(map(abs, values), default=0.0)
    unit, name = next(((u, n) for u, n in LARGE if largest >= 10 * u), (1.0, ""))
    scaled = [value / unit for value in values]
    gaps = [b - a for a, b in pairwise(scaled) if b > a]
    step = min(gaps, default=max(map(abs, scaled), default=1.0)) or 1.0
    if not 1e-6 < step < 1e6:
        return [f"{value:.2g}" for value in values]
    decimals = next(d for d in range(8) if math.isclose(step * 10**d, round(step * 10**d)))
    return [
        f"{value:,.{decimals}f}".replace("-", "−") + (name if value else "") for value in scaled
    ]


def _times(column: Datetime, low: float, high: float) -> tuple[list[float], list[str]]:
    from matplotlib.dates import AutoDateLocator, num2date

    first, last = (_moment(text) for text in (column.low, column.high))
    span = (last - first) or datetime.timedelta(days=1)
    edges = [first + min(max(unit, 0), 1) * span for unit in (low, high)]
    try:
        found = AutoDateLocator(minticks=2, maxticks=MOST).tick_values(*edges)
        moments = [num2date(place).replace(tzinfo=None) for place in found]
    except (ValueError, OverflowError):  # at the ends of the calendar
        moments = edges
    moments = [moment for moment in moments if edges[0] <= moment <= edges[1]]
    return [(moment - first) / span for moment in moments], time_names(moments)


def time_names(moments: list[datetime.datetime]) -> list[str]:
    """Times written alike: as short as all of them allow.

    Example:
        >>> time_names([datetime.datetime(2020, 1, 1), datetime.datetime(2022, 1, 1)])
        ['2020', '2022']
        >>> time_names([datetime.datetime(2020, 1, 1), datetime.datetime(2020, 4, 1)])
        ['Jan 2020', 'Apr 2020']
    """
    if all(moment.timetuple().tm_yday == 1 and not _hours(moment) for moment in moments):
        return [f"{moment.year}" for moment in moments]
    if all(moment.day == 1 and not _hours(moment) for moment in moments):
        return [f"{moment:%b} {moment.year}" for moment in moments]
    if not any(map(_hours, moments)):
        return [f"{moment.day} {moment:%b} {moment.year}" for moment in moments]
    return [f"{moment.day} {moment:%b} {moment:%H:%M}" for moment in moments]


def _hours(moment: datetime.datetime) -> bool:
    return moment.time() != datetime.time()


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=None)
