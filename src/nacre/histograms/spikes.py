"""Cells of one tick among wider ones: spikes where rows pile up, elsewhere like their neighbors.

Smoothing compares a cell with those beside it, so a narrow cell would look like a gap in every
smooth column, or would be filled up to a spike that is not there.  Spikes are set apart first, and
other narrow cells are counted with the lower one of their neighbors.
"""

from __future__ import annotations

import dataclasses
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.cells import Cells, CodeColumn, Column
from nacre.histograms.clean import SURE

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

APART = 3.0  # times what its neighbors make expect: so much a value must hold to stand out
FEWEST = 4  # cells of a number of which the ends may be set apart


@final
@dataclasses.dataclass(frozen=True)
class Parts:
    """One column's histogram (C, cells) in the order in which it is cleaned.

    Attributes:
        released: the whole histogram.
        ordered: cells that are smoothed along the column.
        sure: cells that keep their own counts: spikes, found or stated, and 'missing'.
        nothing: narrow cells that are no spikes: parts of the lower ones of their neighbors.
        whose: of which of the ordered cells each of these is a part.
        cell_widths: of all ordered and narrow cells.
    """

    released: Array
    ordered: Index
    sure: Index
    nothing: Index
    whose: Index
    cell_widths: Array

    @staticmethod
    def of(column: Column, released: Array, noise: float, pooled: float | None = None) -> Parts:
        """Those of a column whose counts have this noise, and their sums over classes `pooled`.

        That is the noise of so many counts, if it is not said.
        """
        pooled = noise * np.sqrt(len(released)) if pooled is None else pooled
        none = np.zeros(0, np.int64)
        if isinstance(column, CodeColumn):
            return Parts(released, none, np.arange(released.shape[1]), none, none, np.zeros(0))
        cells = column.cells
        narrow = _narrow_ends(cells.widths)
        if cells.spike is not None:
            narrow |= cells.spike >= 0
        missing = np.arange(cells.size, released.shape[1])
        ordered = np.flatnonzero(~narrow)
        places = np.flatnonzero(narrow)
        high = _stands_out(released, places, ordered, cells.widths, (noise, pooled))
        if cells.stated is not None:
            # That there are rows is public: how many, all of these counts tell together.
            high |= cells.stated[places]
        sure = np.r_[places[high], missing]
        whose = _lower(released, places[~high], ordered, cells.widths)
        return Parts(released, ordered, sure, places[~high], whose, cells.widths)

    @property
    def table(self) -> Array:
        """The cells that are to be cleaned: first those with `widths`."""
        found = self.released[:, np.r_[self.ordered, self.sure]]
        np.add.at(found.T, self.whose, self.released[:, self.nothing].T)
        return found

    @property
    def widths(self) -> Array:
        """Of the ordered cells, with those that are parts of them."""
        found = self.cell_widths[self.ordered]
        np.add.at(found, self.whose, self.cell_widths[self.nothing])
        return found

    @property
    def together(self) -> Array:
        """How many counts were added up for each of the ordered cells."""
        return np.asarray(1.0 + np.bincount(self.whose, minlength=len(self.ordered)))

    def join(self, cleaned: Array, known: Mask) -> Array:
        """The whole histogram, from `table` without its noise; rows are neither won nor lost.

        Beyond a spike, where no cell surely holds a row, there is no tail: it ends the range.  If
        no cell does anywhere, there are no tails, and rows are where they were counted together.
        """
        cleaned = cleaned.copy()
        end = len(self.ordered)
        before = cleaned[:, :end].sum(1, keepdims=True)
        spikes = self.sure[self.sure < len(self.cell_widths)] if known[:end].any() else ()
        for spike in spikes:
            for side in (self.ordered < spike, self.ordered > spike):
                if not known[:end][side].any():
                    cleaned[:, :end][:, side] = 0.0
        left = cleaned[:, :end].sum(1, keepdims=True)
        cleaned[:, :end] *= np.where(left > 0, before / np.maximum(left, 1e-12), 0.0)
        out = np.zeros_like(self.released)
        out[:, np.r_[self.ordered, self.sure]] = cleaned
        whole, own = self.widths[self.whose], self.cell_widths[self.nothing]
        out[:, self.nothing] = cleaned[:, self.whose] * (own / whole)
        out[:, self.ordered] *= self.cell_widths[self.ordered] / self.widths
        return out

    def mark(self, known: Mask) -> Mask:
        """Which of all cells are filled; narrow ones that are no spikes are not.

        They hold what their neighbors make expect, and have no part in what is learned later.
        """
        out = np.zeros(self.released.shape[1], bool)
        out[np.r_[self.ordered, self.sure]] = known
        return out


def _narrow_ends(widths: Array) -> Mask:
    """The cells at both ends, where they are narrower than those beside them."""
    found = np.zeros(len(widths), bool)
    if len(widths) > FEWEST:
        found[[0, -1]] = 2 * widths[[0, -1]] <= widths[[1, -2]]
    return found


def _stands_out(
    released: Array, places: Index, ordered: Index, widths: Array, noise: tuple[float, float]
) -> Mask:
    """Which narrow cells surely hold more rows than their neighbors make expect, in any class.

    The bar is that of the two ends of a range: `SURE` deviations of the noise, which is given for
    one count and for what classes add up to.
    """
    if not len(places):
        return np.zeros(0, bool)
    expected = np.maximum(_density(released, places, ordered, widths), 0) * widths[places]
    more = released[:, places] - expected
    return np.asarray((more.sum(0) > SURE * noise[1]) | (more > SURE * noise[0]).any(0))


def _density(table: Array, places: Index, ordered: Index, widths: Array) -> Array:
    """Rows for each tick in the two ordered cells beside each place, (C, places)."""
    left, right = _neighbors(places, ordered)
    return np.asarray((table[:, left] + table[:, right]) / (widths[left] + widths[right]))


def _lower(released: Array, places: Index, ordered: Index, widths: Array) -> Index:
    """Of which neighbor each place is a part, among the ordered cells: of that with fewer rows."""
    if not len(places):
        return places
    left, right = _neighbors(places, ordered)
    pool = released.sum(0)
    lower = np.where(pool[left] / widths[left] <= pool[right] / widths[right], left, right)
    return np.searchsorted(ordered, lower)


def _neighbors(places: Index, ordered: Index) -> tuple[Index, Index]:
    """The nearest ordered cells on both sides; at an end of the range the one that there is."""
    after = np.searchsorted(ordered, places)
    return ordered[np.maximum(after - 1, 0)], ordered[np.minimum(after, len(ordered) - 1)]


def standing_out(mass: Array, cells: Cells) -> Array:
    """What cells of one value hold beyond what others near them may explain; less than 0 in others.

    That is some times the median of the four cells beside each, value by value.
    """
    values = cells.widths if cells.spike is None else np.where(cells.spike >= 0, 1.0, cells.widths)
    density = np.pad(mass / values, 2, constant_values=np.nan)
    near = np.stack([density[:-4], density[1:-3], density[3:-1], density[4:]])
    expected = np.nanmedian(near, axis=0) if len(mass) > 1 else np.zeros(len(mass))
    return np.where(values == 1, mass - APART * expected, -1.0)
