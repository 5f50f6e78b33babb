"""What the label model expects of its coefficients before it has seen any counts.

Coefficients of neighboring bins are alike: a Gaussian process over the places of ordered bins, and
beside it a part that every bin has for itself.  Values of a category have only the latter, and a
part that those of a family share.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Sparse = Any  # a matrix of SciPy's

SLOW, FAST = 0.35, 0.2  # how far smoothness reaches, as shares of all bins
SMOOTH = 6.0  # deviation of the smooth part, times that of single bins
CLOSE = 12.0  # deviation of a numeric label's classes beside that of others: links may be strong
LEAST = 1e-3  # of a direction's variance that is worth keeping


@final
@dataclasses.dataclass(frozen=True)
class Prior:
    """A table's coefficients are `left` (i, a) times standard normals (a, b) times `right`' (b, j).

    A table of one column has one row.
    """

    left: Array
    right: Array

    @staticmethod
    def apart(size: int, deviation: float) -> Prior:
        """So many coefficients that have nothing to do with each other."""
        return Prior(np.ones((1, 1)), deviation * np.eye(size))

    @staticmethod
    def single(ordered: int, bins: int, deviation: float, families: Sequence[Index] = ()) -> Prior:
        """Of one column, of whose bins the first `ordered` are in order.

        Where bins without an order belong to `families`, each of these has a coefficient, too,
        which all of its bins share, as it would if the families were a column beside this one.
        """
        if not ordered and not len(families):
            return Prior.apart(bins, deviation)
        if not ordered:
            alike = sum(family[:, None] == family for family in [np.arange(bins), *families])
            return Prior(np.ones((1, 1)), deviation * _factor(np.asarray(alike, np.float64)))
        smooth = SMOOTH**2 * _smooth(ordered, bins, FAST)
        return Prior(np.ones((1, 1)), deviation * _factor(np.eye(bins) + smooth))

    @staticmethod
    def pair(left: tuple[int, int], right: tuple[int, int], deviation: float) -> Prior:
        """Of pairs of bins of two columns, each given by how many are in order, and bins.

        What one of them says by itself is left to its own table: a slow wave over the bins of the
        other is nearly constant, and many pairs together would make up a link of the first.
        """
        one, other = (
            _factor(_centered(_smooth(*each, SLOW))) if each[0] else np.eye(each[1])
            for each in (left, right)
        )
        return Prior(deviation * one, other)

    @property
    def size(self) -> int:
        """How many standard normals there are."""
        return self.left.shape[1] * self.right.shape[1]


def factors(priors: Sequence[Prior]) -> tuple[Sparse, Sparse]:
    """By which standard normals of all tables are multiplied, one after the other.

    Row by row a table is (`left` ⊗ 1) (1 ⊗ `right`) times its normals.  Tables are many and small,
    and independent values leave zeros: products of one sparse matrix take a fraction of the time.
    """
    inner = [_kron(np.eye(prior.left.shape[1]), prior.right) for prior in priors]
    outer = [_kron(prior.left, np.eye(len(prior.right))) for prior in priors]
    return _diagonal(inner), _diagonal(outer)


def _kron(left: Array, right: Array) -> tuple[Index, Index, Array, tuple[int, int]]:
    """Rows, columns and values of what is not zero of left ⊗ right, and its shape."""
    above, below = np.nonzero(left), np.nonzero(right)
    row, column = (
        (one[:, None] * size + other).ravel()
        for one, other, size in zip(above, below, right.shape, strict=True)
    )
    shape = len(left) * len(right), left.shape[1] * right.shape[1]
    return row, column, np.outer(left[above], right[below]).ravel(), shape


def _diagonal(blocks: Sequence[tuple[Index, Index, Array, tuple[int, int]]]) -> Sparse:
    """One matrix with these along its diagonal."""
    shapes = np.array([shape for *_, shape in blocks])
    corners = np.cumsum(shapes, axis=0) - shapes
    rows, columns, values = [], [], []
    for (row, column, value, _), (top, left) in zip(blocks, corners, strict=True):
        rows.append(row + top)
        columns.append(column + left)
        values.append(value)
    places = np.concatenate(rows), np.concatenate(columns)
    return csr_array((np.concatenate(values), places), shape=tuple(shapes.sum(0).tolist()))


def ordered_classes(ordered: int, classes: int) -> Array:
    """(C, k): classes in order, neighbors alike; those beyond the first `ordered` are alone."""
    return CLOSE * _factor(_centered(_smooth(ordered, classes, SLOW)))


def _centered(covariance: Array) -> Array:
    """Of the same values less their mean."""
    away = np.eye(len(covariance)) - 1 / len(covariance)
    return np.asarray(away @ covariance @ away)


def _smooth(ordered: int, size: int, reach: float) -> Array:
    """The covariance of a Gaussian process over the first values; the others are independent."""
    place = (np.arange(ordered) + 0.5) / ordered
    near = np.exp(-0.5 * ((place[:, None] - place) / reach) ** 2)
    found = np.eye(size)
    found[:ordered, :ordered] = near
    return found


def _factor(covariance: Array) -> Array:
    """F with F F' the covariance, but for directions of next to no variance."""
    variance, directions = np.linalg.eigh(covariance)
    kept = variance > LEAST
    return np.asarray(directions[:, kept] * np.sqrt(variance[kept]))
