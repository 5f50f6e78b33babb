"""Releases in terms of the table's own columns, where methods saw others in their place."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.crosstable import Axis, CrossTable
from nacre.histograms.measurement import MISSING, Measurement
from nacre.rows import AbstractEncoder, TableEncoder
from nacre.rows.times import part_of

Index = NDArray[np.int64]
Cells = TypeVar("Cells", Measurement, Axis)


def told_measurements(
    encoder: AbstractEncoder, found: Iterable[Measurement]
) -> tuple[Measurement, ...]:
    """Histograms of the table's own columns; of what was seen as something else there is none."""
    if not isinstance(encoder, TableEncoder):
        return tuple(found)
    return tuple(_in_ticks(each, encoder) for each in found if each.column not in _strange(encoder))


def told_tables(encoder: AbstractEncoder, found: Iterable[CrossTable]) -> tuple[CrossTable, ...]:
    """Likewise, cross-tables."""
    if not isinstance(encoder, TableEncoder):
        return tuple(found)
    strange = _strange(encoder)
    return tuple(
        dataclasses.replace(table, axes=tuple(_in_ticks(axis, encoder) for axis in table.axes))
        for table in found
        if not strange & {*table.columns}
    )


def _strange(encoder: TableEncoder) -> set[str]:
    """Columns whose cells are not those of any column of the table."""
    return {each.column for each in encoder.differences} | {*map(part_of, encoder.times)}


def _in_ticks(cells: Cells, encoder: TableEncoder) -> Cells:
    """Cells of days in ticks of the column."""
    if cells.column not in encoder.times:
        return cells
    low, high = encoder.ticks_of_days(cells.column, cells.low, cells.high)
    gaps: Index = np.asarray(cells.low == MISSING)
    return dataclasses.replace(
        cells, low=np.where(gaps, MISSING, low), high=np.where(gaps, MISSING, high)
    )
