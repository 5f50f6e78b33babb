"""One- and two-way marginals of a table as sparse sums of one row, in integers throughout.

A row is one cell of each column: K ones among all cells, and for each pair of columns one one
among the pairs of their bins.  The vault puts them in the block of the row's label, so that
marginals given the label cost no more than marginals.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.cells import EXACT_TICKS, Column, intervals_of, position_grid
from nacre.schema import Layout

Places = Callable[[Any], Any]


def offsets(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Where each stretch of a concatenation starts, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def cell_places(layout: Layout, columns: Sequence[Column], most: int) -> Places:
    """A function of one row: the places of its cells among all cells of `columns`, increasing."""
    import jax.numpy as jnp

    starts = jnp.asarray(offsets([column.size for column in columns])[:-1], jnp.int32)
    numbers = [column for column in columns if column.number >= 0]
    ticks = [layout.numbers[column.number].ticks for column in numbers]
    which = np.array([column.number for column in numbers], np.int32)
    grid = np.array([position_grid(t) for t in ticks], np.int32)
    shown = np.array([t if t <= EXACT_TICKS else 0 for t in ticks], np.int32)
    single = np.array([t < most for t in ticks], bool)
    last = np.array([column.size - 1 for column in numbers], np.int32)
    nullable = np.array([column.nullable for column in numbers], bool)
    indicator = np.array([max(column.code, 0) for column in numbers], np.int32)
    codes = np.array([column.code for column in columns if column.number < 0], np.int32)
    largest = np.array([column.size - 1 for column in columns if column.number < 0], np.int32)

    def number_cells(row: Any) -> Any:
        x = jnp.clip(row.numbers[which], 0, 1 << 16)
        # Exact: the grid of 2^16 is at least four times as fine as the ticks.
        position = jnp.where(shown > 0, (x * shown + (1 << 15)) >> 16, x)
        between = 1 + (position - 1) * intervals_of(most) // np.maximum(grid - 1, 1)
        ends = jnp.where(position == 0, 0, intervals_of(most) + 1)
        wide = jnp.where((position == 0) | (position == grid), ends, between)
        cell = jnp.where(single, position, wide)
        if not nullable.any():
            return cell
        return jnp.where(nullable & (row.codes[indicator] == 1), last, cell)

    def places(row: Any) -> Any:
        parts = []
        if numbers:
            parts.append(number_cells(row))
        if len(codes):
            parts.append(jnp.clip(row.codes[codes], 0, largest))
        return starts + jnp.concatenate(parts)

    return places


def single_features(places: Places) -> Callable[[Any], Any]:
    """One-hot cells of every column, as (indices, ones).

    Sensitivity: K ones for K columns, none negative: add-remove sqrt(K), replace-one sqrt(2 K).
    """
    import jax.numpy as jnp

    def features(row: Any) -> Any:
        found = places(row)
        return found, jnp.ones(found.shape, jnp.int32)

    return features


def pair_features(
    places: Places, bins: NDArray[np.int64], chosen: Sequence[int], slots: Sequence[int]
) -> Callable[[Any], Any]:
    """One-hot pairs of bins, for all pairs of the `chosen` columns, as (indices, ones).

    `bins` gives the bin of every cell, below `slots` of its column; it may follow from earlier
    releases, the slots must be public.

    Sensitivity: a row has one pair of bins for each pair of columns, so with P pairs add-remove
    sqrt(P), replace-one sqrt(2 P).
    """
    import jax.numpy as jnp

    table, which = jnp.asarray(bins, jnp.int32), np.asarray(chosen, np.int32)
    left, right = pair_index(len(which))
    width = np.asarray(slots, np.int32)[right]
    start = jnp.asarray(pair_starts(slots)[:-1], jnp.int32)

    def features(row: Any) -> Any:
        bin_of = table[places(row)[which]]
        indices = start + bin_of[left] * width + bin_of[right]
        return indices, jnp.ones(indices.shape, jnp.int32)

    return features


def pair_index(columns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Left and right column of every pair, in the order of `pair_features`."""
    pairs = np.array(list(itertools.combinations(range(columns), 2)), np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def pair_starts(slots: Sequence[int]) -> NDArray[np.int64]:
    """Where each pair's table starts, and the end of the last."""
    left, right = pair_index(len(slots))
    wide = np.asarray(slots, np.int64)
    return offsets(list(wide[left] * wide[right]))
