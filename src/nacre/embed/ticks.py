"""Single ticks of numbers inside some of their cells, as sparse sums of one row, in integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.embed.marginals import Places
from nacre.embed.search import look_up, offsets, placed
from nacre.histograms.cells import Column, NumberColumn


def tick_features(
    places: Places,
    columns: Sequence[Column],
    starts: Mapping[int, NDArray[np.int64]],
    weights: NDArray[np.int64],
) -> Callable[[Any], Any]:
    """For each column of `starts` its weight at the row's own tick, as (indices, weights).

    `starts` gives for each of its cells where the ticks of that cell begin in the sum; -1 for a
    cell whose rows contribute nothing.  Ticks must be positions (`Number.shift` of 0).

    Sensitivity:
        a row has one tick of each column, so add-remove the root of the sum of squared weights,
        replace-one sqrt(2) times that.  The vault clips to the bound that is public, whatever the
        weights.
    """
    import jax.numpy as jnp

    begin = offsets([column.size for column in columns])[:-1]
    chosen = np.array(list(starts), np.int32)
    own = [column for column in (columns[c] for c in chosen) if isinstance(column, NumberColumn)]
    which = np.array([column.number for column in own], np.int32)
    # Where a row of each cell would lie if its tick were 0, over all cells of all columns.
    first = np.zeros(int(begin[-1]) + columns[-1].size, np.int64)
    counted = np.zeros(len(first), bool)
    for place, column in zip(chosen, own, strict=True):
        span = slice(int(begin[place]), int(begin[place]) + column.cells.size)
        at = starts[int(place)][: column.cells.size]
        first[span] = np.where(at >= 0, at - column.cells.low, 0)
        counted[span] = at >= 0
    shift, known = placed(first), placed(counted, np.bool_)
    # A row that is not counted has a place all the same: the vault wants them to increase.
    idle = placed([at[at >= 0].min() for at in starts.values()])
    each = jnp.asarray(weights, jnp.int32)

    def features(row: Any) -> Any:
        cell = look_up(places(row), chosen)
        there = look_up(known, cell)
        tick = look_up(row.numbers, which)
        index = jnp.where(there, look_up(shift, cell) + tick, idle)
        return index, jnp.where(there, each, 0)

    return features
