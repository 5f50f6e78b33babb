"""What Mosaic's first release measured, for reports of how far its noise may reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.cells import CodeColumn, Column, column_name
from nacre.histograms.measurement import MISSING, Measurement
from nacre.schema import Layout


def measured(
    counts: NDArray[np.float32],
    noise: float,
    columns: Sequence[Column],
    layout: Layout,
    label: int | None,
) -> tuple[Measurement, ...]:
    """The released counts (C, all cells) as one histogram for each column, the label's too.

    The classes of a histogram are added up.  Every column's cells add up to the class sizes with
    noise that grows with their number: the label's counts are the weighted mean of these.
    Counts without noise are nobody else's to see: there is no histogram of them.
    """
    if not noise:
        return ()
    table = counts.astype(np.float64)
    parts = np.split(table, np.cumsum([column.size for column in columns])[:-1], axis=1)
    found = [
        Measurement(*cell_bounds(column, layout), part.sum(0), noise * np.sqrt(len(table)))
        for column, part in zip(columns, parts, strict=True)
    ]
    if label is not None:
        trust = np.array([1 / column.size for column in columns])
        sizes = sum(part.sum(1) * t for part, t in zip(parts, trust, strict=True)) / trust.sum()
        codes = np.arange(len(table))
        name = layout.codes[label].name
        found.append(Measurement(name, codes, codes, sizes, noise / np.sqrt(trust.sum())))
    return tuple(found)


def cell_bounds(column: Column, layout: Layout) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    """A column's name, and the first and last tick (or the code) of each of its cells."""
    name = column_name(column, layout)
    if isinstance(column, CodeColumn):
        codes = np.arange(column.size)
        return name, codes, codes
    gap = np.full(int(column.nullable), MISSING)
    low, high = np.append(column.cells.low, gap), np.append(column.cells.high, gap)
    return name, low, high
