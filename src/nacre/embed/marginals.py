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

from nacre.embed.search import Search, look_up, offsets, placed
from nacre.histograms.cells import CodeColumn, Column, NumberColumn
from nacre.schema import Layout

Places = Callable[[Any], Any]


def cell_places(layout: Layout, columns: Sequence[Column]) -> Places:
    """A function of one row: the places of its cells among all cells of `columns`, increasing."""
    import jax.numpy as jnp

    starts = placed(offsets([column.size for column in columns])[:-1])
    numbers = [column for column in columns if isinstance(column, NumberColumn)]
    others = [column for column in columns if isinstance(column, CodeColumn)]
    which = np.array([column.number for column in numbers], np.int32)
    most = np.array([layout.numbers[place].positions for place in which], np.int32)
    search = Search([_begins(column, layout) for column in numbers], most)
    last = np.array([column.size - 1 for column in numbers], np.int32)
    nullable = np.array([column.nullable for column in numbers], bool)
    indicator = np.array([column.missing or 0 for column in numbers], np.int32)
    codes = np.array([column.code for column in others], np.int32)
    largest = np.array([column.size - 1 for column in others], np.int32)

    def number_cells(row: Any) -> Any:
        cell = search(jnp.clip(_picked(row.numbers, which), 0, most))
        if not nullable.any():
            return cell
        return jnp.where(nullable & (_picked(row.codes, indicator) == 1), last, cell)

    def places(row: Any) -> Any:
        parts = []
        if numbers:
            parts.append(number_cells(row))
        if len(codes):
            parts.append(jnp.clip(_picked(row.codes, codes), 0, largest))
        return starts + jnp.concatenate(parts)

    return places


def _picked(values: Any, places: NDArray[np.int32]) -> Any:
    """values[places]; a stretch of them is cut out, which is much faster than picking each."""
    if len(places) and (np.diff(places) == 1).all():
        return values[int(places[0]) : int(places[-1]) + 1]
    return look_up(values, places)


def _begins(column: NumberColumn, layout: Layout) -> NDArray[np.int64]:
    """The positions at which the cells of a number begin, the first left out."""
    return column.cells.low[1:] >> layout.numbers[column.number].shift


def doubled(places: Places, size: int) -> Places:
    """The places of a row's cells twice: among the `size` cells, and among as many more."""
    import jax.numpy as jnp

    def both(row: Any) -> Any:
        found = places(row)
        return jnp.concatenate([found, found + size])

    return both


def single_features(
    places: Places, weights: NDArray[np.int64] | None = None
) -> Callable[[Any], Any]:
    """One-hot cells of every column, as (indices, weights); ones if no weights are given.

    Sensitivity:
        one weight w_k for each of K columns, none negative: add-remove |w|, replace-one sqrt(2)
        |w|; with ones, sqrt(K) and sqrt(2 K).  The vault clips to the bound that is public.
    """
    import jax.numpy as jnp

    value = None if weights is None else placed(weights)

    def features(row: Any) -> Any:
        found = places(row)
        return found, jnp.ones(found.shape, jnp.int32) if value is None else value

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

    table, wide = placed(bins), np.asarray(widths, np.int64)
    left = np.array([columns[0] for columns in tables], np.int32)
    right = np.array([columns[-1] for columns in tables], np.int32)
    alone = np.array([len(columns) == 1 for columns in tables])
    sizes = wide[left] * np.where(alone, 1, wide[right])
    start = placed(offsets(list(sizes))[:-1])
    stride = np.where(alone, 0, wide[right]).astype(np.int32)
    value = placed(weights)
    absent = np.full(len(tables), -1, np.int32)
    absent[: len(skipped)] = skipped

    def features(row: Any) -> Any:
        bin_of = look_up(table, places(row))
        cell = look_up(bin_of, left) * stride + look_up(bin_of, right)
        return start + cell, jnp.where(cell == absent, 0, value)

    return features


def column_features(places: Places, column: int, start: int) -> Callable[[Any], Any]:
    """One-hot cells of one column, whose cells begin at `start`, as (indices, ones).

    Sensitivity:
        a single one: add-remove 1, replace-one sqrt(2).
    """
    import jax.numpy as jnp

    def features(row: Any) -> Any:
        return places(row)[column : column + 1] - start, jnp.ones(1, jnp.int32)

    return features


def by_cell(
    features: Callable[[Any], Any],
    places: Places,
    column: int,
    block: NDArray[np.int64],
    size: int,
) -> Callable[[Any], Any]:
    """Features in one of several stretches of `size` values: that of the row's cell of a column.

    `block` gives the stretch of every cell of all columns; it may follow from earlier releases.

    Sensitivity:
        that of the features: a row contributes to one stretch, which moves its ones elsewhere.
    """
    table = placed(block)

    def moved(row: Any) -> Any:
        indices, values = features(row)
        return indices + look_up(table, places(row)[column]) * size, values

    return moved
