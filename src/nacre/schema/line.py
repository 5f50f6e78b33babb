"""Two numbers on one line: where a number lies that is known by its distance from another."""

from __future__ import annotations

import dataclasses
from typing import final

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
EXACT = 2**61  # sums of two numbers below this fit into 64 bits


@final
@dataclasses.dataclass(frozen=True)
class Line:
    """The ticks of a column and its anchor as whole numbers on one line: first + step * tick.

    `up` is 1 if the column lies above its anchor and -1 if below; `gap` is 1 if strictly so.
    Where the anchor is missing, the column is measured from its own bound on that side.
    """

    first: int
    step: int
    ticks: int
    anchor_first: int
    anchor_step: int
    anchor_ticks: int
    anchor_nullable: bool
    up: int
    gap: int

    @property
    def exact(self) -> bool:
        """Whether sums of its numbers fit into 64 bits."""
        ends = (self.first, self.anchor_first, self.last, self.anchor_last)
        return max(map(abs, ends)) < EXACT

    @property
    def last(self) -> int:
        """The column's largest number."""
        return self.first + self.step * self.ticks

    @property
    def anchor_last(self) -> int:
        """The anchor's largest number."""
        return self.anchor_first + self.anchor_step * self.anchor_ticks

    @property
    def most(self) -> int:
        """The largest difference within the bounds."""
        farthest = np.array([0 if self.up > 0 else self.anchor_ticks])
        nearest = int(self.nearest(farthest)[0])
        most = self.ticks - nearest if self.up > 0 else nearest
        return max(most, self.ticks) if self.anchor_nullable else most

    def start(self, anchor: Index, missing: NDArray[np.bool_]) -> Index:
        """The tick that the column is measured from."""
        return np.where(missing, 0 if self.up > 0 else self.ticks, self.nearest(anchor))

    def nearest(self, anchor: Index) -> Index:
        """The column's tick (in bounds or not) nearest to the anchor's that satisfies the sign."""
        value = self.anchor_first + self.anchor_step * anchor + self.up * self.gap
        down = self.up * (value - self.first)
        return self.up * -(-down // self.step)

    def reach(self, start: Index) -> tuple[Index, Index]:
        """The least and largest distance from a tick that ends within the column's bounds."""
        if self.up > 0:
            return np.maximum(-start, 0), self.ticks - start
        return np.maximum(start - self.ticks, 0), start

    def anchors(self, low: Index, high: Index) -> tuple[Index, Index]:
        """The first and last tick of the anchor from which one of these distances is in bounds."""
        near, far = (-high, self.ticks - low) if self.up > 0 else (low, self.ticks + high)
        first, last = self.nearest(np.array([0, self.anchor_ticks])).tolist()
        near, far = np.clip(near, first, last + 1), np.clip(far, first - 1, last)
        turn = self.anchor_first + self.up * self.gap - self.first
        # Rounded up or down to a tick, an anchor's number is the least or largest such.
        if self.up > 0:
            least, most = self.step * (near - 1) + 1 - turn, self.step * far - turn
        else:
            least, most = self.step * near - turn, self.step * (far + 1) - 1 - turn
        return -(-least // self.anchor_step), most // self.anchor_step

    @property
    def broken(self) -> float:
        """The share of all pairs of values within the bounds that break the constraint."""
        anchors = np.linspace(self.anchor_first, self.anchor_last, 1001)
        below = np.clip((anchors - self.first) / (self.last - self.first), 0, 1).mean()
        return float(below if self.up > 0 else 1 - below)

    @property
    def wide(self) -> bool:
        """Whether the column's range is not much narrower than the anchor's.

        Otherwise most sums of an anchor and a difference would miss it.
        """
        return 2 * (self.last - self.first) >= self.anchor_last - self.anchor_first
