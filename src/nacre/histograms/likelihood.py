"""How likely rows are under each component of a mixture, by few lookups a row instead of many.

Columns are put together while few of their combinations occur, so that a row's likelihoods are a
product of a few rows of tables, one for each set of columns.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Likely = NDArray[np.float32]
Index = NDArray[np.int64]

ROOMS = 1 << 19, 1 << 21  # numbers in one table, so that all stay in a processor's cache
BLOCK = 32  # rows at once, likewise
STRETCH = 4096  # rows at once where columns are not put together
TINY = np.float32(1e-30)
MOST = 5  # tables
FEW = 1 << 13  # rows whose combinations are counted to choose among tables
NARROW = 4  # classes
LEAST = 1e-36  # products of likelihoods below which float32 would lose digits, and speed


class Together(NamedTuple):
    """Columns whose combinations are rows of one table.

    Attributes:
        which: the combination of each row.
        logs: (combinations, R) its log likelihood under each component, before it is scaled.
    """

    which: Index
    logs: Likely


def log_posterior(p: Likely, w: Likely, places: Index) -> NDArray[np.float64]:
    """log P(class | bins) under the mixture, for rows given by their bins' places, (n, C)."""
    logs = np.ascontiguousarray(np.log(p + np.float32(1e-9)).astype(np.float32).T)
    joint = class_weights(logs, w, places)
    if joint is None:
        joint = _one_by_one(logs, w, places)
    # Zero if the only components that explain a row have no weight: all classes are alike.
    shares = joint / np.maximum(joint.sum(1, keepdims=True), TINY)
    return np.asarray(np.log(shares.astype(np.float64) + 1e-4))


def _one_by_one(logs: Likely, weights: Likely, places: Index) -> Likely:
    """`class_weights` of many columns."""
    found = np.empty((len(places), weights.shape[1]), np.float32)
    for start in range(0, len(places), STRETCH):
        part = places[start : start + STRETCH]
        hot = np.zeros((len(part), len(logs)), np.float32)
        np.put_along_axis(hot, part, 1, axis=1)
        total = hot @ logs
        found[start : start + STRETCH] = np.exp(total - total.max(1, keepdims=True)) @ weights
    return found


def class_weights(logs: Likely, weights: Likely, places: Index) -> Likely | None:
    """sum_r P(row | r) weights[r, c] of each row, (n, C), each row scaled by a factor of its own.

    Within one table a component is taken to be no less likely than 1e-7 times the likeliest.
    None if the columns take more than a few tables.

    Args:
        logs: (D, R) log probabilities of all bins.
        weights: (R, C) of components and classes.
        places: (n, K) the bins of each row among the D.
    """
    tables = next(filter(None, (_together(logs, places, room) for room in ROOMS)), None)
    if tables is None:
        return None
    floor = np.float32(math.pow(LEAST, 1 / len(tables)))
    scaled = [np.exp(t.logs - t.logs.max(1, keepdims=True)) for t in tables]
    for table in scaled:
        np.maximum(table, floor, out=table)
    outer = _fewest([t.which for t in tables], [len(t.logs) for t in tables])
    inner = [place for place in range(len(tables)) if place not in outer]
    # Rows that are alike are worked out once, and those that share the outer tables one after the
    # other, so that these are multiplied with the weights once.
    rows = np.stack([tables[place].which for place in (*outer, *inner)], axis=1)
    distinct, back = _distinct(rows, [len(tables[place].logs) for place in (*outer, *inner)])
    own = [scaled[place] for place in (*outer, *inner)]
    return _products(distinct, own, len(outer), np.ascontiguousarray(weights.T))[back]


def _fewest(which: list[Index], sizes: list[int]) -> tuple[int, ...]:
    """The tables, about half of them, whose combinations are the fewest."""
    many = len(which) // 2
    choices = list(itertools.combinations(range(len(which)), many))
    found = {}
    for chosen in choices:
        key = np.zeros(len(which[0]), np.int64)
        for place in chosen:
            key = key * sizes[place] + which[place]
        found[chosen] = len(np.unique(key[:FEW]))
    return min(choices, key=lambda chosen: found[chosen])


def _distinct(rows: Index, sizes: list[int]) -> tuple[Index, Index]:
    """The distinct rows in order, and where each row is among them."""
    key = np.zeros(len(rows), np.int64)
    for column, size in zip(rows.T, sizes, strict=True):
        key = key * size + column
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    return rows[first], back


def _products(rows: Index, tables: list[Likely], outer: int, weights: Likely) -> Likely:
    """The weights (n, C) of rows in order, from their places in outer tables, then inner ones."""
    found = np.empty((len(rows), len(weights)), np.float32)
    total = np.empty((BLOCK, weights.shape[1]), np.float32)
    factor, weighted = np.empty_like(total), np.empty_like(weights)
    changes = np.flatnonzero((rows[1:, :outer] != rows[:-1, :outer]).any(1)) + 1
    starts = [0, *changes.tolist(), len(rows)]
    inner = np.ascontiguousarray(rows[:, outer:].T)
    for low, high in itertools.pairwise(starts):
        np.copyto(weighted, weights)
        for place, table in zip(rows[low, :outer].tolist(), tables[:outer], strict=True):
            weighted *= table[place]
        for start in range(low, high, BLOCK):
            stop = min(start + BLOCK, high)
            one, other = total[: stop - start], factor[: stop - start]
            # The method: the function of that name would take as long again, for so few rows.
            tables[outer].take(inner[0, start:stop], axis=0, out=one, mode="clip")
            for which, table in zip(inner[1:], tables[outer + 1 :], strict=True):
                table.take(which[start:stop], axis=0, out=other, mode="clip")
                one *= other
            if len(weights) <= NARROW:  # where a product of matrices is slower
                for c, own in enumerate(weighted):
                    found[start:stop, c] = one @ own
            else:
                np.matmul(one, weighted.T, out=found[start:stop])
    return found


def _together(logs: Likely, places: Index, room: int) -> list[Together] | None:
    """Each column in the first table that has room for it."""
    found: list[Together] = []
    for column in places.T:
        low = int(column.min(initial=0))
        own = Together(column - low, logs[low : int(column.max(initial=0)) + 1])
        for place, table in enumerate(found):
            if (joint := _joined(table, own, room)) is not None:
                found[place] = joint
                break
        else:
            found.append(own)
        if len(found) > MOST:
            return None
    return found or None


def _joined(left: Together, right: Together, room: int) -> Together | None:
    """Both in one table of the combinations that occur; None if they are too many."""
    width = len(right.logs)
    if len(left.logs) * width > len(left.which) + room:
        return None
    key = left.which * width + right.which
    occurs = np.bincount(key, minlength=len(left.logs) * width) > 0
    if int(occurs.sum()) * right.logs.shape[1] > room:
        return None
    at = np.flatnonzero(occurs)
    logs = left.logs[at // width] + right.logs[at % width]
    return Together((np.cumsum(occurs) - 1)[key], logs)
