"""Noisy cross-tables as they left the vault, and what they say together about some columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.cells import Column
from nacre.histograms.measured import cell_bounds
from nacre.schema import Layout

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False)
class Axis:
    """The bins of one column in a cross-table.

    Attributes:
        column: its name.
        low: (cells,) the first tick of each of its cells, or its code; MISSING for gaps.
        high: (cells,) the last tick, included.
        group: (cells,) the bin of each cell.
        chosen: whether an earlier release decided which cells share a bin.
    """

    column: str
    low: Index
    high: Index
    group: Index
    chosen: bool = False

    @property
    def size(self) -> int:
        """How many bins there are."""
        return int(self.group.max()) + 1

    @property
    def single(self) -> bool:
        """Whether each bin is one value, as the schema has it: no release chose the bins."""
        return not self.chosen and bool((self.low == self.high).all())

    def cells_of(self, place: int) -> Index:
        """The cells that lie in a bin."""
        return np.flatnonzero(self.group == place)


@dataclasses.dataclass(frozen=True, eq=False)
class CrossTable:
    """Counts of rows in all combinations of bins, each with independent Gaussian noise.

    Attributes:
        axes: one a column.
        counts: of the shape that the axes say; may be negative.
        noise: standard deviation of each count, of the same shape.
    """

    axes: tuple[Axis, ...]
    counts: Array
    noise: Array

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(axis.column for axis in self.axes)

    def over(self, columns: Sequence[str]) -> CrossTable:
        """Added up over all other columns, in the order given."""
        places = [self.columns.index(name) for name in columns]
        rest = tuple(place for place in range(len(self.axes)) if place not in places)
        order = [sorted(places).index(place) for place in places]
        return CrossTable(
            tuple(self.axes[place] for place in places),
            self.counts.sum(rest).transpose(order),
            np.sqrt((self.noise**2).sum(rest)).transpose(order),
        )

    def has(self, axes: Sequence[Axis]) -> bool:
        """Whether it has just these bins."""
        pairs = zip(self.axes, axes, strict=True)
        return all(np.array_equal(mine.group, other.group) for mine, other in pairs)


def together(tables: Sequence[CrossTable], columns: Sequence[str]) -> CrossTable | None:
    """What all tables that have these columns say of them, weighed by precision; None if none has.

    Noise of different tables is independent, so the weighed mean has the least variance that a mean
    can have.  Where some tables have each single value and others bins of several, which were
    chosen by the noise of the former, only those with single values are taken.  Of numbers in
    stretches, which nobody wants to read one by one, those with the coarsest bins.
    """
    found = [table.over(columns) for table in tables if set(columns) <= set(table.columns)]
    if not found:
        return None
    single = [table for table in found if all(axis.single for axis in table.axes)]
    found = single or found
    axes = [
        min((table.axes[place] for table in found), key=lambda axis: axis.size)
        for place in range(len(columns))
    ]
    found = [table for table in found if table.has(axes)]
    weights = [table.noise**-2 for table in found]
    total = np.sum(weights, axis=0)
    parts = [weight * table.counts for weight, table in zip(weights, found, strict=True)]
    return CrossTable(tuple(axes), np.sum(parts, axis=0) / total, total**-0.5)


def single_tables(
    counts: NDArray[np.float32],
    noise: NDArray[np.float64],
    columns: Sequence[Column],
    layout: Layout,
    label: int | None,
) -> tuple[CrossTable, ...]:
    """The released counts (C, all cells), for each column a table of it and the label.

    `noise` is the deviation of a count of each column.  Counts without noise are nobody else's to
    see: there is no table of them.
    """
    if not noise.any():
        return ()
    parts = np.split(
        counts.astype(np.float64), np.cumsum([column.size for column in columns])[:-1], axis=1
    )
    first = label_axis(layout, label)
    found = []
    for column, part, own in zip(columns, parts, noise.tolist(), strict=True):
        axes = (*first, column_axis(column, layout))
        table = part.reshape([axis.size for axis in axes])
        found.append(CrossTable(axes, table, np.full(table.shape, own)))
    return tuple(found)


def label_axis(layout: Layout, label: int | None) -> tuple[Axis, ...]:
    """The axis of the label's values, if there is a label."""
    if label is None:
        return ()
    codes = np.arange(layout.codes[label].size)
    return (Axis(layout.codes[label].name, codes, codes, codes),)


def column_axis(column: Column, layout: Layout, group: Index | None = None) -> Axis:
    """The axis of a column: its cells, or bins of them."""
    name, low, high = cell_bounds(column, layout)
    places = np.arange(len(low)) if group is None else group
    return Axis(name, low, high, places, chosen=group is not None)
