"""What the label model expects of its coefficients before it has seen any counts.

Coefficients of neighboring bins are alike: a Gaussian process over the places of ordered bins, and
beside it a part that every bin has for itself.  Values of a category have only the latter.
"""

from __future__ import annotations

import dataclasses
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

Array = NDArray[np.float64]

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
    def single(ordered: int, bins: int, deviation: float) -> Prior:
        """Of one column, of whose bins the first `ordered` are in order."""
        if not ordered:
            return Prior.apart(bins, deviation)
        smooth = SMOOTH**2 * _smooth(ordered, bins, FAST)
        return Prior(np.ones((1, 1)), deviation * _factor(np.eye(bins) + smooth))

    @staticmethod
    def pair(left: tuple[int, int], right: tuple[int, int], deviation: float) -> Prior:
        """Of pairs of bins of two columns, each given by how many are in order, and bins."""
        one, other = (
            _factor(_smooth(*each, SLOW)) if each[0] else np.eye(each[1]) for each in (left, right)
        )
        return Prior(deviation * one, other)

    @property
    def size(self) -> int:
        """How many standard normals there are."""
        return self.left.shape[1] * self.right.shape[1]

    def spread(self, normals: Array) -> Array:
        """Coefficients (k, cells) of standard normals (k, size)."""
        inner = normals.reshape(-1, self.left.shape[1], self.right.shape[1]) @ self.right.T
        return np.asarray((self.left @ inner).reshape(len(normals), -1))

    def gather(self, slopes: Array) -> Array:
        """Slopes by standard normals (k, size) of slopes by coefficients (k, cells)."""
        inner = slopes.reshape(-1, len(self.left), len(self.right)) @ self.right
        return np.asarray((self.left.T @ inner).reshape(len(slopes), -1))


def ordered_classes(ordered: int, classes: int) -> Array:
    """(C, k): classes in order, neighbors alike; those beyond the first `ordered` are alone."""
    covariance = _smooth(ordered, classes, SLOW)
    centered = np.eye(classes) - 1 / classes
    return CLOSE * _factor(centered @ covariance @ centered)


def _smooth(ordered: int, size: int, reach: float) -> Array:
    """The covariance of a Gaussian process over the first values; the others are independent."""
    place = (np.arange(ordered) + 0.5) / ordered
    near = np.exp(-0.5 * ((place[:, None] - place) / reach) ** 2)
    return np.asarray(block_diag(near, np.eye(size - ordered)))


def _factor(covariance: Array) -> Array:
    """F with F F' the covariance, but for directions of next to no variance."""
    variance, directions = np.linalg.eigh(covariance)
    kept = variance > LEAST
    return np.asarray(directions[:, kept] * np.sqrt(variance[kept]))
