"""The widest round step that each number of a row is a multiple of, as sparse sums, in integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nacre.embed.marginals import Places
from nacre.embed.search import look_up, offsets, placed
from nacre.histograms.cells import Column, NumberColumn
from nacre.schema import Layout

NEVER = (1 << 31) - 1  # so many ticks after -1 there is none


def round_features(
    places: Places,
    columns: Sequence[Column],
    layout: Layout,
    chosen: Sequence[int],
    weight: int,
) -> Callable[[Any], Any]:
    """For each `chosen` column a weighted one at its class of steps, as (indices, weights).

    Of a column's steps (`Number.rounds`) the widest one counts that the row's tick is on; the first
    class is for ticks on none.  Rows that are missing or in a cell of a single tick contribute
    nothing.  Ticks must be positions (`Number.shift` of 0).

    Sensitivity:
        a row has one class of each of K columns, so add-remove weight sqrt(K), replace-one sqrt(2)
        times that.  The vault clips to the bound that is public, whatever the weights.
    """
    import jax
    import jax.numpy as jnp

    begin = offsets([column.size for column in columns])[:-1]
    own = [column for column in (columns[c] for c in chosen) if isinstance(column, NumberColumn)]
    which = np.array([column.number for column in own], np.int32)
    rounds = [layout.numbers[place].rounds for place in which]
    most = max(map(len, rounds))
    every, start = np.full((len(own), most), NEVER), np.full((len(own), most), -1)
    for place, steps in enumerate(rounds):
        every[place, : len(steps)], start[place, : len(steps)] = np.array(steps, np.int64).T
    first = placed(offsets([1 + len(steps) for steps in rounds])[:-1])
    several = np.zeros(int(begin[-1]) + columns[-1].size, bool)
    for place, column in zip(chosen, own, strict=True):
        span = slice(int(begin[place]), int(begin[place]) + column.cells.size)
        several[span] = column.cells.widths > 1
    counted, picked = placed(several, np.bool_), np.array(chosen, np.int32)
    steps, starts = placed(every), placed(start)
    step_class = np.arange(1, most + 1, dtype=np.int32)

    def features(row: Any) -> Any:
        # Numbers that are out of bounds are so large only that the difference stays exact.
        tick = jnp.clip(look_up(row.numbers, which), 0, 1 << 30)
        on = jax.lax.rem(tick[:, None] - starts, steps) == 0
        index = first + jnp.max(jnp.where(on, step_class, 0), axis=1)
        wide = look_up(counted, look_up(places(row), picked))
        return index, jnp.where(wide, weight, 0)

    return features
