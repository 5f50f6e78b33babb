"""How likely rows are under each component of a mixture, by few lookups a row instead of many.

Columns are put together while few of their combinations occur, so that a row's likelihoods are a
product of a few rows of tables, one for each set of columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Likely = NDArray[np.float32]
Index = NDArray[np.int64]

ROOM = 1 << 21  # numbers in one table, so that it stays in a processor's cache
BLOCK = 32  # rows at once, likewise
MOST = 5  # tables
LEAST = 1e-36  # products of likelihoods below which float32 would lose digits, and speed


class Together(NamedTuple):
    """Columns whose combinations are rows of one table.

    Attributes:
        which: the combination of each row.
        logs: (combinations, R) its log likelihood under each component, before it is scaled.
    """

    which: Index
    logs: Likely


def likelihoods(logs: Likely, places: Index) -> Iterator[Likely] | None:
    """Blocks of rows' likelihoods (rows, R), each row scaled by a factor of its own.

    Within one table a component is taken to be no less likely than 1e-7 times the likeliest.
    None if the columns take more than a few tables.

    Args:
        logs: (D, R) log probabilities of all bins.
        places: (n, K) the bins of each row among the D.
    """
    tables = _together(logs, places)
    if tables is None:
        return None
    floor = np.float32(math.pow(LEAST, 1 / len(tables)))
    scaled = [np.exp(t.logs - t.logs.max(1, keepdims=True)) for t in tables]
    for table in scaled:
        np.maximum(table, floor, out=table)
    return _products([t.which for t in tables], scaled)


def _products(which: list[Index], tables: list[Likely]) -> Iterator[Likely]:
    total = np.empty((BLOCK, tables[0].shape[1]), np.float32)
    factor = np.empty_like(total)
    for start in range(0, len(which[0]), BLOCK):
        rows = slice(start, start + BLOCK)
        size = len(which[0][rows])
        np.take(tables[0], which[0][rows], axis=0, out=total[:size], mode="clip")
        for own, table in zip(which[1:], tables[1:], strict=True):
            np.take(table, own[rows], axis=0, out=factor[:size], mode="clip")
            total[:size] *= factor[:size]
        yield total[:size]


def _together(logs: Likely, places: Index) -> list[Together] | None:
    """Each column in the first table that has room for it."""
    found: list[Together] = []
    for column in places.T:
        low = int(column.min(initial=0))
        own = Together(column - low, logs[low : int(column.max(initial=0)) + 1])
        for place, table in enumerate(found):
            if (joint := _joined(table, own)) is not None:
                found[place] = joint
                break
        else:
            found.append(own)
        if len(found) > MOST:
            return None
    return found or None


def _joined(left: Together, right: Together) -> Together | None:
    """Both in one table of the combinations that occur; None if they are too many."""
    width = len(right.logs)
    if len(left.logs) * width > len(left.which) + ROOM:
        return None
    key = left.which * width + right.which
    occurs = np.bincount(key, minlength=len(left.logs) * width) > 0
    if int(occurs.sum()) * right.logs.shape[1] > ROOM:
        return None
    at = np.flatnonzero(occurs)
    logs = left.logs[at // width] + right.logs[at % width]
    return Together((np.cumsum(occurs) - 1)[key], logs)
