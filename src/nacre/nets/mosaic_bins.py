"""Coarse bins over fine cells, made from noisy histograms only: atoms, quantiles, lumped rares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

CERTAIN = 2.5  # deviations of the noise beyond which a difference is believed


def simplex(counts: Array, total: float) -> Array:
    """The nearest counts (in Euclidean distance) that are not negative and add up to `total`."""
    total = max(float(total), 1e-9)
    high = np.sort(counts)[::-1]
    excess = (np.cumsum(high) - total) / np.arange(1, len(counts) + 1)
    last = np.nonzero(high > excess)[0][-1]
    return np.maximum(counts - excess[last], 0.0)


def smooth(counts: Array, noise: float) -> Array:
    """Counts over ordered cells with what is likely noise taken out: spikes and jumps stay.

    A Haar transform that does not depend on where it starts (Coifman and Donoho, 1995): the
    difference of two neighboring stretches counts only above `CERTAIN` noise deviations.
    """
    size = len(counts)
    level = np.concatenate([counts[::-1], counts, counts[::-1]])
    widths = [2**j for j in range(size.bit_length() - 1)]
    kept = []
    for width in widths:
        other = np.roll(level, -width)
        difference, level = (level - other) / 2, (level + other) / 2
        sure = np.abs(difference) > CERTAIN * noise / np.sqrt(2 * width)
        kept.append(np.where(sure, difference, 0.0))
    for width, difference in zip(reversed(widths), reversed(kept), strict=True):
        level = (level + difference + np.roll(level - difference, width)) / 2
    return level[size : 2 * size]


def clean(
    noisy: Sequence[Array], noise: float, ordered: Sequence[int]
) -> tuple[list[Array], Array]:
    """Class-wise histograms (C, cells) by column without their noise, and the class sizes.

    Every column's histogram adds up to the class size plus noise whose variance is proportional
    to its number of cells: the sizes are their weighted mean.  The first `ordered` cells of a
    column are smoothed; then all are made non-negative and agree on the sizes.
    """
    spread = np.array([table.shape[1] for table in noisy], np.float64)
    sums = np.stack([table.sum(1) for table in noisy])
    sizes = np.maximum((sums / spread[:, None]).sum(0) / (1 / spread).sum(), 1.0)
    tables = []
    for table, count in zip(noisy, ordered, strict=True):
        ends = table[:, count:]
        # A rare class is known by how it differs from all rows; where it does not, it is like them.
        pool = smooth(table[:, :count].sum(0), noise * np.sqrt(len(sizes)))
        like = np.outer(sizes / sizes.sum(), np.maximum(pool, 0.0))
        parts = [smooth(row, noise) for row in table[:, :count] - like]
        rows = np.concatenate([like + np.reshape(parts, like.shape), ends], axis=1)
        tables.append(np.stack([simplex(*pair) for pair in zip(rows, sizes, strict=True)]))
    return tables, sizes


def quantile_bins(mass: Array, *, most: int, floor: float, slots: int) -> Index:
    """The bin of each ordered cell: about `most` bins of equal mass, a heavy cell one by itself.

    No bin is to hold less than `floor` of the mass, where that can be had; there are never more
    than `slots`.
    """
    share = mass / mass.sum()
    atom = np.zeros(len(share), bool)
    while True:
        left = max(most - int(atom.sum()), 1)
        target = max(float(share[~atom].sum()) / left, floor)
        heavy = atom | (share > target)
        if (heavy == atom).all():
            break
        atom = heavy
    group, total, index = np.zeros(len(share), np.int64), np.inf, -1
    for place, weight in enumerate(share):
        if atom[place] or total >= 0.999 * target:
            index, total = index + 1, 0.0
        total = np.inf if atom[place] else total + weight
        group[place] = index
    return _join_lightest(_join_light(group, share, atom, floor / 2), share, slots)


def _join_light(group: Index, share: Array, atom: NDArray[np.bool_], floor: float) -> Index:
    """A bin too light to measure joins a neighbor that is no atom."""
    single = set(group[atom].tolist())
    for b in range(int(group.max()) + 1):
        weight = share[group == b].sum()
        near = [t for t in (b - 1, b + 1) if t not in single and (group == t).any()]
        if b not in single and weight < floor and near:
            group = np.where(group == b, near[0], group)
    return np.unique(group, return_inverse=True)[1]


def _join_lightest(group: Index, share: Array, slots: int) -> Index:
    """While there are too many bins, the two neighbors that are lightest together become one."""
    weights = np.bincount(group, share)
    while len(weights) > slots:
        left = int(np.argmin(weights[:-1] + weights[1:]))
        group = np.where(group > left, group - 1, group)
        weights = np.bincount(group, share)
    return group


def lump_rare(mass: Array, *, floor: float, slots: int) -> Index:
    """The bin of each category: its own, or the last one, which all rare categories share."""
    rare = mass < floor * mass.sum()
    if len(mass) > slots:
        rare[np.argsort(-mass, kind="stable")[slots - 1 :]] = True
    if rare.sum() < 2:
        return np.arange(len(mass))
    return np.where(rare, (~rare).sum(), np.cumsum(~rare) - 1)


def within(group: Index, table: Array) -> Array:
    """P(cell | bin, class) from cleaned class-wise counts; pooled where empty, then flat."""
    found = table
    for source in (table.sum(0, keepdims=True), np.ones((1, table.shape[1]))):
        found = np.where(bin_sums(group, found)[:, group] > 0, found, source)
    return found / bin_sums(group, found)[:, group]


def bin_sums(group: Index, table: Array) -> Array:
    """Sums over the cells of each bin, (C, bins)."""
    size = int(group.max()) + 1
    return np.stack([np.bincount(group, row, size) for row in table])
