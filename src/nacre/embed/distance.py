"""The root-mean-square distance between rows, from one sum: a private bandwidth.

The papers' mean or median over pairs of rows has no add-remove bound: one more row re-pairs all.
The RMS distance sqrt(2 sum_a Var x_a) needs only first and second moments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.embed.numbers import on_grid
from nacre.schema import Layout

ONE = 2.0**10  # what the number one is in the integers that are summed


def moment_features(layout: Layout, codes: Sequence[int]) -> Any:
    """x and x^2 of every number, and some one-hot codes, of one row, as integers.

    Sensitivity:
        numbers lie in [0, 2^10], their squares on the same grid too, and each code has one one,
        scaled to 2^10: none is negative, so add-remove sqrt(2 numbers + codes) * 2^10 and
        replace-one sqrt(2) times that.
    """
    import jax.numpy as jnp

    numbers = on_grid(layout, 10)

    def features(row: Any) -> Any:
        x = numbers(row)
        hot = [
            (row.codes[place] == jnp.arange(layout.codes[place].size)).astype(jnp.int32) << 10
            for place in codes
        ]
        return jnp.concatenate([x, (x * x) >> 10, *hot])

    return features


def moment_segments(layout: Layout, codes: Sequence[int]) -> list[tuple[int, float]]:
    """Size and norm of each non-negative segment of `moment_features`."""
    numbers = len(layout.numbers)
    segments = []
    if numbers:
        segments += [(numbers, ONE * math.sqrt(numbers))] * 2
    if codes:
        width = sum(layout.codes[place].size for place in codes)
        segments.append((width, ONE * math.sqrt(len(codes))))
    return segments


def rms_distance(sums: NDArray[np.float64], total: float, numbers: int) -> float:
    """sqrt(2 sum_a Var x_a) over numbers and one-hot places, from noisy moments; at least 1/100.

    A public clamp: each variance lies in [0, 1/4], whatever the noise says.
    """
    mean = sums / ONE / max(total, 1.0)
    square = mean.copy()  # of what is zero or one
    square[:numbers] = mean[numbers : 2 * numbers]
    variance = np.clip(square - mean**2, 0.0, 0.25)
    variance[numbers : 2 * numbers] = 0.0  # the squares themselves
    return max(0.01, math.sqrt(2 * float(variance.sum())))


def expected_distance(layout: Layout, codes: Sequence[int]) -> float:
    """A public guess of it: a sixth for a number (uniform), one for a code (many values)."""
    return max(0.1, math.sqrt(len(layout.numbers) / 6 + len(codes)))
