"""Histograms that agree with the tables of pairs, which count every bin once more."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.bins import bin_sums, within
from nacre.histograms.cells import CodeColumn
from nacre.histograms.clean import CERTAIN
from nacre.histograms.hidden import steps_away
from nacre.histograms.histograms import Histograms, deviation

if TYPE_CHECKING:
    from nacre.methods.mosaic.learn import Pairs

Array = NDArray[np.float64]
Index = NDArray[np.int64]

NOTHING = 1e-9  # rows


def agreed(histograms: Histograms, pairs: Pairs) -> Histograms:
    """Histograms of joined columns that agree with all tables of pairs they are in.

    Each table, added up over its other column, counts the bins once more.  All countings of a bin
    are averaged by their precision; its filled cells share equally in what that changes, as far as
    their own noise explains it.
    """
    by_class = len(next(iter(pairs.tables.values()))) == len(histograms.sizes)
    if not by_class and not pairs.labeled:
        return histograms
    noisy, cleaned = list(histograms.noisy), list(histograms.cleaned)
    for place, (column, group) in enumerate(zip(pairs.joined, pairs.groups, strict=True)):
        before, variance = histograms.binned(column, group)
        mean, spread = pairs.averaged(place, before, variance)
        total, weight = mean / spread, 1 / spread
        for (i, j), table in pairs.tables.items():
            if by_class and place in (i, j):
                axis = 2 if place == i else 1
                again = 1 / (pairs.noise[i, j] ** 2 * table.shape[axis])
                total, weight = total + table.sum(axis) * again, weight + again
        # Rare categories, unlike the cells of a tail, are no neighbors of each other.
        lists = isinstance(histograms.columns[column], CodeColumn)
        noise = math.inf if lists else deviation(histograms.noise[column])
        known, mean = histograms.filled[column], total / weight
        noisy[column] = noisy[column] + shared_out(mean - before, group, known, noise)
        # What is denoised may be beside the counts already, and nearer to the truth.
        change = shared_out(mean - bin_sums(group, cleaned[column]), group, known, noise)
        changed = np.maximum(cleaned[column] + change, 0.0)
        # Noise may leave a class nothing at all: it stays as it was.
        left = changed.sum(1, keepdims=True) > NOTHING
        cleaned[column] = _sized(np.where(left, changed, cleaned[column]), histograms.sizes)
    return dataclasses.replace(histograms, noisy=noisy, cleaned=cleaned)


def shared_out(change: Array, group: Index, filled: NDArray[np.bool_], noise: float) -> Array:
    """The bins' changes (C, bins) in equal parts on their filled cells, or on all if none is.

    Rows that a bin holds beyond what noise can have hidden in its filled cells lie in its others:
    in a thin tail beside a spike no cell was sure, and the spike is not to get them all.
    """
    known, every = np.bincount(group, filled), np.bincount(group)
    explained = CERTAIN * noise * np.sqrt(np.maximum(known, 1))
    most = np.where((known > 0) & (known < every), explained, np.inf)
    taken, own = np.minimum(change, most), filled | (known == 0)[group]
    near = np.where(own, 0.0, 1 / np.maximum(steps_away(filled), 1))
    found = taken[:, group] * within(group, own[None].astype(np.float64))
    return found + (change - taken)[:, group] * within(group, near[None])


def _sized(table: Array, sizes: Array) -> Array:
    return table * (sizes / np.maximum(table.sum(1), NOTHING))[:, None]
