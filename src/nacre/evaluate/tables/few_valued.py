"""All pairs of columns with few values at once, by matrix products of their one-hot columns.

A table of a thousand two-valued columns has half a million cross-tables.  Counting them one by one
takes many minutes; the product of the one-hot matrix with itself holds them all.
"""

import dataclasses
import functools
from collections.abc import Iterator, Sequence

import numpy as np

from nacre.evaluate.tables.links import corrected_v
from nacre.evaluate.tables.rare import put_together
from nacre.evaluate.tables.rows import Coded

MOST_VALUES = 8
"""Of a column. With more, most of a product is spent on cells that counting would not visit."""
GROUP = 1024
"""Values of the columns that are multiplied at once, so that memory follows the rows no more than
the square of this."""
BLOCK = 4096
"""Rows to a product: single precision counts them exactly."""


@dataclasses.dataclass(frozen=True, eq=False)
class FewValued:
    """Some columns of one table, with at least two and at most `MOST_VALUES` values each.

    Attributes:
        codes: [rows, columns].
        first: where each column's values begin among all values of all columns.
        size: how many values there are in all.
        counts: how many rows have each value.
    """

    codes: np.ndarray
    first: np.ndarray
    size: int
    counts: np.ndarray

    @classmethod
    def of(cls, columns: Sequence[Coded]) -> "FewValued":
        """These columns, side by side."""
        ends = np.cumsum([column.size for column in columns])
        codes = np.stack([column.codes.astype(np.uint8) for column in columns], axis=1)
        counts = [np.bincount(c.codes, minlength=c.size) for c in columns]
        first = np.concatenate([[0], ends[:-1]])
        return cls(codes, first, int(ends[-1]), np.concatenate(counts))

    @property
    def share(self) -> np.ndarray:
        """The share of the rows that have each value."""
        return np.asarray(self.counts / len(self.codes))

    @functools.cached_property
    def kept(self) -> np.ndarray:
        """The values that are multiplied: all but each column's first, which follows from them."""
        return np.setdiff1d(np.arange(self.size), self.first)

    def one_hot(self, start: int) -> np.ndarray:
        """A block of rows, without each column's first value."""
        codes = self.codes[start : start + BLOCK].astype(np.int64)
        block = np.zeros((len(codes), self.size), np.float32)
        np.put_along_axis(block, codes + self.first, 1.0, axis=1)
        return block[:, self.kept]


def joint_shares(first: FewValued, second: FewValued) -> np.ndarray:
    """The share of the rows with each value of the first columns and each of the second."""
    rows, kept = len(first.codes), first.kept
    counts = np.zeros((len(kept), len(second.kept)))
    for start in range(0, rows, BLOCK):
        counts += first.one_hot(start).T @ second.one_hot(start)
    # Where columns begin when their first values are left out.
    starts = [some.first - np.arange(len(some.first)) for some in (first, second)]
    found = np.zeros((first.size, second.size))
    found[np.ix_(kept, second.kept)] = counts
    left = first.counts[kept, None] - np.add.reduceat(counts, starts[1], axis=1)
    found[np.ix_(kept, second.first)] = left
    found[first.first] = second.counts - np.add.reduceat(found[kept], starts[0], axis=0)
    return found / rows


def total_variations(
    p: np.ndarray, q: np.ndarray, first: FewValued, second: FewValued
) -> np.ndarray:
    """[first columns, second columns]: half the summed difference of each pair's shares."""
    return _per_pair(np.abs(p - q), first, second) / 2


def cramers_vs(
    joint: np.ndarray, first: FewValued, second: FewValued, places: Sequence[np.ndarray]
) -> np.ndarray:
    """[first columns, second columns]: Cramér's V of each pair, as `cells.cramers_v` defines it.

    `places` say, for the values of the first columns and of the second, with which others they are
    put together.
    """
    joint = _moved(_moved(joint, places[0]).T, places[1]).T
    shares = [_moved(f.share, p) for f, p in zip((first, second), places, strict=True)]
    expected = shares[0][:, None] * shares[1]
    ratio = np.divide(joint**2, expected, out=np.zeros_like(joint), where=expected > 0)
    phi = _per_pair(ratio, first, second) - 1
    occurring = [
        np.add.reduceat(share > 0, some.first, dtype=int)
        for share, some in zip(shares, (first, second), strict=True)
    ]
    found = corrected_v(phi, occurring[0][:, None], occurring[1], len(first.codes))
    return np.asarray(found)


def compare_few(
    real: Sequence[Coded], synthetic: Sequence[Coded]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three symmetric matrices: total variation, and both tables' Cramér's V.

    Their diagonals are 0 and 1, as nobody asks for a column with itself.
    """
    width = len(real)
    distance, here, there = np.zeros((width, width)), np.eye(width), np.eye(width)
    groups = list(_groups(real))
    for i, rows in enumerate(groups):
        for columns in groups[i:]:
            pairs = [
                (FewValued.of(table[rows]), FewValued.of(table[columns]))
                for table in (real, synthetic)
            ]
            p, q = (joint_shares(*pair) for pair in pairs)
            places = [_places(real[some]) for some in (rows, columns)]
            for into, found in (
                (distance, total_variations(p, q, *pairs[0])),
                (here, cramers_vs(p, *pairs[0], places)),
                (there, cramers_vs(q, *pairs[1], places)),
            ):
                into[rows, columns] = found
                into[columns, rows] = found.T
    np.fill_diagonal(distance, 0.0)
    for association in (here, there):
        np.fill_diagonal(association, 1.0)
    return distance, here, there


def _groups(columns: Sequence[Coded]) -> Iterator[slice]:
    """Neighboring columns that together have about `GROUP` values."""
    start = values = 0
    for place, column in enumerate(columns):
        if values + column.size > GROUP:
            yield slice(start, place)
            start, values = place, 0
        values += column.size
    yield slice(start, len(columns))


def _places(columns: Sequence[Coded]) -> np.ndarray:
    """Where each value goes, among all values of all columns, so that no rare one is left alone."""
    found, first = [], 0
    for column in columns:
        places = put_together(column)
        found.append(first + (np.arange(column.size) if places is None else places))
        first += column.size
    return np.concatenate(found)


def _moved(shares: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Shares by value, or by value and other things, with some values put together."""
    away = np.flatnonzero(places != np.arange(len(places)))
    if not len(away):
        return shares
    found = shares.copy()
    found[away] = 0.0
    np.add.at(found, places[away], shares[away])
    return found


def _per_pair(cells: np.ndarray, first: FewValued, second: FewValued) -> np.ndarray:
    """Sums over the cells of each pair of columns."""
    return np.add.reduceat(np.add.reduceat(cells, first.first, axis=0), second.first, axis=1)
