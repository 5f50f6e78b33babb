"""An axis that is stretched where most values are, for numbers with a long tail."""

import dataclasses
import math
from typing import Any

import numpy as np

from nacre.report.figures.ticks import number_names
from nacre.schema import Integer, Real

BINS = 40
CROWDED = 0.5  # the share of the rows in one of the equal bins, above which they show nothing
APART = 0.17  # of the axis, from one tick to the next


@dataclasses.dataclass(frozen=True)
class Warp:
    """Straight within `width` of `center`, logarithmic beyond.

    Example:
        >>> warp = Warp(center=0.0, width=1.0)
        >>> bool(np.isclose(warp.inverse(warp.forward(50.0)), 50.0))
        True
    """

    center: float
    width: float

    def forward(self, values: Any) -> Any:
        """From a value to its place on the axis."""
        return np.arcsinh((np.asarray(values, float) - self.center) / self.width)

    def inverse(self, places: Any) -> Any:
        """From a place on the axis to its value."""
        return self.center + self.width * np.sinh(np.asarray(places, float))

    def edges(self, low: float, high: float, ticks: int) -> np.ndarray:
        """Bins as wide as each other on the axis, half a tick off every possible value."""
        places = np.linspace(self.forward(low), self.forward(high), BINS + 1)
        return np.unique((np.rint(self.inverse(places) * ticks) - 0.5) / ticks)

    def mark(self, axis: Any, column: Integer | Real, low: float, high: float) -> None:
        """Round numbers along an axis that runs over units, 0 the column's `low`, 1 its `high`."""
        start, span = float(column.low), float(column.high) - float(column.low)
        first, last = (float(self.forward(end)) for end in (low, high))
        chosen: dict[float, float] = {}
        for value in _round_numbers(start + low * span, start + high * span):
            place = (float(self.forward((value - start) / span)) - first) / (last - first)
            if 0 <= place <= 1 and all(abs(place - other) >= APART for other in chosen.values()):
                chosen[value] = place
        values = sorted(chosen)
        axis.set_ticks([(value - start) / span for value in values], number_names(values))


def warp_for(real: np.ndarray, edges: np.ndarray) -> Warp | None:
    """The axis for these values, if equal bins would put most of them in one."""
    if len(real) < BINS or len(edges) < 3:
        return None
    fullest = np.histogram(real, edges)[0].max() / len(real)
    quarter, middle, three = (float(q) for q in np.quantile(real, (0.25, 0.5, 0.75)))
    if fullest <= CROWDED or not quarter < middle < three:
        return None
    return Warp(middle, (three - quarter) / 2)


def _round_numbers(low: float, high: float) -> list[float]:
    """Numbers between two that people like to see, the roundest and largest first.

    Example:
        >>> _round_numbers(0, 3000)[:6]
        [0.0, 1000.0, 100.0, 10.0, 1.0, 0.1]
    """
    largest = max(abs(low), abs(high))
    top = math.floor(math.log10(largest)) if largest else 0
    sizes = [
        lead * 10.0**power if power >= 0 else lead / 10.0**-power
        for lead in (1, 5, 2)
        for power in range(top, top - 6, -1)
    ]
    return [v for v in (0.0, *(s * size for size in sizes for s in (1, -1))) if low <= v <= high]
