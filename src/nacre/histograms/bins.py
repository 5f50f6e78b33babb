"""Coarse bins over fine cells, made from noisy histograms only: atoms, quantiles, lumped rares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

WALLS = 3  # a sign or a rule cuts a number once or twice, a look-up table many times


def quantile_bins(
    mass: Array,
    *,
    most: int,
    floor: float,
    slots: int,
    begins: NDArray[np.bool_] | None = None,
    rare: float = 0.0,
    spikes: NDArray[np.bool_] | None = None,
) -> Index:
    """The bin of each ordered cell: about `most` bins of equal mass, a heavy cell one by itself.

    So is each of the `spikes`.

    Where a cell `begins` something of its own, a bin begins, too; of a few such places, it stays
    apart from what was before unless it is `rare`.

    No bin is to hold less than `floor` of the mass, where that can be had; there are never more
    than `slots`.
    """
    begins = np.zeros(len(mass), bool) if begins is None else begins
    share = mass / mass.sum()
    atom = np.zeros(len(share), bool) if spikes is None else spikes.copy()
    while True:
        left = max(most - int(atom.sum()), 1)
        target = max(float(share[~atom].sum()) / left, floor)
        heavy = atom | (share > target)
        if (heavy == atom).all():
            break
        atom = heavy
    group, total, index = np.zeros(len(share), np.int64), np.inf, -1
    for place, weight in enumerate(share):
        if atom[place] or total >= 0.999 * target or begins[place]:
            index, total = index + 1, 0.0
        total = np.inf if atom[place] else total + weight
        group[place] = index
    walls = begins if begins.sum() <= WALLS else np.zeros(len(mass), bool)
    group = _join_light(group, share, atom, floor / 2, walls, rare)
    return _join_lightest(group, share, slots)


def _join_light(
    group: Index,
    share: Array,
    atom: NDArray[np.bool_],
    floor: float,
    walls: NDArray[np.bool_],
    rare: float,
) -> Index:
    """A bin too light to measure joins a neighbor that is no atom; over a wall only if `rare`."""
    single, first = set(group[atom].tolist()), set(group[walls].tolist())
    for b in range(int(group.max()) + 1):
        weight = share[group == b].sum()
        near = [
            t
            for t in (b - 1, b + 1)
            if t not in single and (group == t).any() and (weight < rare or max(b, t) not in first)
        ]
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


def join_rare(mass: Array, scale: int, *, floor: float, slots: int) -> Index:
    """The bin of each category, the first `scale` of which are in order: rare ones join neighbors.

    The others ('missing') have a bin each.
    """
    others = len(mass) - scale
    share, group = mass[:scale] / max(mass.sum(), 1e-9), np.arange(scale)
    weights = share
    while len(weights) > 1 and weights.min() < floor:
        light = int(weights.argmin())
        near = [t for t in (light - 1, light + 1) if 0 <= t < len(weights)]
        left = min(light, min(near, key=lambda t: weights[t]))
        group = np.where(group > left, group - 1, group)
        weights = np.bincount(group, share)
    group = _join_lightest(group, share, max(slots - others, 1))
    return np.concatenate([group, group[-1] + 1 + np.arange(others)])


def lump_rare(mass: Array, *, floor: float, slots: int) -> Index:
    """The bin of each category: its own, or the last one, which all rare categories share."""
    rare = mass < floor * mass.sum()
    if len(mass) > slots:
        rare[np.argsort(-mass, kind="stable")[slots - 1 :]] = True
    if rare.sum() < 2:
        return np.arange(len(mass))
    return np.where(rare, (~rare).sum(), np.cumsum(~rare) - 1)


def lump_families(
    mass: Array, families: Sequence[Index], *, floor: float, slots: int, alone: float
) -> Index:
    """The bin of each category where some belong together: its family's, or its own.

    Families come first, the finest of several orders before others, as if they were the categories.
    Those that are rare themselves share the last bin.  Then the common categories, with at least
    `alone` of the mass, leave their family for a bin of their own, while there is room and the rest
    of the family stays common.
    """
    total, size = mass.sum(), 0
    bins = np.full(len(mass), -1)
    for family in families:
        left = bins < 0
        weights = np.bincount(family, np.where(left, mass, 0.0))
        for each in np.argsort(-weights, kind="stable").tolist():
            if weights[each] < floor * total or weights[each] <= 0 or size >= slots - 1:
                break
            bins[left & (family == each)] = size
            size += 1
    if (bins < 0).any():
        bins[bins < 0] = size
        size += 1
    weights, members = np.bincount(bins, mass), np.bincount(bins)
    for each in np.argsort(-mass, kind="stable").tolist():
        if mass[each] < alone * total or size >= slots:
            break
        own = bins[each]
        if members[own] > 1 and weights[own] - mass[each] >= floor * total:
            weights[own] -= mass[each]
            members[own] -= 1
            bins[each] = size
            size += 1
    # Bins in the order of their first categories, so that those of an ordinal stay in order.
    _, first, place = np.unique(bins, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place]


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
