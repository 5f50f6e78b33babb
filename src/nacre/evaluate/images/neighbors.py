"""Balls around features, and which other features lie in them."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from nacre.evaluate.images.comparison import ImageComparison

_ROWS = 500  # of distances that are held at once


class Features(NamedTuple):
    """As many features of real images as of synthetic ones."""

    real: np.ndarray
    synthetic: np.ndarray


def features_of(comparison: ImageComparison) -> Features:
    """A random part of both sides; neighbors among many cost the square of their number."""
    sides = comparison.real.features, comparison.features
    size = min(comparison.effort.neighbors, *map(len, sides))
    rng = comparison.real.rng("neighbors")
    return Features(*(side[rng.choice(len(side), size, replace=False)] for side in sides))


def radii(x: np.ndarray, k: int) -> np.ndarray:
    """The distance of each to its k-th neighbor among the others."""
    k = min(k, len(x) - 1)
    return np.concatenate([np.partition(cdist(p, x), k, axis=1)[:, k] for p in _parts(x)])


def share_inside(points: np.ndarray, centers: np.ndarray, radius: np.ndarray) -> float:
    """The share of the points that lie in some ball."""
    inside = [(cdist(part, centers) <= radius).any(axis=1) for part in _parts(points)]
    return float(np.concatenate(inside).mean())


def share_filled(points: np.ndarray, centers: np.ndarray, radius: np.ndarray) -> float:
    """The share of the balls in which some point lies."""
    return float((nearest(centers, points) <= radius).mean())


def nearest(points: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The distance of each point to the closest of the others."""
    return np.concatenate([cdist(part, among).min(axis=1) for part in _parts(points)])


def _parts(x: np.ndarray) -> list[np.ndarray]:
    return [x[start : start + _ROWS] for start in range(0, len(x), _ROWS)]
