"""Public cells of each column: where a mixture of products puts its probability.

A category's cells are its codes.  A number's are its ticks while there are few of them, otherwise
equal intervals with the two ends as cells of their own, since clamped and zero-inflated columns
pile up there.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from nacre.schema import Layout


@dataclasses.dataclass(frozen=True)
class Cells:
    """The cells of one number: cell j holds ticks low[j] to high[j] (both included)."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.low)

    def transform(self, frequencies: NDArray[np.float64], ticks: int) -> NDArray[np.complex128]:
        """E exp(i t u) over each cell, u uniform on its ticks in units of the range: [k, cells]."""
        t = frequencies[:, None] / max(ticks, 1)
        center, width = (self.low + self.high) / 2, self.high - self.low + 1
        # The mean of exp(i t u) over `width` equally spaced ticks (Dirichlet's kernel).
        half = t / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            kernel = np.sin(half * width) / (width * np.sin(half))
        kernel = np.where(np.abs(np.sin(half)) < 1e-12, 1.0, kernel)
        return np.asarray(np.exp(1j * t * center) * kernel)

    def cell_of(self, tick: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cell that each tick lies in."""
        return np.searchsorted(self.high, tick, side="left")

    def draw(self, cell: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """A tick for each given cell, uniform within it."""
        return rng.integers(self.low[cell], self.high[cell], endpoint=True)


def number_cells(ticks: int, *, most: int = 128, intervals: int = 64) -> Cells:
    """Each tick its own cell if there are at most `most`, otherwise `intervals` and two ends."""
    if ticks < most:
        every = np.arange(ticks + 1, dtype=np.int64)
        return Cells(every, every)
    edges = np.rint(np.linspace(1, ticks, intervals + 1)).astype(np.int64)
    return Cells(np.r_[0, edges[:-1], ticks], np.r_[0, edges[1:] - 1, ticks])


def layout_cells(layout: Layout) -> list[Cells]:
    """The cells of every number of a layout."""
    return [number_cells(number.ticks) for number in layout.numbers]
