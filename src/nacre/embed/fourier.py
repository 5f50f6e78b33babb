"""Cosines and sines of random projections of a row, in integers, with their exact bound."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.schema import Layout


@dataclasses.dataclass(frozen=True, eq=False)
class Frequencies:
    """Public frequencies t_1 ... t_k over the encoded row, each touching a few columns only.

    matrix   (k, numbers + one-hot width), radians
    support  (k, order), the columns that each frequency touches (numbers first, then codes), the
             unused places filled with -1 from the left
    """

    matrix: NDArray[np.float64]
    support: NDArray[np.int64]
    layout: Layout

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each column starts in the encoded row."""
        return column_offsets(self.layout)

    def of(self, column: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The frequencies that touch a column, and their values on its part of the row."""
        touching = np.flatnonzero((self.support == column).any(axis=1))
        return touching, self.matrix[touching, self.offsets[column] : self.offsets[column + 1]]


def column_offsets(layout: Layout) -> NDArray[np.int64]:
    """Where each column starts in the encoded row: one place a number, a block a code."""
    widths = [1] * len(layout.numbers) + [code.size for code in layout.codes]
    return np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)


def draw_frequencies(
    layout: Layout,
    count: int,
    *,
    columns: Sequence[int],
    orders: Sequence[tuple[int, float]],
    low: float,
    high: float,
    rng: np.random.Generator,
) -> Frequencies:
    """Frequencies that touch `order` columns each, in the given proportions.

    A frequency on few columns sees their joint distribution without the others' blur, at the same
    sensitivity as one on all.  A category gets a uniform phase; a number N(0, s^2) with s log-
    uniform in [low, high], so that both broad shape and spikes are seen.
    """
    offsets = column_offsets(layout)
    matrix = np.zeros((count, int(offsets[-1])))
    most = min(max(order for order, _ in orders), len(columns))
    support = np.full((count, most), -1, np.int64)
    start = 0
    for place, (order, part) in enumerate(orders):
        size = min(order, len(columns))
        last = place == len(orders) - 1
        number = count - start if last else min(round(part * count), count - start)
        support[start : start + number, most - size :] = _groups(columns, size, number, rng)
        start += number
    for column in columns:
        rows = np.flatnonzero((support == column).any(axis=1))
        if column < len(layout.numbers):
            scale = np.exp(rng.uniform(math.log(low), math.log(high), len(rows)))
            matrix[rows, offsets[column]] = rng.normal(size=len(rows)) * scale
        else:
            block = np.arange(offsets[column], offsets[column + 1])
            phases = rng.uniform(-math.pi, math.pi, (len(rows), len(block)))
            matrix[rows[:, None], block] = phases
    return Frequencies(matrix, support, layout)


def _groups(
    columns: Sequence[int], order: int, number: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """`number` groups of `order` columns, every group about equally often."""
    if math.comb(len(columns), order) > 100_000:
        picks = np.argsort(rng.random((number, len(columns))), axis=1)[:, :order]
        return np.sort(np.asarray(columns)[picks], axis=1)
    every = np.array(list(itertools.combinations(columns, order)), np.int64).reshape(-1, order)
    rounds = -(-number // len(every))
    return np.concatenate([rng.permutation(every) for _ in range(rounds)])[:number]


class FourierFeatures:
    """Fixed-point cosine and sine of <t_j, x> for one row: integers, 2k of them.

    Sensitivity: each (sine, cosine) pair has norm at most `pair_norm()` integer units, found by
    trying all 2^16 phases, so the vector has at most sqrt(k) times that, for every row.
    """

    def __init__(self, frequencies: Frequencies):
        from nacre.exact import ExactPhases

        layout = frequencies.layout
        sizes = [code.size for code in layout.codes]
        self.phases = ExactPhases(frequencies.matrix, len(layout.numbers), sizes)
        # What was rounded to the exact grid is what the rows are seen through.
        self.frequencies = dataclasses.replace(frequencies, matrix=self.phases.frequencies)

    def __call__(self, row: Any) -> Any:
        """The features of one row, sines first."""
        import jax.numpy as jnp

        from nacre.exact import sine_cosine

        return jnp.concatenate(sine_cosine(self.phases(row.numbers, row.codes)))


def feature_norm(count: int) -> float:
    """The norm bound of `FourierFeatures` at `count` frequencies, in integer units."""
    from nacre.exact import pair_norm

    return pair_norm() * math.sqrt(count)
