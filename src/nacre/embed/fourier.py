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

from nacre.embed.numbers import on_grid
from nacre.schema import Layout


@dataclasses.dataclass(frozen=True, eq=False)
class Frequencies:
    """Public frequencies over the encoded row, each touching a few columns only.

    They come in blocks with the same supports, so that a training step may use one of them.

    Attributes:
        matrix: (blocks, width, numbers + one-hot width), radians.
        support: (width, order), the columns that a frequency touches (numbers first, then codes),
            in ascending order, the unused places -1 on the left; fewer columns come first.
    """

    matrix: NDArray[np.float64]
    support: NDArray[np.int64]
    layout: Layout

    @property
    def count(self) -> int:
        """How many frequencies there are."""
        return self.matrix.shape[0] * self.matrix.shape[1]

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each column starts in the encoded row."""
        return column_offsets(self.layout)

    def of(self, column: int) -> NDArray[np.float64]:
        """The values on a column's part of the row, of those that touch it: (blocks, m, part)."""
        touching = (self.support == column).any(axis=1)
        return self.matrix[:, touching, self.offsets[column] : self.offsets[column + 1]]


def column_offsets(layout: Layout) -> NDArray[np.int64]:
    """Where each column starts in the encoded row: one place a number, a block a code."""
    widths = [1] * len(layout.numbers) + [code.size for code in layout.codes]
    return np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)


def draw_frequencies(
    layout: Layout,
    *,
    width: int,
    blocks: int,
    columns: Sequence[int],
    orders: Sequence[tuple[int, float]],
    scales: tuple[float, float],
    focus: int | None = None,
    rng: np.random.Generator,
) -> Frequencies:
    """Frequencies that touch `order` columns each, in the given proportions (orders ascending).

    A frequency on few columns sees their joint distribution without the others' blur, at the same
    sensitivity as one on all.  A category gets a uniform phase; a number N(0, s^2) with s log-
    uniform in `scales`, so that both broad shape and spikes are seen.  With a `focus` (a
    regression target) every other frequency on several columns touches that one.
    """
    offsets = column_offsets(layout)
    matrix = np.zeros((blocks, width, int(offsets[-1])))
    orders = [(min(order, len(columns)), part) for order, part in orders]
    most = max(order for order, _ in orders)
    support = np.full((width, most), -1, np.int64)
    start = 0
    for place, (order, part) in enumerate(orders):
        last = place == len(orders) - 1
        number = width - start if last else min(round(part * width), width - start)
        groups = _groups(columns, order, number, rng)
        if focus is not None and order > 1:
            _include(groups[::2], focus)
        support[start : start + number, most - order :] = groups
        start += number
    for column in columns:
        rows = np.flatnonzero((support == column).any(axis=1))
        if column < len(layout.numbers):
            low, high = np.log(scales)
            scale = np.exp(rng.uniform(low, high, (blocks, len(rows))))
            matrix[:, rows, int(offsets[column])] = rng.normal(size=scale.shape) * scale
        else:
            places = np.arange(offsets[column], offsets[column + 1])
            phases = rng.uniform(-math.pi, math.pi, (blocks, len(rows), len(places)))
            matrix[:, rows[:, None], places] = phases
    return Frequencies(matrix, support, layout)


def row_frequencies(
    layout: Layout,
    *,
    width: int,
    blocks: int,
    columns: Sequence[int],
    scale: float,
    rng: np.random.Generator,
    directions: NDArray[np.float64] | None = None,
) -> Frequencies:
    """Frequencies over the whole row, t ~ N(0, scale^2) in each place of `columns`: the papers'.

    With `directions` (m, places), orthonormal rows, t = directions' w with w ~ N(0, scale^2) in
    R^m: the Fourier features of a projection of the row are those of the row at such t.
    """
    offsets = column_offsets(layout)
    places = np.concatenate([np.arange(offsets[c], offsets[c + 1]) for c in columns])
    inner = len(places) if directions is None else len(directions)
    drawn = rng.normal(size=(blocks, width, inner)) * scale
    matrix = np.zeros((blocks, width, int(offsets[-1])))
    matrix[:, :, places] = drawn if directions is None else drawn @ directions
    support = np.tile(np.sort(np.asarray(columns, np.int64)), (width, 1))
    return Frequencies(matrix, support, layout)


def _include(groups: NDArray[np.int64], focus: int) -> None:
    """Put `focus` into each group in place of its first column, unless it is there already."""
    absent = ~(groups == focus).any(axis=1)
    groups[absent, 0] = focus
    groups.sort(axis=1)


def _groups(
    columns: Sequence[int], order: int, number: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """`number` groups of `order` columns, every group about equally often."""
    if math.comb(len(columns), order) > 100_000:
        picks = np.argsort(rng.random((number, len(columns))), axis=1)[:, :order]
        return np.sort(np.asarray(columns)[picks], axis=1)
    every = np.array(list(itertools.combinations(columns, order)), np.int64).reshape(-1, order)
    rounds = -(-number // len(every))
    return np.concatenate([every[:0], *(rng.permutation(every) for _ in range(rounds))])[:number]


class FourierFeatures:
    """Fixed-point cosine and sine of <t_j, x> for one row: integers, 2k of them.

    Sensitivity:
        each (sine, cosine) pair has norm at most `pair_norm()` integer units, found by trying all
        2^16 phases, so the vector has at most sqrt(k) times that, for every row.
    """

    def __init__(self, frequencies: Frequencies):
        from nacre.exact import ExactPhases

        layout = frequencies.layout
        sizes = [code.size for code in layout.codes]
        flat = _within_reach(frequencies.matrix.reshape(frequencies.count, -1), layout)
        self._numbers = on_grid(layout, 16)
        self.phases = ExactPhases(flat, len(layout.numbers), sizes)
        # What was rounded to the exact grid is what the rows are seen through.
        rounded = np.reshape(self.phases.frequencies, frequencies.matrix.shape)
        self.frequencies = dataclasses.replace(frequencies, matrix=rounded)

    def __call__(self, row: Any) -> Any:
        """The features of one row, sines first."""
        import jax.numpy as jnp

        from nacre.exact import sine_cosine

        return jnp.concatenate(sine_cosine(self.phases(self._numbers(row), row.codes)))


def _within_reach(flat: NDArray[np.float64], layout: Layout) -> NDArray[np.float64]:
    """Frequencies that turn too often for exact phases shortened to what these can hold.

    How long they are may follow from a bought bandwidth, and no answer may stop a fit.
    """
    from nacre.exact import MOST_TURNS

    numbers = len(layout.numbers)
    reach = np.abs(flat[:, :numbers]).sum(1)
    start = numbers
    for code in layout.codes:
        reach = reach + np.abs(flat[:, start : start + code.size]).max(1, initial=0)
        start += code.size
    shorter = MOST_TURNS * 2 * math.pi / np.maximum(reach, 1e-300)
    return flat * np.minimum(1.0, shorter)[:, None]


def feature_norm(count: int) -> float:
    """The norm bound of `FourierFeatures` at `count` frequencies, in integer units."""
    from nacre.exact import pair_norm

    return pair_norm() * math.sqrt(count)
