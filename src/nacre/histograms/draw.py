"""Draw from mixtures by quota: counts differ from their expectations by less than one in a group.

Every row follows the model, and a whole table lies closer to it than independent draws would.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.atoms import Atoms
from nacre.histograms.cells import CodeColumn, Column
from nacre.schema import Encoded, Layout

Array = NDArray[np.floating]
Index = NDArray[np.int64]

BLOCK = 4096
TINY = np.float32(1e-30)


def pick(weights: Array, n: int, rng: np.random.Generator) -> Index:
    """n places of the flattened `weights`, systematically sampled and then shuffled."""
    ends = weights.reshape(-1).astype(np.float64).cumsum()
    points = (np.arange(n) + rng.random()) / max(n, 1) * ends[-1]
    found = np.minimum(np.searchsorted(ends, points, side="right"), len(ends) - 1)
    return rng.permutation(found)


def quota(group: Index, groups: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A number in [0, 1) for each row: evenly spaced within each group, in random order."""
    n = len(group)
    order = np.lexsort((rng.random(n), group))
    counts = np.bincount(group, minlength=groups)
    rank = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
    found = np.empty(n)
    found[order] = (rank + np.repeat(rng.random(groups), counts)) / np.repeat(counts, counts)
    return found


def draw_bins(table: Array, component: Index, rng: np.random.Generator) -> Index:
    """A bin for each row from its component's row of `table` (R, B)."""
    rows, size = table.shape
    ends = table.astype(np.float64).cumsum(1)
    ends = ends / ends[:, -1:] + np.arange(rows)[:, None]
    found = np.searchsorted(ends.reshape(-1), component + quota(component, rows, rng), side="right")
    return np.clip(found - component * size, 0, size - 1)


def draw_cells(
    inside: Array, group: Index, bins: Index, label: Index, rng: np.random.Generator
) -> Index:
    """A cell of each row's bin, from P(cell | bin, class) (C, cells); `group` is a cell's bin."""
    size = int(group.max()) + 1
    order = np.argsort(group, kind="stable")
    first, last = (np.searchsorted(group[order], bins, side=s) for s in ("left", "right"))
    # Each bin's cells add up to one: bin b of class c fills the interval from c * size + b.
    ends = inside[:, order].astype(np.float64).cumsum(1)
    ends = ends / ends[:, -1:] * size + size * np.arange(len(inside))[:, None]
    key = label * size + bins
    found = np.searchsorted(
        ends.reshape(-1), key + quota(key, len(inside) * size, rng), side="right"
    )
    return order[np.clip(found - label * len(order), first, last - 1)]


def log_posterior(p: Array, w: Array, places: Index) -> NDArray[np.float64]:
    """log P(class | bins) under the mixture, for rows given by their bins' places, (n, C)."""
    logs = np.log(p + np.float32(1e-9)).astype(np.float32).T
    found = np.zeros((len(places), w.shape[1]))
    for start in range(0, len(places), BLOCK):
        part = places[start : start + BLOCK]
        hot = np.zeros((len(part), len(logs)), np.float32)
        np.put_along_axis(hot, part, 1, axis=1)
        total = hot @ logs
        total -= total.max(1, keepdims=True)
        joint = np.exp(total) @ w
        # Zero if the only components that explain a row have no weight: all classes are alike.
        found[start : start + BLOCK] = joint / np.maximum(joint.sum(1, keepdims=True), TINY)
    return np.log(found + 1e-4)


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
) -> Encoded:
    """Cells as encoded rows: a number's tick is uniform within its cell, but for its atoms."""
    ticks = np.zeros((len(cells), len(layout.numbers)), np.int64)
    codes = np.zeros((len(cells), len(layout.codes)), np.int32)
    for cell, column in zip(cells.T, columns, strict=True):
        if isinstance(column, CodeColumn):
            codes[:, column.code] = cell
            continue
        missing = cell == column.cells.size
        drawn = column.cells.draw(np.where(missing, 0, cell), rng)
        if atoms is not None:
            drawn = atoms.draw(column.number, cell, drawn, rng)
        ticks[:, column.number] = np.where(missing, 0, drawn)
        if column.missing is not None:
            codes[:, column.missing] = missing
    if label_place is not None:
        codes[:, label_place] = label
    return layout.encoded(ticks, codes)
