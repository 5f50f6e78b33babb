"""Means and products of a row's places, from one sum: a private covariance, for private PCA."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.embed.fourier import column_offsets
from nacre.embed.numbers import on_grid
from nacre.schema import Layout

BITS = 10  # of the grid on which a row's places are seen
ONE = 1 << BITS  # what one is in the integers that are summed
ROOT = 1448  # floor(sqrt(2) * 2^10): off the diagonal a product counts for both of its places


def places_of(layout: Layout, columns: Sequence[int]) -> NDArray[np.int64]:
    """The places of the encoded row that some columns take up."""
    offsets = column_offsets(layout)
    return np.concatenate([np.arange(offsets[c], offsets[c + 1]) for c in columns])


def covariance_features(layout: Layout, columns: Sequence[int]) -> Any:
    """x and the upper triangle of x x' of one row, off-diagonals times sqrt(2), as integers.

    x are the places of some columns: numbers in [0, 1] and one-hot codes.  Sensitivity: a column
    has norm at most 1 in x, so ||x||^2 <= K for K columns, and ||x x'||_F = ||x||^2 <= K; all is
    rounded down and nothing is negative: add-remove sqrt(K + K^2) * 2^10.
    """
    import jax.numpy as jnp

    numbers = on_grid(layout, BITS)
    inner = [column for column in columns if column < len(layout.numbers)]
    codes = [column - len(layout.numbers) for column in columns if column >= len(layout.numbers)]
    width = len(places_of(layout, columns))
    rows, others = np.triu_indices(width)
    diagonal = rows == others

    def features(row: Any) -> Any:
        parts = [numbers(row)[np.array(inner, np.int32)]] if inner else []
        for place in codes:
            hot = row.codes[place] == jnp.arange(layout.codes[place].size)
            parts.append(hot.astype(jnp.int32) << BITS)
        x = jnp.concatenate(parts)
        product = (x[rows] * x[others]) >> BITS
        return jnp.concatenate([x, jnp.where(diagonal, product, (product * ROOT) >> BITS)])

    return features


def covariance_segments(layout: Layout, columns: Sequence[int]) -> list[tuple[int, float]]:
    """Size and norm of the two segments of `covariance_features`, neither negative."""
    width, count = len(places_of(layout, columns)), len(columns)
    return [(width, ONE * math.sqrt(count)), (width * (width + 1) // 2, float(ONE * count))]


def covariance(sums: NDArray[np.float64], total: float, width: int) -> NDArray[np.float64]:
    """The noisy covariance of the places, symmetric; some of its eigenvalues may be negative."""
    mean = sums[:width] / ONE / max(total, 1.0)
    found = np.zeros((width, width))
    rows, others = np.triu_indices(width)
    values = sums[width:] / ONE / max(total, 1.0)
    found[rows, others] = np.where(rows == others, values, values * ONE / ROOT)
    found = np.triu(found) + np.triu(found, 1).T
    return np.asarray(found - np.outer(mean, mean))


def principal(
    matrix: NDArray[np.float64], dimensions: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The leading eigenvectors, as rows, and their eigenvalues, none of them negative."""
    values, vectors = np.linalg.eigh(matrix)
    leading = np.argsort(values)[::-1][:dimensions]
    return vectors[:, leading].T, np.maximum(values[leading], 0.0)
