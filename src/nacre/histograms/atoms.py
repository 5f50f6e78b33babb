"""Single values inside wide cells: found by a finer look into heavy cells, kept exact.

A cell of many ticks that holds many rows may hold them all at one value.  Which cells are looked
into follows from noisy histograms; a tick is believed only if its own noisy count stands out among
all that were counted.  Smooth cells have no such ticks and stay smooth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.cells import NumberColumn
from nacre.histograms.few import FewValues
from nacre.histograms.histograms import Histograms, deviation
from nacre.histograms.look import Look, number_column, sure_among
from nacre.schema import Layout

Array = NDArray[np.float64]
Index = NDArray[np.int64]

EXPLAINED = 0.9  # of the rows in a number's heavy cells lie at single values, or on one step
SINGLE = 0.25  # and these are at most so many of the ticks there
CELLS = 3  # heavy cells at least, for that to be said
SEEN = 0.5  # of a number's rows in wide cells, at least, if a step is to be said of all of them
ON_STEP = 50_000  # ticks at most that are listed as a number's step
FAINT = 0.05  # of a cell's rows, below which a value is taken for noise
MOVED = 0.05  # at most so many rows go to the nearest single value
# Steps that people round to, widest first, and those of months, weeks, hours and dozens.
STEPS = sorted(
    {d * 10**k for d in (1, 2, 5, 25) for k in range(6)} - {1} | {3, 4, 6, 7, 12, 24, 30, 60},
    reverse=True,
)


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

    def ticks(self, number: int) -> Index:
        """Those of a number."""
        return self.places[self.places[:, 0] == number, 2]

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
        cells, values = np.append(cells, -1), np.append(values, 0)  # beyond the last one
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


def find_atoms(histograms: Histograms, look: Look, counts: Array, noise: Array) -> Atoms:
    """The ticks whose counts (of rows, with the noise of their column) stand out, by cell."""
    rows: list[tuple[int, int, int, float]] = []
    counted = look.counted(histograms)
    for (place, starts), own_noise in zip(look.starts.items(), noise.tolist(), strict=True):
        column, bar = number_column(histograms, place), sure_among(counted) * own_noise
        mass = histograms.cleaned[place].sum(0)
        every: dict[int, Heavy] = {}
        for cell in np.flatnonzero(starts >= 0).tolist():
            low, high = int(column.cells.low[cell]), int(column.cells.high[cell])
            part = counts[starts[cell] : starts[cell] + high - low + 1]
            every[cell] = Heavy(low, part, float(mass[cell]), bar)
        heavy = look.heavy.get(place, np.zeros(len(starts), bool))
        own = {cell: part for cell, part in every.items() if heavy[cell]}
        found = _found(histograms, place, own, every if place in look.few else {}, bar, own_noise)
        rows += [
            (column.number, cell, int(tick), float(share))
            for cell, (ticks, shares) in found.items()
            for tick, share in zip(ticks, shares, strict=True)
        ]
    rows.sort()
    return Atoms(
        np.array([row[:3] for row in rows], np.int64).reshape(-1, 3),
        np.array([row[3] for row in rows], np.float32),
    )


def _found(
    histograms: Histograms,
    place: int,
    own: dict[int, Heavy],
    every: dict[int, Heavy],
    bar: float,
    noise: float,
) -> dict[int, tuple[Index, Array]]:
    """The single values of one number and their shares, by cell.

    From its `own` heavy cells, or, if it seems to have few values, from `every` one.
    """
    column = number_column(histograms, place)
    mass = histograms.cleaned[place].sum(0)
    step = _lattice(list(own.values()), noise) if own else None
    wide = column.cells.widths > 1
    seen = sum(part.mass for part in own.values()) >= SEEN * mass[: len(wide)][wide].sum()
    if seen and step is not None and column.cells.widths[wide].sum() <= ON_STEP * step[0]:
        return _on_lattice(histograms, place, own, *step)
    if _discrete(own, column, bar):
        found = {cell: heavy.shares(0.0) for cell, heavy in own.items()}
        return found | _nearest(histograms, place, own)
    if every and (found := _few(every, noise)):
        return found
    first = float(histograms.pooled[place])
    doubt = {cell: 2 * np.hypot(first, noise * np.sqrt(len(h.ticks))) for cell, h in own.items()}
    return {cell: heavy.shares(doubt[cell]) for cell, heavy in own.items()}


def _few(cells: dict[int, Heavy], noise: float) -> dict[int, tuple[Index, Array]]:
    """The values that a number with few of them likely has, and their shares; {} if it has not.

    What stands out by itself is a value in any case, and does not tell of the others.
    """
    noise = deviation(noise)
    parts = list(cells.values())
    hidden = np.concatenate([part.counts <= part.bar for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    even = np.concatenate([np.full(len(part.counts), part.even) for part in parts])
    values = FewValues.of(counts[hidden], even[hidden], noise) if hidden.any() else None
    if values is None:
        return {}
    rows, rest = np.where(hidden, 0.0, counts), np.zeros(len(counts))
    rows[hidden], rest[hidden] = values.rows(counts[hidden]), values.rest
    ends = np.cumsum([len(part.counts) for part in parts])[:-1]
    found = {}
    for cell, part, own, others in zip(
        cells, parts, np.split(rows, ends), np.split(rest, ends), strict=True
    ):
        place = np.flatnonzero(own >= max(FAINT * float(own.sum()), 1e-9))
        if len(place):
            whole = float(own.sum() + others.sum())
            found[cell] = part.low + place, own[place] * (own.sum() / own[place].sum() / whole)
    return found


@final
@dataclasses.dataclass(frozen=True)
class Looked:
    """What was counted of single ticks: rows, with the noise of each column of the look."""

    look: Look
    counts: Array
    noise: Array

    def beyond(self, column: NumberColumn, place: int, expected: Array) -> tuple[Index, Array]:
        """The ticks of a column that surely hold more rows than expected of each, and their rows.

        Of ticks that were not looked at nothing is said.
        """
        starts = self.look.starts.get(place)
        if starts is None:
            return np.zeros(0, np.int64), np.zeros(0)
        low, high = column.cells.low, column.cells.high
        seen = np.flatnonzero(starts[: len(low)] >= 0).tolist()
        ticks = np.concatenate([np.arange(low[cell], high[cell] + 1) for cell in seen])
        found = np.concatenate(
            [self.counts[starts[cell] :][: high[cell] - low[cell] + 1] for cell in seen]
        )
        bar = sure_among(len(ticks)) * deviation(self.noise[[*self.look.starts].index(place)])
        sure = found - expected[ticks] > bar
        return ticks[sure], found[sure]


@final
@dataclasses.dataclass(frozen=True)
class Heavy:
    """A cell that was looked into: its first tick, counts of all, its rows, and the bar."""

    low: int
    counts: Array
    mass: float
    bar: float

    @cached_property
    def ticks(self) -> Index:
        """Those that stand out."""
        return self.low + np.flatnonzero(self.counts > self.bar)

    @property
    def held(self) -> Array:
        """The rows that they hold."""
        return self.counts[self.ticks - self.low]

    @property
    def even(self) -> float:
        """Rows of each other tick, if they lie evenly."""
        others = len(self.counts) - len(self.ticks)
        return max(self.mass - float(self.held.sum()), 0.0) / max(others, 1)

    def shares(self, doubt: float) -> tuple[Index, Array]:
        """The ticks that stand out, and their shares; a rest below `doubt` is none."""
        rest = self.mass - float(self.held.sum())
        whole = float(self.held.sum()) + (rest if rest > doubt > 0 else 0.0)
        return self.ticks, self.held / max(whole, 1e-9)


def _discrete(cells: dict[int, Heavy], column: NumberColumn, bar: float) -> bool:
    """Whether a number has a few single values only, as far as its heavy cells tell."""
    heavy = {cell: part for cell, part in cells.items() if part.mass > 2 * bar}
    if len(heavy) < CELLS:
        return False
    explained = sum(float(part.held.sum()) for part in heavy.values())
    ticks = sum(len(part.ticks) for part in heavy.values())
    room = sum(float(column.cells.widths[cell]) for cell in heavy)
    return explained >= EXPLAINED * sum(part.mass for part in heavy.values()) and (
        ticks <= SINGLE * room
    )


def _nearest(
    histograms: Histograms, place: int, cells: dict[int, Heavy]
) -> dict[int, tuple[Index, Array]]:
    """For each other wide cell of a number with few values the nearest of these.

    None of them, if too many rows would be moved.
    """
    column = number_column(histograms, place)
    mass = histograms.cleaned[place].sum(0)[: column.cells.size]
    wide = [
        cell
        for cell in np.flatnonzero(column.cells.widths > 1).tolist()
        if cell not in cells or not len(cells[cell].ticks)
    ]
    if mass[wide].sum() > MOVED * mass.sum():
        return {}
    single = (column.cells.widths == 1) & histograms.filled[place][: column.cells.size]
    values = np.concatenate([column.cells.low[single], *(part.ticks for part in cells.values())])
    center = (column.cells.low + column.cells.high) / 2
    nearest = {cell: values[[np.abs(values - center[cell]).argmin()]] for cell in wide}
    return {cell: (ticks, np.ones(1)) for cell, ticks in nearest.items()}


def _lattice(cells: Sequence[Heavy], noise: float) -> tuple[int, int] | None:
    """The widest step on which nearly all rows of the heavy cells lie, and a tick that is on it.

    The two heaviest ticks do not count: any two lie on some lattice.  As many sums are compared as
    a step has first ticks, so that among wide steps more is needed than among a few; and as sums
    are noisy, nearly all of what single ticks surely hold must lie on the step, too.
    """
    ticks = np.concatenate([part.low + np.arange(len(part.counts)) for part in cells])
    counts = np.concatenate([part.counts for part in cells])
    heaviest = np.argsort(-counts, kind="stable")[:2]
    total = sum(part.mass for part in cells) - counts[heaviest].sum()
    counts[heaviest] = 0.0
    held = np.where(np.isin(ticks, np.concatenate([part.ticks for part in cells])), counts, 0.0)
    for step in STEPS:
        residue = ticks % step
        sums = np.bincount(residue, counts, step)
        first = int(sums.argmax())
        places = int((residue == first).sum())
        sure = sums[first] - total / step > sure_among(step) * noise * np.sqrt(places)
        sure &= held[residue == first].sum() >= EXPLAINED * held.sum()
        if places >= 2 * CELLS and sure and sums[first] >= EXPLAINED * total:
            return step, first
    return None


def _on_lattice(
    histograms: Histograms, place: int, cells: dict[int, Heavy], step: int, first: int
) -> dict[int, tuple[Index, Array]]:
    """For each wide cell its ticks on a lattice: those that stand out, the rest in equal parts."""
    column = number_column(histograms, place)
    found = {}
    for cell in np.flatnonzero(column.cells.widths > 1).tolist():
        ticks = _multiples(column, cell, step, first)
        shares = np.zeros(len(ticks))
        if cell in cells:
            part = cells[cell]
            known = np.isin(ticks, part.ticks)
            shares[known] = part.counts[ticks[known] - part.low]
            rest = max(part.mass - float(shares.sum()), 0.0)
            shares[~known] = rest / max(int((~known).sum()), 1)
        if not shares.sum() > 0:
            shares[:] = 1.0
        found[cell] = ticks, shares / shares.sum()
    return found


def _multiples(column: NumberColumn, cell: int, step: int, first: int) -> Index:
    """The ticks of a cell that are on a lattice, or the one that is nearest to it."""
    low, high = int(column.cells.low[cell]), int(column.cells.high[cell])
    start = first + -(-(low - first) // step) * step
    found = np.arange(start, high + 1, step, dtype=np.int64)
    if len(found):
        return found
    beside = [tick for tick in (start - step, start) if 0 <= tick <= int(column.cells.high[-1])]
    return np.array([min(beside, key=lambda tick: abs(2 * tick - low - high))], np.int64)
