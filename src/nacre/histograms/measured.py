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
    noise: NDArray[np.float64],
    columns: Sequence[Column],
    layout: Layout,
    label: int | None,
) -> tuple[Measurement, ...]:
    """The released counts (C, all cells) as one histogram for each column, the label's too.

    `noise` is the deviation of a count of each column.  The classes of a histogram are added up.
    Every column's cells add up to the class sizes with the noise of them all: the label's counts
    are the weighted mean of these.
    Counts without noise are nobody else's to see: there is no histogram of them.
    """
    if not noise.any():
        return ()
    table = counts.astype(np.float64)
    parts = np.split(table, np.cumsum([column.size for column in columns])[:-1], axis=1)
    found = [
        Measurement(*cell_bounds(column, layout), part.sum(0), own * np.sqrt(len(table)))
        for column, part, own in zip(columns, parts, noise.tolist(), strict=True)
    ]
    if label is not None:
        trust = 1 / (noise**2 * [column.size for column in columns])
        sizes = sum(part.sum(1) * t for part, t in zip(parts, trust, strict=True)) / trust.sum()
        codes = np.arange(len(table))
        name = layout.codes[label].name
        found.append(Measurement(name, codes, codes, sizes, float(trust.sum() ** -0.5)))
    return tuple(found)


def one_noise_each(noise: NDArray[np.float64], columns: int) -> bool:
    """Whether there is a deviation for each column, of none of them or of all."""
    return noise.shape == (columns,) and bool((noise > 0).all() or not noise.any())


def cell_bounds(column: Column, layout: Layout) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    """A column's name, and the first and last tick (or the code) of each of its cells."""
    name = column_name(column, layout)
    if isinstance(column, CodeColumn):
        codes = np.arange(column.size)
        return name, codes, codes
    gap = np.full(int(column.nullable), MISSING)
    low, high = np.append(column.cells.low, gap), np.append(column.cells.high, gap)
    return name, low, high
