"""A noisy histogram as it left the vault, kept so that others can see how far noise may reach."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

MISSING = -1  # the place of a nullable number's cell for gaps


@dataclasses.dataclass(frozen=True, eq=False)
class Measurement:
    """Counts of rows in disjoint cells of one column, each with Gaussian noise of its own.

    Attributes:
        column: the column's name.
        low: (cells,) the first tick of each cell, or its code; MISSING for a number's gaps.
        high: (cells,) the last tick, included; equal to `low` for codes.
        counts: (cells,) the noisy counts, which may be negative.
        noise: their standard deviation; one for all, or (cells,) one for each.
    """

    column: str
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    counts: NDArray[np.float64]
    noise: float | NDArray[np.float64]

    def averaged(self, other: Measurement) -> Measurement:
        """This and another counting of the same cells, whose noise is another, by precision."""
        own, again = self.noise**-2, other.noise**-2
        counts = (self.counts * own + other.counts * again) / (own + again)
        return dataclasses.replace(self, counts=counts, noise=(own + again) ** -0.5)

    @property
    def total(self) -> float:
        """The noisy number of rows."""
        return float(self.counts.sum())

    @property
    def total_noise(self) -> float:
        """The standard deviation of `total`."""
        return float(np.sqrt(self.variance.sum()))

    @property
    def variance(self) -> NDArray[np.float64]:
        """(cells,) the square of each count's standard deviation."""
        return np.broadcast_to(np.square(self.noise), self.counts.shape).astype(np.float64)
