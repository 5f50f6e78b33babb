"""Distances that end within the bounds of the column that they stand for.

A number that is modeled by its distance from another one (its anchor) is drawn by its own
histogram, so that their sum may lie beyond the public bound of the column.  If the row were drawn
again as a whole, long distances and late anchors would be lost.  So an anchor and its distances are
drawn again inside their bins, among what fits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.atoms import Atoms
from nacre.histograms.calendars import Calendars
from nacre.histograms.cells import Cells, CodeColumn, Column, NumberColumn
from nacre.histograms.heaps import Heaps
from nacre.schema import Layout, Tie

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

ROOM = 1 << 22  # classes times ticks that get chances of their own
NEAR = 31  # days that a date may move
TRIES = 30  # draws of an anchor and its distances together
EVERY = slice(None)  # row
SWEEPS = 4  # in which anchors are moved
TINY = 1e-300
STRETCH = 1 << 14  # rows that are looked at at once


def tied_numbers(layout: Layout) -> list[int]:
    """The places of the numbers that are distances, and of those that these are from."""
    ties = {place: n.tie for place, n in enumerate(layout.numbers) if n.tie is not None}
    return sorted({*ties, *(tie.anchor for tie in ties.values())})


def check_bins(layout: Layout, groups: Sequence[Index]) -> None:
    """Raise ValueError unless the bins of what is tied, by number, are stretches of its cells."""
    if any((np.diff(groups[place]) < 0).any() for place in tied_numbers(layout)):
        raise NacreError("The bins of a distance are not in order.")


@final
@dataclasses.dataclass(frozen=True)
class Inside:
    """Where a number's ticks lie in its bins.

    Attributes:
        cells: of the number.
        group: (cells,) the bin of each, those of a bin beside each other.
        chances: (C, cells) how likely each is in its bin, by class.
    """

    cells: Cells
    group: Index
    chances: Floats

    @staticmethod
    def of(column: Column, group: Index, chances: NDArray[np.floating]) -> Inside:
        """Of a number's cells, without that of gaps."""
        if isinstance(column, CodeColumn):
            raise NacreError("A column with a list of values is no distance.")
        size = column.cells.size
        return Inside(column.cells, group[:size], chances[:, :size].astype(np.float64))

    @cached_property
    def ends(self) -> Floats:
        """(C, cells + 1) the chances of the cells before, added up."""
        return np.pad(self.chances.cumsum(1), ((0, 0), (1, 0)))

    @cached_property
    def of_bins(self) -> Floats:
        """(C, bins) what the chances of each bin add up to."""
        first = np.searchsorted(self.group, np.arange(self.group.max() + 1))
        return np.add.reduceat(self.chances, first, axis=1)

    def weighed(self, weights: Floats) -> Inside:
        """The same with ticks that have these weights in their cells, where there is room."""
        if weights.size * len(self.chances) > ROOM:
            return self
        cell = np.repeat(np.arange(self.cells.size), self.cells.widths.astype(np.int64))
        whole = np.bincount(cell, weights, self.cells.size)
        share = np.where(whole > 0, 1 / np.maximum(whole, 1e-300), 0.0)[cell] * weights
        share = np.where(whole[cell] > 0, share, 1 / self.cells.widths[cell])
        every = np.arange(len(cell), dtype=np.int64)
        return Inside(Cells(every, every), self.group[cell], self.chances[:, cell] * share)

    def parts(self, number: int, atoms: Atoms, heaps: Heaps) -> tuple[Index, Floats]:
        """Of each tick its cell, and its part of that: with single values and round steps."""
        ticks = np.arange(self.cells.high[-1] + 1)
        cell = np.repeat(np.arange(self.cells.size), self.cells.widths.astype(np.int64))
        weights = heaps.of_ticks(number, ticks)
        whole = np.bincount(cell, weights, self.cells.size)
        share = (
            np.where(whole[cell] > 0, weights, 1.0)
            / np.where(whole > 0, whole, self.cells.widths)[cell]
        )
        own = (atoms.places[:, 0] == number) & (atoms.places[:, 1] < self.cells.size)
        of, shares = atoms.places[own, 1], atoms.shares[own]
        held = np.bincount(of, shares, self.cells.size)
        share *= np.maximum(1 - held, 0.0)[cell]
        share[atoms.places[own, 2]] += shares / np.maximum(held, 1.0)[of]
        return cell, share

    def bounds(self, cell: Index) -> tuple[Index, Index]:
        """The first and last tick of the bin of each cell."""
        first = np.searchsorted(self.group, self.group[cell], side="left")
        last = np.searchsorted(self.group, self.group[cell], side="right") - 1
        return self.cells.low[first], self.cells.high[last]

    def cell(self, tick: Index) -> Index:
        """In which cell a tick lies."""
        return np.searchsorted(self.cells.low, tick, side="right") - 1

    def before(self, label: Index, tick: Index) -> Floats:
        """The chances of all ticks before one, added up."""
        cell = np.minimum(self.cell(tick), self.cells.size - 1)
        part = (tick - self.cells.low[cell]) / self.cells.widths[cell]
        return self.ends[label, cell] + self.chances[label, cell] * np.minimum(part, 1.0)

    def draw(self, label: Index, low: Index, high: Index, rng: np.random.Generator) -> Index:
        """A tick from `low` to `high` for each row, by its class; evenly where none has chances."""
        start, end = self.before(label, low), self.before(label, high + 1)
        point = start + (end - start) * rng.random(len(low))
        whole = float(self.ends[:, -1].max(initial=0.0)) + 1.0
        flat = (self.ends[:, 1:] + whole * np.arange(len(self.ends))[:, None]).ravel()
        place = np.searchsorted(flat, point + whole * label, side="right")
        place = np.clip(place - label * self.cells.size, 0, self.cells.size - 1)
        share = np.maximum(self.chances[label, place], 1e-300)
        part = np.clip((point - self.ends[label, place]) / share, 0.0, 1.0)
        found = self.cells.low[place] + (part * self.cells.widths[place]).astype(np.int64)
        even = rng.integers(low, high, endpoint=True)
        return np.where(end > start, np.clip(found, low, high), even)


@final
@dataclasses.dataclass(frozen=True)
class Tied:
    """Drawn rows of which some numbers are distances.

    Attributes:
        layout: of the rows.
        columns: the numbers, in the layout's order.
        inside: where each of the numbers lies in its bins.
        ticks: (n, N) as drawn so far.
        codes: (n, K) likewise.
        label: (n,) the class of each row.
        atoms: single values of the numbers.
        heaps: round steps of them.
    """

    layout: Layout
    columns: Sequence[NumberColumn]
    inside: Mapping[int, Inside]
    ticks: Index
    codes: NDArray[np.int32]
    label: Index
    atoms: Atoms
    heaps: Heaps
    found: dict[int, tuple[Index, Floats]] = dataclasses.field(default_factory=dict)

    @cached_property
    def order(self) -> list[tuple[int, Tie]]:
        """The distances, each after its anchor."""
        numbers = self.layout.numbers
        ties = {place: n.tie for place, n in enumerate(numbers) if n.tie is not None}
        found: dict[int, Tie] = {}
        while len(found) < len(ties):
            for place, tie in ties.items():
                if tie.anchor not in ties or tie.anchor in found:
                    found.setdefault(place, tie)
        return list(found.items())

    def there(self, number: int) -> Mask:
        """In which rows a number is not missing."""
        missing = self.columns[number].missing
        if missing is None:
            return np.ones(len(self.ticks), bool)
        return self.codes[:, missing] == 0

    def start(self, tie: Tie, own: Mapping[int, Index], rows: Index | slice = EVERY) -> Index:
        """The tick of its column that a distance is from, given the ticks of columns before."""
        anchor = own.get(tie.anchor, self.ticks[:, tie.anchor])[rows]
        missing = np.zeros(len(anchor), bool)
        if tie.missing is not None:
            missing = self.codes[rows, tie.missing] == 1
        return tie.line.start(tie.ticks(anchor, self.time(tie)[rows]), missing)

    def time(self, tie: Tie) -> Index:
        """The anchor's time of day, where that is apart."""
        if tie.time is None:
            return np.zeros(len(self.ticks), np.int64)
        return self.ticks[:, tie.time]

    def bins(self, number: int, ticks: Index) -> tuple[Index, Index]:
        """The first and last tick of the bins that ticks of a number are in."""
        inside = self.inside[number]
        return inside.bounds(inside.cell(ticks))

    def settle_together(self, rng: np.random.Generator) -> None:
        """Draw anchors and their distances again, inside their bins, until all are in bounds.

        A distance alone, drawn again from where its anchor lies, would end near the bound: of late
        anchors all but the shortest do.  What fits after none of some `TRIES` is left as it was.
        """
        distances = {place for place, _ in self.order}
        for anchor in sorted({tie.anchor for _, tie in self.order} - distances):
            own = [(place, tie) for place, tie in self.order if tie.anchor == anchor]
            free = self._fits(own, np.arange(len(self.ticks)))
            rows = np.flatnonzero(~free)
            if not len(rows):
                continue
            before, named = self.ticks[rows], [anchor, *(place for place, _ in own)]
            for _ in range(TRIES):
                for number in named:
                    there = rows[self.there(number)[rows]]
                    low, high = self.bins(number, self.ticks[there, number])
                    drawn = self.inside[number].draw(self.label[there], low, high, rng)
                    self.ticks[there, number] = drawn
                left = ~self._fits(own, rows)
                rows, before = rows[left], before[left]
            self.ticks[np.ix_(rows, np.array(named))] = before[:, named]
            self._keep_histogram(anchor, own, free, rng)

    def _keep_histogram(
        self, anchor: int, ties: Sequence[tuple[int, Tie]], free: Mask, rng: np.random.Generator
    ) -> None:
        """Move anchors inside their bins, of the `free` rows, which were not drawn again.

        Long distances take the late cells of an anchor from its bins (or the early ones): rows with
        short distances get them, as in each bin all rows together have its histogram.
        """
        inside, rows = self.inside[anchor], np.flatnonzero(self.there(anchor))
        classes, size = inside.chances.shape
        shares = inside.chances / np.maximum(inside.of_bins[:, inside.group], TINY)
        label = self.label[rows]
        for _ in range(SWEEPS):
            cell = inside.cell(self.ticks[rows, anchor])
            held = np.zeros((classes, size))
            np.add.at(held, (label, cell), 1.0)
            whole = Inside(inside.cells, inside.group, held).of_bins
            more = held - whole[:, inside.group] * shares
            chance = np.maximum(more, 0.0) / np.maximum(held, 1.0)
            moved = rows[free[rows] & (rng.random(len(rows)) < chance[label, cell])]
            lacking = Inside(inside.cells, inside.group, np.maximum(-more, 0.0))
            low, high = self.bins(anchor, self.ticks[moved, anchor])
            before = self.ticks[moved, anchor]
            self.ticks[moved, anchor] = lacking.draw(self.label[moved], low, high, rng)
            wrong = ~self._fits(ties, moved)
            self.ticks[moved[wrong], anchor] = before[wrong]

    def _fits(self, ties: Sequence[tuple[int, Tie]], rows: Index) -> Mask:
        """Whether distances from one anchor end within their bounds, in each of these rows."""
        found = np.ones(len(rows), bool)
        for place, tie in ties:
            low, high = tie.line.reach(self.start(tie, {}, rows))
            ticks = self.ticks[rows, place]
            found &= ~self.there(place)[rows] | ((low <= ticks) & (ticks <= high))
        return found

    def settle_anchors(self, rng: np.random.Generator) -> None:
        """Draw anchors again, inside their bins, from which no distance of its bin is in bounds."""
        distances = {place for place, _ in self.order}
        for anchor in {tie.anchor for _, tie in self.order} - distances:
            ticks = self.ticks[:, anchor]
            low, high = (ends.copy() for ends in self.bins(anchor, ticks))
            for place, tie in self.order:
                if tie.anchor != anchor:
                    continue
                ends = tie.line.anchors(*self.bins(place, self.ticks[:, place]))
                least, most = tie.days(*ends, self.time(tie))
                there = self.there(place) & self.there(anchor)
                low = np.where(there, np.maximum(low, least), low)
                high = np.where(there, np.minimum(high, most), high)
            again = np.flatnonzero(((ticks < low) | (ticks > high)) & (low <= high))
            own = self.inside[anchor]
            drawn = own.draw(self.label[again], low[again], high[again], rng)
            self.ticks[again, anchor] = drawn

    def settle(self, calendars: Calendars, rng: np.random.Generator) -> None:
        """Draw distances again that end out of bounds, inside their bins, where any of these fits.

        What fits nowhere stays as it is: then the row is not valid.  Dates whose days have weights
        move to such, as far as a month.
        """
        if not self.order:
            return
        self.settle_together(rng)
        self.settle_anchors(rng)
        own: dict[int, Index] = {}
        for place, tie in self.order:
            start, ticks = self.start(tie, own), self.ticks[:, place]
            low, high = tie.line.reach(start)
            first, last = self.bins(place, ticks)
            out = self.there(place) & ((ticks < low) | (ticks > high))
            low, high = np.maximum(low, first), np.minimum(high, last)
            again = np.flatnonzero(out & (low <= high))
            drawn = self.inside[place].draw(self.label[again], low[again], high[again], rng)
            self.ticks[again, place] = drawn
            weights = calendars.of_ticks(place, self.layout)
            if weights is not None:
                self.move(place, tie, start, weights, rng)
            own[place] = np.clip(start + tie.line.up * self.ticks[:, place], 0, tie.line.ticks)

    def move(
        self, place: int, tie: Tie, start: Index, weights: Floats, rng: np.random.Generator
    ) -> None:
        """Draw distances again near by: by their densities and the weights of where they end.

        Inside the bin, so that what its row has to do with it stays, and within bounds.
        """
        low, high = tie.line.reach(start)
        ticks = self.ticks[:, place]
        rows = np.flatnonzero(self.there(place) & (ticks >= low) & (ticks <= high))
        near = np.arange(-NEAR, NEAR + 1)
        (cell, share), chances = self.parts(place), self.inside[place].chances
        for first in range(0, len(rows), STRETCH):
            part = rows[first : first + STRETCH]
            here, begin = ticks[part], start[part]
            least, most = self.bins(place, here)
            least, most = np.maximum(least, low[part]), np.minimum(most, high[part])
            found = here[:, None] + near
            inside = (found >= least[:, None]) & (found <= most[:, None])
            found = np.where(inside, found, here[:, None])
            chance = chances[self.label[part, None], cell[found]] * share[found] * inside
            chance *= weights[begin[:, None] + tie.line.up * found]
            ends = chance.cumsum(1)
            point = rng.random(len(part)) * ends[:, -1]
            picked = np.minimum((ends <= point[:, None]).sum(1), len(near) - 1)
            drawn = found[np.arange(len(part)), picked]
            self.ticks[part, place] = np.where(ends[:, -1] > 0, drawn, here)

    def parts(self, place: int) -> tuple[Index, Floats]:
        """`Inside.parts` of a number."""
        if place not in self.found:
            self.found[place] = self.inside[place].parts(place, self.atoms, self.heaps)
        return self.found[place]
