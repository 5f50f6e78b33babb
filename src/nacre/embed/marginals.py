"""One- and two-way marginals of a table as sparse sums of one row, in integers throughout.

A row is one cell of each column: K ones among all cells, and for each pair of columns one one
among the pairs of their bins.  The vault puts them in the block of the row's label, so that
marginals given the label cost no more than marginals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.cells import CodeColumn, Column, NumberColumn
from nacre.schema import Layout

Places = Callable[[Any], Any]


def offsets(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Where each stretch of a concatenation starts, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def cell_places(layout: Layout, columns: Sequence[Column]) -> Places:
    """A function of one row: the places of its cells among all cells of `columns`, increasing."""
    import jax.numpy as jnp

    starts = jnp.asarray(offsets([column.size for column in columns])[:-1], jnp.int32)
    numbers = [column for column in columns if isinstance(column, NumberColumn)]
    others = [column for column in columns if isinstance(column, CodeColumn)]
    which = np.array([column.number for column in numbers], np.int32)
    most = np.array([layout.numbers[place].positions for place in which], np.int32)
    begins = _padded([_begins(column, layout) for column in numbers])
    last = np.array([column.size - 1 for column in numbers], np.int32)
    nullable = np.array([column.nullable for column in numbers], bool)
    indicator = np.array([column.missing or 0 for column in numbers], np.int32)
    codes = np.array([column.code for column in others], np.int32)
    largest = np.array([column.size - 1 for column in others], np.int32)

    def number_cells(row: Any) -> Any:
        position = jnp.clip(row.numbers[which], 0, most)
        cell = jnp.zeros_like(position)  # how many cells begin below: a binary search
        for step in (1 << bit for bit in reversed(range(begins.shape[1].bit_length()))):
            there = jnp.take_along_axis(begins, (cell + step - 1)[:, None], axis=1)[:, 0]
            cell = cell + jnp.where(there <= position, step, 0)
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


def _begins(column: NumberColumn, layout: Layout) -> NDArray[np.int64]:
    """The positions at which the cells of a number begin, the first left out."""
    return column.cells.low[1:] >> layout.numbers[column.number].shift


def _padded(begins: Sequence[NDArray[np.int64]]) -> NDArray[np.int32]:
    """All of them in one table of 2^k - 1 columns, for a binary search of k steps."""
    longest = max((len(each) for each in begins), default=0)
    table = np.full((len(begins), (1 << longest.bit_length()) - 1), np.iinfo(np.int32).max)
    for row, each in zip(table, begins, strict=True):
        row[: len(each)] = each
    return table.astype(np.int32)


def single_features(places: Places) -> Callable[[Any], Any]:
    """One-hot cells of every column, as (indices, ones).

    Sensitivity:
        K ones for K columns, none negative: add-remove sqrt(K), replace-one sqrt(2 K).
    """
    import jax.numpy as jnp

    def features(row: Any) -> Any:
        found = places(row)
        return found, jnp.ones(found.shape, jnp.int32)

    return features


def table_features(
    places: Places,
    bins: NDArray[np.int64],
    widths: Sequence[int],
    tables: Sequence[tuple[int, ...]],
    weights: Sequence[int] | NDArray[np.int64],
    skipped: Sequence[int] = (),
) -> Callable[[Any], Any]:
    """Weighted one-hot bins of one or two columns for each of `tables`, as (indices, weights).

    `bins` gives the bin of every cell, below its column's width.  The first tables may each have
    a bin that is `skipped`: a row that lies in it contributes nothing there.

    Sensitivity:
        a row lies in one cell of each table, so with weights w add-remove |w|, replace-one sqrt(2)
        |w|.  The vault clips to the bound that is public, whatever the weights.
    """
    import jax.numpy as jnp

    table, wide = jnp.asarray(bins, jnp.int32), np.asarray(widths, np.int64)
    left = np.array([columns[0] for columns in tables], np.int32)
    right = np.array([columns[-1] for columns in tables], np.int32)
    alone = np.array([len(columns) == 1 for columns in tables])
    sizes = wide[left] * np.where(alone, 1, wide[right])
    start = jnp.asarray(offsets(list(sizes))[:-1], jnp.int32)
    stride = np.where(alone, 0, wide[right]).astype(np.int32)
    value = jnp.asarray(weights, jnp.int32)
    absent = np.full(len(tables), -1, np.int32)
    absent[: len(skipped)] = skipped

    def features(row: Any) -> Any:
        bin_of = table[places(row)]
        cell = bin_of[left] * stride + bin_of[right]
        return start + cell, jnp.where(cell == absent, 0, value)

    return features
