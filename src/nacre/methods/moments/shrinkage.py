"""Noisy matrices, drawn to what is likely by as much as noise explains (James and Stein, 1961).

Entries that may be alike stand in one group.  What a group's entries have on average beyond the
noise is believed, the rest is taken from each of them (empirical Bayes).  All of it works on noisy
answers whose noise is public: post-processing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Groups = NDArray[np.int64]

FARTHEST = 12  # of cosines: pairs that are farther apart stand in one group
LEVELS = (2, 3, 4, 6, 8, 11, 15, 20, 30, 45)  # of a pair's frequency: where a group ends
PLACES = (4, 9, 16, 26, 40, 60, 90, 130, 200, 300)  # of directions, likewise

SMALLEST = 1e-4  # of eigenvalues whose sum is one
SURE = 0.5  # of an eigenvalue, at least, is believed


def pairs_of_cosines(frequencies: Groups) -> Groups:
    """Groups of the products of two cosines of images, (count, count).

    Pixels near each other are alike, wherever they are: so products of neighboring frequencies are
    large, those of low ones larger, and those of even and odd ones none in pictures that look the
    same in a mirror.

    Args:
        frequencies: down, across, and the channel of each cosine, (count, 3).
    """
    apart = np.abs(frequencies[:, None] - frequencies[None])
    height = 1 + np.hypot(frequencies[:, 0], frequencies[:, 1])
    level = np.digitize(np.sqrt(np.outer(height, height)), LEVELS)
    steps = np.minimum(apart[..., 0] + apart[..., 1], FARTHEST)
    odd = 2 * (apart[..., 0] % 2) + apart[..., 1] % 2
    return _numbered(steps, level, odd, apart[..., 2] > 0, _diagonal(len(height)))


def pairs_of_directions(count: int) -> Groups:
    """Groups of the products of two directions, which stand in the order of their variances."""
    band = np.digitize(np.arange(count), PLACES)
    first, second = np.minimum.outer(band, band), np.maximum.outer(band, band)
    return _numbered(first, second, _diagonal(count))


def believed(values: Array, noise: Array | float, groups: Groups) -> Array:
    """The part of each value that is believed: of its group's mean square, what is not noise.

    Args:
        values: of expectation zero, as far as anybody knows.
        noise: standard deviation of their noise, of the same shape or one for all.
        groups: their numbers from 0, of the same shape.

    Returns:
        Numbers from 0 to 1, of the same shape.
    """
    flat, count = groups.reshape(-1), int(groups.max()) + 1
    noise = np.broadcast_to(noise, values.shape)
    squares, noises = (
        np.bincount(flat, (part**2).reshape(-1), minlength=count) for part in (values, noise)
    )
    return np.asarray(np.maximum(0.0, 1 - noises / np.maximum(squares, 1e-300))[groups])


def shrunk(values: Array, noise: Array | float, groups: Groups) -> Array:
    """What is believed of the values."""
    return np.asarray(values * believed(values, noise, groups))


def leading(matrix: Array, noise: Array, most: int) -> tuple[Array, Array]:
    """Directions in which a noisy symmetric matrix is large, and how large it is there indeed.

    A direction that noise helped to find is less than it looks: of an observed eigenvalue y in
    noise whose rows have norm s there is sqrt(y^2 - 4 s^2) (Benaych-Georges and Nadakuditi, 2011).

    Args:
        matrix: (size, size).
        noise: standard deviations of its entries.
        most: how many directions.

    Returns:
        The directions (size, count), and the matrix along each, (count,).
    """
    values, vectors = np.linalg.eigh(matrix)
    values, vectors = np.maximum(values[::-1][:most], SMALLEST), vectors[:, ::-1][:, :most]
    left = (noise**2).sum(1) @ vectors**2
    return vectors, np.sqrt(np.maximum(values**2 - 4 * left, (SURE * values) ** 2))


def _diagonal(count: int) -> NDArray[np.bool_]:
    return np.eye(count, dtype=bool)


def _numbered(*parts: NDArray[np.generic]) -> Groups:
    """A number from 0 for each combination that there is."""
    whole = np.stack([np.asarray(part, np.int64).reshape(-1) for part in parts], axis=1)
    _, numbers = np.unique(whole, axis=0, return_inverse=True)
    return np.asarray(numbers, np.int64).reshape(parts[0].shape)
