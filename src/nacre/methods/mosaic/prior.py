"""What the label model expects of its coefficients before it has seen any counts.

Coefficients of neighboring bins are alike: a Gaussian process over the places of ordered bins, and
beside it a part that every bin has for itself.  Values of a category have only the latter.  A prior
is given by a factor F: coefficients are F times standard normals, their covariance is F F'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

Array = NDArray[np.float64]

SLOW, FAST = 0.35, 0.2  # how far smoothness reaches, as shares of all bins
SMOOTH = 6.0  # deviation of the smooth part, times that of single bins
CLOSE = 6.0  # deviation of a numeric label's classes beside that of others: links may be strong
LEAST = 1e-3  # of a direction's variance that is worth keeping


def contrasts(classes: int) -> Array:
    """(C, C - 1): an orthonormal basis of what tells classes apart."""
    ones = np.column_stack([np.ones(classes), np.eye(classes)[:, 1:]])
    return np.asarray(np.linalg.qr(ones)[0][:, 1:], np.float64)


def ordered_classes(ordered: int, classes: int) -> Array:
    """(C, k): classes in order, neighbors alike; those beyond the first `ordered` are alone."""
    covariance = _smooth(ordered, classes, SLOW)
    centered = np.eye(classes) - 1 / classes
    return CLOSE * _factor(centered @ covariance @ centered)


def single(ordered: int, bins: int, deviation: float) -> Array:
    """(bins, k) of one column, of whose bins the first `ordered` are in order."""
    own = deviation**2 * np.eye(bins)
    if not ordered:
        return deviation * np.eye(bins)
    smooth = (SMOOTH * deviation) ** 2 * _smooth(ordered, bins, FAST)
    return _factor(own + smooth)


def pair(left: tuple[int, int], right: tuple[int, int], deviation: float) -> Array:
    """(bins, k) of pairs of bins of two columns, each given by how many are in order, and bins."""
    one, other = (
        _factor(_smooth(*each, SLOW)) if each[0] else np.eye(each[1]) for each in (left, right)
    )
    return np.asarray(deviation * np.kron(one, other))


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
