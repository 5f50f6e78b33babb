"""An axis that is stretched where most values are, for numbers with a long tail."""

import dataclasses
from typing import Any

import numpy as np

from nacre.report.figures.axes import write_numbers

BINS = 40
CROWDED = 0.5  # the share of the rows in one of the equal bins, above which they show nothing
TICKS = 5


@dataclasses.dataclass(frozen=True)
class Warp:
    """Straight within `width` of `center`, logarithmic beyond.

    Matplotlib's own `asinh` scale has its center at 0; values with a tail may lie anywhere.

    Examples:
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

    def evenly(self, low: float, high: float, count: int) -> np.ndarray:
        """Values that are as far from each other on the axis, both ends among them."""
        return np.asarray(
            self.inverse(np.linspace(self.forward(low), self.forward(high), count)), np.float64
        )

    def ticks(self, low: float, high: float) -> np.ndarray:
        """Round values about as far from each other on the axis.

        Examples:
            >>> Warp(center=2000.0, width=1500.0).ticks(0.0, 200_000.0).tolist()
            [0.0, 2000.0, 8000.0, 30000.0, 200000.0]
        """
        values = self.evenly(low, high, TICKS)
        gaps = np.diff(values)
        nearest = np.minimum(np.append(gaps, gaps[-1]), np.append(gaps[0], gaps))
        unit = 10.0 ** np.floor(np.log10(nearest))
        found = np.unique(np.trunc(values / unit) * unit) + 0.0  # no tick at minus zero
        return found[(found >= low) & (found <= high)]

    def apply(self, axes: Any) -> None:
        """Stretch the axis of x, whose limits are set, and mark it."""
        low, high = axes.get_xlim()
        axes.set_xscale("function", functions=(self.forward, self.inverse))
        axes.set_xlim(low, high)
        axes.minorticks_off()
        axes.set_xticks(self.ticks(low, high))
        write_numbers(axes.xaxis)


def warp_for(real: np.ndarray, edges: np.ndarray) -> Warp | None:
    """The axis for these values, if equal bins would put most of them in one."""
    if len(real) < BINS or len(edges) < 3:
        return None
    fullest = np.histogram(real, edges)[0].max() / len(real)
    quarter, middle, three = (float(q) for q in np.quantile(real, (0.25, 0.5, 0.75)))
    if fullest <= CROWDED or not quarter < middle < three:
        return None
    return Warp(middle, (three - quarter) / 2)
