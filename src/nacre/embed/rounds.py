"""How a row's numbers are rounded and where its dates lie in weeks and years, as sparse sums.

All of it in integers: the widest round step that each number is a multiple of, the day of the week,
the day of the month and the month of dates, also of those that are distances from others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nacre.embed.marginals import Places
from nacre.embed.search import look_up, offsets, placed
from nacre.histograms.calendars import classes_of
from nacre.histograms.cells import Column, NumberColumn
from nacre.schema import Layout
from nacre.schema.calendar import MONTH, month_class, month_of_year, weekday

NEVER = (1 << 31) - 1  # so many ticks after -1 there is none


def round_features(
    places: Places,
    columns: Sequence[Column],
    layout: Layout,
    chosen: Sequence[int],
    weight: int,
    dates: Sequence[int] = (),
) -> Callable[[Any], Any]:
    """For each `chosen` column a weighted one at its class of steps, then for each of the `dates`
    one at its day of the month and one at its month of the year or, of a distance, at its day of
    the week, as (indices, weights).

    Of a column's steps (`Number.rounds`) the widest one counts that the row's tick is on; the first
    class is for ticks on none.  Rows that are missing or in a cell of a single tick contribute
    nothing there, and to dates nothing if these are missing.  Ticks must be positions
    (`Number.shift` of 0).

    Sensitivity:
        a row has one class of each of K columns, and of each of D dates one day of the month and
        one month of the year or day of the week, so add-remove weight sqrt(K + 2 D), replace-one
        sqrt(2) times that.  The vault clips to the bound that is public, whatever the weights.
    """
    import jax.numpy as jnp

    parts = []
    sizes = [1 + len(layout.numbers[column.number].rounds) for column in _numbers(columns, chosen)]
    if sizes:
        parts.append(_steps(places, columns, layout, chosen, weight))
    start = sum(sizes)
    for place in dates:
        parts.append(_days(places, columns, layout, place, weight, start))
        start += classes_of(columns[place], layout)

    def features(row: Any) -> Any:
        found = [part(row) for part in parts]
        return tuple(jnp.concatenate(each) for each in zip(*found, strict=True))

    return features


def _numbers(columns: Sequence[Column], chosen: Sequence[int]) -> list[NumberColumn]:
    return [column for column in (columns[c] for c in chosen) if isinstance(column, NumberColumn)]


def _steps(
    places: Places,
    columns: Sequence[Column],
    layout: Layout,
    chosen: Sequence[int],
    weight: int,
) -> Callable[[Any], Any]:
    """The classes of steps of the chosen columns."""
    import jax
    import jax.numpy as jnp

    begin = offsets([column.size for column in columns])[:-1]
    own = _numbers(columns, chosen)
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


def _days(
    places: Places,
    columns: Sequence[Column],
    layout: Layout,
    place: int,
    weight: int,
    start: int,
) -> Callable[[Any], Any]:
    """The day of the month of a date, and its month; of a distance the day of the week."""
    import jax.numpy as jnp

    (column,) = _numbers(columns, [place])
    own = layout.numbers[column.number]
    gap = int(offsets([each.size for each in columns])[place]) + column.cells.size

    def features(row: Any) -> Any:
        day = (own.day or 0) + date_tick(row, layout, column.number)
        other = month_of_year(day) if own.tie is None else weekday(day)
        index = jnp.stack([start + month_class(day), start + MONTH + other])
        there = places(row)[place] != gap if column.nullable else True
        return index, jnp.where(there, weight, 0) * jnp.ones(2, jnp.int32)

    return features


def date_tick(row: Any, layout: Layout, number: int) -> Any:
    """The tick of the date that a number is, or that it is the distance of; within bounds."""
    import jax.numpy as jnp

    own = layout.numbers[number]
    tick, tie = jnp.clip(row.numbers[number], 0, own.positions), own.tie
    if tie is None:
        return tick
    line = tie.line
    start = date_tick(row, layout, tie.anchor) + int(line.nearest(np.zeros(1, np.int64))[0])
    if tie.missing is not None:
        start = jnp.where(row.codes[tie.missing] == 1, 0 if line.up > 0 else line.ticks, start)
    return jnp.clip(start + line.up * tick, 0, line.ticks)
