"""Draw from mixtures by quota: counts differ from their expectations by less than one in a group.

Every row follows the model, and a whole table lies closer to it than independent draws would.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.atoms import Atoms
from nacre.histograms.calendars import Calendars
from nacre.histograms.cells import CodeColumn, Column
from nacre.histograms.heaps import Heaps
from nacre.histograms.tied import Inside, Tied
from nacre.schema import Encoded, Layout

Array = NDArray[np.floating]
Index = NDArray[np.int64]

TINY_SHARE = 1e-6
FLAT, STEEPEST = 1e-6, 8.0  # how much likelier one end of a bin may be, as a logarithm


def pick(weights: Array, n: int, rng: np.random.Generator) -> Index:
    """n places of the flattened `weights`, systematically sampled and then shuffled."""
    ends = weights.reshape(-1).astype(np.float64).cumsum()
    points = (np.arange(n) + rng.random()) / max(n, 1) * ends[-1]
    found = np.minimum(np.searchsorted(ends, points, side="right"), len(ends) - 1)
    return rng.permutation(found)


def quota(
    group: Index, groups: int, rng: np.random.Generator, order_by: Array | None = None
) -> NDArray[np.float64]:
    """A number in [0, 1) for each row: evenly spaced within each group, in random order.

    Or in that of `order_by`.
    """
    order, number = _spread(group, groups, rng, order_by)
    found = np.empty(len(group))
    found[order] = number
    return found


def _spread(
    group: Index, groups: int, rng: np.random.Generator, order_by: Array | None = None
) -> tuple[Index, NDArray[np.float64]]:
    """The rows ordered by group and number, and the numbers of `quota` in that order."""
    order = rng.permutation(len(group)) if order_by is None else np.argsort(order_by)
    # NumPy sorts short integers by their digits, in one go.
    short = group.astype(np.uint16) if groups <= 1 << 16 else group
    order = order[np.argsort(short[order], kind="stable")]
    counts = np.bincount(group, minlength=groups)
    rank = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order, (rank + np.repeat(rng.random(groups), counts)) / np.repeat(counts, counts)


def leaning(
    slope: NDArray[np.float64], rng: np.random.Generator, place: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """A number in [0, 1) for each row, of log density `slope` times itself: towards an end.

    It grows with the row's `place` in [0, 1], where that is known.
    """
    slope = np.clip(slope, -STEEPEST, STEEPEST)
    uniform = rng.random(len(slope)) if place is None else place
    steep = np.abs(slope) > FLAT
    safe = np.where(steep, slope, 1.0)
    return np.where(steep, np.log1p(uniform * np.expm1(safe)) / safe, uniform)


def slopes(chance: Array, shares: Array, ordered: int) -> NDArray[np.float64]:
    """How the log of chances (n, B), beside the bins' own shares, grows from bin to bin.

    Only the first `ordered` bins have an order.
    """
    ratio = np.log(np.maximum(chance, TINY_SHARE)) - np.log(np.maximum(shares, TINY_SHARE))
    found = np.zeros(ratio.shape)
    if ordered > 1:
        found[:, :ordered] = np.gradient(ratio[:, :ordered], axis=1)
    return found


def draw_bins(table: Array, component: Index, rng: np.random.Generator) -> Index:
    """A bin for each row from its component's row of `table` (R, B)."""
    rows, size = table.shape
    ends = table.astype(np.float64).cumsum(1)
    ends = ends / ends[:, -1:] + np.arange(rows)[:, None]
    order, place = _spread(component, rows, rng)
    found = np.empty(len(component), np.int64)
    # What is searched for grows along the order, which makes the search several times faster.
    found[order] = np.searchsorted(ends.reshape(-1), component[order] + place, side="right")
    return np.clip(found - component * size, 0, size - 1)


def draw_cells(
    inside: Array,
    group: Index,
    bins: Index,
    label: Index,
    rng: np.random.Generator,
    slope: NDArray[np.float64] | None = None,
    place: NDArray[np.float64] | None = None,
) -> Index:
    """A cell of each row's bin, from P(cell | bin, class) (C, cells); `group` is a cell's bin.

    With a `slope` for each row, those of a bin lie in the order of what they lean to, and of their
    `place` in it, if there is one.
    """
    size = int(group.max()) + 1
    by_bin = np.argsort(group, kind="stable")
    first, last = (
        np.searchsorted(group[by_bin], np.arange(size), side=s)[bins] for s in ("left", "right")
    )
    # Each bin's cells add up to one: bin b of class c fills the interval from c * size + b.
    ends = inside[:, by_bin].astype(np.float64).cumsum(1)
    ends = ends / ends[:, -1:] * size + size * np.arange(len(inside))[:, None]
    key = label * size + bins
    order_by = None if slope is None else leaning(slope, rng, place)
    order, at = _spread(key, len(inside) * size, rng, order_by)
    found = np.empty(len(key), np.int64)
    # What is searched for grows along the order, which makes the search several times faster.
    found[order] = np.searchsorted(ends.reshape(-1), key[order] + at, side="right")
    return by_bin[np.clip(found - label * len(by_bin), first, last - 1)]


def cells_at(inside: Array, label: Index, place: NDArray[np.float64]) -> Index:
    """The cell where P(cell | class) (C, cells), added up, reaches each row's place in [0, 1)."""
    ends = inside.astype(np.float64).cumsum(1)
    ends = ends / ends[:, -1:] + np.arange(len(inside))[:, None]
    found = np.searchsorted(ends.reshape(-1), label + place, side="right")
    size = inside.shape[1]
    return np.clip(found - label * size, 0, size - 1)


def chances(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Softmax over the classes of each row."""
    raised = np.exp(logits - logits.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


def draw_labels(chance: NDArray[np.float64], rng: np.random.Generator) -> Index:
    """A label for each row; systematic along the score, so that like rows share classes fairly."""
    label = chance.argmax(1)
    rows, left = np.arange(len(chance)), np.ones(len(chance))
    for c in np.argsort(chance.sum(0)):  # rare classes first
        now = np.clip(chance[rows, c] / np.maximum(left[rows], 1e-12), 0, 1)
        order = np.argsort(now, kind="stable")
        steps = np.floor(np.cumsum(now[order]) + rng.random())
        hit = np.zeros(len(now), bool)
        hit[order] = np.diff(steps, prepend=0.0) > 0
        label[rows[hit]] = c
        left -= chance[:, c]
        rows = rows[~hit]
    return label


def decode(
    cells: Index,
    label: Index,
    columns: tuple[Column, ...],
    label_place: int | None,
    layout: Layout,
    rng: np.random.Generator,
    atoms: Atoms | None = None,
    heaps: Heaps | None = None,
    inside: Mapping[int, Inside] | None = None,
    calendars: Calendars | None = None,
) -> Encoded:
    """Cells as encoded rows: a number's tick is uniform in its cell, but for heaps and atoms.

    So is a date's but for what its days weigh.  With what is known about the numbers' bins,
    distances stay `inside` these and within bounds, and the dates that they end at have days of
    their weights.
    """
    atoms = Atoms.none() if atoms is None else atoms
    heaps = Heaps.none() if heaps is None else heaps
    calendars = Calendars.none() if calendars is None else calendars
    known = dict(inside or {})
    ticks = np.zeros((len(cells), len(layout.numbers)), np.int64)
    codes = np.zeros((len(cells), len(layout.codes)), np.int32)
    for cell, column in zip(cells.T, columns, strict=True):
        if isinstance(column, CodeColumn):
            codes[:, column.code] = cell
            continue
        missing = cell == column.cells.size
        here = np.where(missing, 0, cell)
        drawn = column.cells.draw(here, rng)
        drawn = heaps.draw(column.number, column.cells, here, drawn, rng)
        weights = calendars.of_ticks(column.number, layout)
        if weights is not None and layout.numbers[column.number].tie is None:
            if column.number in known:
                known[column.number] = known[column.number].weighed(weights)
            weights[atoms.ticks(column.number)] = 0.0
            drawn = calendars.draw(column.cells, here, weights, drawn, rng)
        drawn = atoms.draw(column.number, cell, drawn, rng)
        ticks[:, column.number] = np.where(missing, 0, drawn)
        if column.missing is not None:
            codes[:, column.missing] = missing
    if known:
        numbers = [column for column in columns if not isinstance(column, CodeColumn)]
        tied = Tied(layout, numbers, known, ticks, codes, label, atoms, heaps)
        tied.settle(calendars, rng)
    if label_place is not None:
        codes[:, label_place] = label
    return layout.encoded(ticks, codes)
