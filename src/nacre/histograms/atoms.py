"""Single values inside wide cells: found by a finer look into heavy cells, kept exact.

A cell of many ticks that holds many rows may hold them all at one value.  Which cells are looked
into follows from noisy histograms; a tick is believed only if its own noisy count stands out among
all that were counted.  Smooth cells have no such ticks and stay smooth.
"""

from __future__ import annotations

import dataclasses
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.cells import CodeColumn, NumberColumn
from nacre.histograms.clean import SURE
from nacre.histograms.histograms import Histograms, deviation
from nacre.schema import Layout

Array = NDArray[np.float64]
Index = NDArray[np.int64]

EXPLAINED = 0.9  # of the rows in a number's heavy cells lie at single values: it has no others
SINGLE = 0.25  # and these are at most so many of the ticks there
CELLS = 3  # heavy cells at least, for that to be said
COMMON = 0.95  # of the rows at single values lie on one step, if there is one
MOVED = 0.05  # at most so many rows go to the nearest single value
# Steps that people round to, widest first, and those of months, weeks, hours and dozens.
STEPS = sorted(
    {d * 10**k for d in (1, 2, 5, 25) for k in range(6)} - {1} | {3, 4, 6, 7, 12, 24, 30, 60},
    reverse=True,
)


def looked_at(columns: tuple[NumberColumn | CodeColumn, ...], layout: Layout) -> tuple[int, ...]:
    """The columns with cells of several ticks that a function of one row can tell apart."""
    return tuple(
        place
        for place, column in enumerate(columns)
        if isinstance(column, NumberColumn)
        and layout.numbers[column.number].shift == 0
        and column.cells.widths.max() > 1
    )


@final
@dataclasses.dataclass(frozen=True)
class Look:
    """Which ticks are counted: those of some heavy cells.

    Attributes:
        starts: by column, for each cell the place of its first tick, -1 if it is not looked into;
            each column has a stretch of its own.
        size: how many ticks there are.
    """

    starts: dict[int, Index]
    size: int

    @staticmethod
    def of(histograms: Histograms, columns: tuple[int, ...], *, room: int, noise: float) -> Look:
        """The heaviest cells in which a single value could stand out, as many as find room.

        `noise` is the deviation of a count of rows, if all columns are looked at.
        """
        found = []
        for place in columns:
            column = _number(histograms, place)
            mass = histograms.cleaned[place].sum(0)[: column.cells.size]
            heavy = (mass > _bar(room) * noise) & (column.cells.widths > 1)
            widths = column.cells.widths
            found += [(-mass[j], place, j, int(widths[j])) for j in np.flatnonzero(heavy)]
        chosen, taken = [], 0
        for _, place, cell, width in sorted(found):
            if taken + width <= room:
                chosen.append((place, cell, width))
                taken += width
        starts: dict[int, Index] = {}
        size = 0
        for place, cell, width in sorted(chosen):
            own = starts.setdefault(place, np.full(histograms.columns[place].size, -1))
            own[cell] = size
            size += width
        return Look(starts, size)


@final
@dataclasses.dataclass(frozen=True)
class Atoms:
    """Ticks that a cell's rows have, each with its share; the rest is uniform within the cell.

    Attributes:
        places: (A, 3) a number's place, its cell, and the tick, sorted.
        shares: (A,) of the rows of that cell.
    """

    places: Index
    shares: NDArray[np.float32]

    @staticmethod
    def none() -> Atoms:
        """No tick at all."""
        return Atoms(np.zeros((0, 3), np.int64), np.zeros(0, np.float32))

    def draw(self, number: int, cell: Index, ticks: Index, rng: np.random.Generator) -> Index:
        """`ticks` that were drawn from these cells of a number, single values in their place."""
        own = self.places[:, 0] == number
        if not own.any():
            return ticks
        cells, values, shares = self.places[own, 1], self.places[own, 2], self.shares[own]
        before = np.r_[0.0, np.cumsum(shares, dtype=np.float64)[:-1]]
        first = np.searchsorted(cells, cells)  # of the atoms in the same cell
        ends = cells + np.minimum(before - before[first] + shares, 1.0)
        found = np.searchsorted(ends, cell + rng.random(len(cell)), side="right")
        found = np.minimum(found, len(ends) - 1)
        return np.where(cells[found] == cell, values[found], ticks)

    def check(self, layout: Layout, sizes: tuple[int, ...]) -> None:
        """Raise ValueError unless these are atoms of such a table, numbers' cells coming first."""
        if len(self.shares) != len(self.places):
            raise NacreError("The single values of the model have no shares.")
        if not len(self.places):
            return
        number, cell, tick = self.places.T
        if number.max() >= len(layout.numbers) or (cell >= np.array(sizes)[number]).any():
            raise NacreError("The single values of the model lie in no cell.")
        if (tick > layout.limits[number]).any():
            raise NacreError("The single values of the model lie out of bounds.")
        order = np.lexsort((tick, cell, number))
        if not np.array_equal(order, np.arange(len(order))):
            raise NacreError("The single values of the model are not sorted.")


def find_atoms(histograms: Histograms, look: Look, counts: Array, noise: float) -> Atoms:
    """The ticks whose counts (of rows, with this noise) stand out, by cell."""
    bar = _bar(look.size) * noise
    rows: list[tuple[int, int, int, float]] = []
    for place, starts in look.starts.items():
        column = _number(histograms, place)
        mass = histograms.cleaned[place].sum(0)
        own: dict[int, tuple[Index, Array, float]] = {}
        for cell in np.flatnonzero(starts >= 0).tolist():
            low, high = int(column.cells.low[cell]), int(column.cells.high[cell])
            part = counts[starts[cell] : starts[cell] + high - low + 1]
            ticks = np.flatnonzero(part > bar)
            own[cell] = ticks + low, part[ticks], float(mass[cell])
        discrete = _discrete(own, column, bar)
        for cell, (ticks, found, total) in own.items():
            first = deviation(histograms.noise) * np.sqrt(len(histograms.sizes))
            doubt = 2 * np.sqrt(first**2 + len(ticks) * noise**2)
            rest = 0.0 if discrete or total - found.sum() < doubt else total - found.sum()
            whole = max(float(found.sum()) + rest, 1e-9)
            rows += [
                (column.number, cell, int(t), float(c) / whole)
                for t, c in zip(ticks, found, strict=True)
            ]
        if discrete:
            rows += _others(histograms, place, own)
    rows.sort()
    return Atoms(
        np.array([row[:3] for row in rows], np.int64).reshape(-1, 3),
        np.array([row[3] for row in rows], np.float32),
    )


def _number(histograms: Histograms, place: int) -> NumberColumn:
    column = histograms.columns[place]
    if isinstance(column, CodeColumn):
        raise NacreError("A column with a list of values has no ticks to look at.")
    return column


def _bar(counted: int) -> float:
    """So many deviations above zero a count must be among so many: hardly one of noise is."""
    return float(np.sqrt(SURE**2 + 2 * np.log(max(counted, 1))))


def _discrete(
    cells: dict[int, tuple[Index, Array, float]], column: NumberColumn, bar: float
) -> bool:
    """Whether a number has a few single values only, as far as its heavy cells tell."""
    heavy = {cell: part for cell, part in cells.items() if part[2] > 2 * bar}
    if len(heavy) < CELLS:
        return False
    explained = sum(float(found.sum()) for _, found, _ in heavy.values())
    ticks = sum(len(found) for found, _, _ in heavy.values())
    total = sum(mass for _, _, mass in heavy.values())
    room = sum(float(column.cells.widths[cell]) for cell in heavy)
    return explained >= EXPLAINED * total and ticks <= SINGLE * room


def _others(
    histograms: Histograms, place: int, cells: dict[int, tuple[Index, Array, float]]
) -> list[tuple[int, int, int, float]]:
    """Values in the other wide cells of a number that has single values only.

    Where those that were found are multiples of a step, so are these.  Otherwise they are the
    nearest of those, unless too many rows would be moved.
    """
    column = _number(histograms, place)
    mass = histograms.cleaned[place].sum(0)[: column.cells.size]
    wide = [
        cell
        for cell in np.flatnonzero(column.cells.widths > 1).tolist()
        if cell not in cells or not len(cells[cell][0])
    ]
    step, first = _lattice(
        np.concatenate([ticks for ticks, _, _ in cells.values()]),
        np.concatenate([found for _, found, _ in cells.values()]),
    )
    if step > 1:
        drawn = [(cell, _multiples(column, cell, step, first)) for cell in wide]
    elif mass[wide].sum() <= MOVED * mass.sum():
        single = (column.cells.widths == 1) & histograms.filled[place][: column.cells.size]
        found = [ticks for ticks, _, _ in cells.values()]
        values = np.concatenate([column.cells.low[single], *found])
        center = (column.cells.low + column.cells.high) / 2
        drawn = [(cell, values[[np.abs(values - center[cell]).argmin()]]) for cell in wide]
    else:
        return []
    return [
        (column.number, cell, int(tick), 1 / len(ticks))
        for cell, ticks in drawn
        for tick in np.sort(ticks)
    ]


def _lattice(ticks: Index, counts: Array) -> tuple[int, int]:
    """The widest common step of most rows, and a tick that is on it; a step of 1 for none."""
    for step in STEPS:
        weights = np.bincount(ticks % step, counts, step)
        first = int(weights.argmax())
        if weights[first] >= COMMON * counts.sum() and (ticks % step == first).sum() >= 2 * CELLS:
            return step, first
    return 1, 0


def _multiples(column: NumberColumn, cell: int, step: int, first: int) -> Index:
    """The ticks of a cell that are on a lattice, or the one that is nearest to it."""
    low, high = int(column.cells.low[cell]), int(column.cells.high[cell])
    start = first + -(-(low - first) // step) * step
    found = np.arange(start, high + 1, step, dtype=np.int64)
    if len(found):
        return found
    beside = [tick for tick in (start - step, start) if 0 <= tick <= int(column.cells.high[-1])]
    return np.array([min(beside, key=lambda tick: abs(2 * tick - low - high))], np.int64)
