"""What a label model adds to the log chances of rows: coefficients of cells, pairs and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from nacre.methods.mosaic.generator import MosaicGenerator

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
SLOTS = 3  # bins of a column in a table of several columns, at most
WIDEST = SLOTS**4  # cells of such a table
STRETCH = 4096  # rows whose tilts are added up at once


def tilts(generator: MosaicGenerator, cells: Index) -> Floats:
    """What the label model adds to the log chances of these rows, (n, C)."""
    total = np.zeros((len(generator.tilt), len(cells)))
    for start in range(0, len(cells), STRETCH):
        some = slice(start, start + STRETCH)
        _add(generator, cells[some], total[:, some])
    return total.T


def _add(generator: MosaicGenerator, cells: Index, total: Floats) -> None:
    """`tilts` of so many rows as stay in a processor's cache."""
    g, bins = generator, {}
    for column in filter(g.is_joined, range(len(g.sizes))):
        bins[column] = g.group(column)[cells[:, column]]
        _look_up(g.tilt, g.start(column) + cells[:, column], total)
    start = 0
    for left, right in g.pairs.tolist():
        wide = g.width(right)
        _look_up(g.pair_tilt, bins[left] * wide + (bins[right] + start), total)
        start += g.width(left) * wide
    for place, table in enumerate(g.tables.tolist()):
        cell, _ = g.crossed(cells, [column for column in table if column >= 0])
        _look_up(g.table_tilt, place * WIDEST + cell, total)


def _look_up(table: NDArray[np.float32], place: Index, total: Floats) -> None:
    """Add each class's coefficients (C, cells) at the rows' places."""
    for own, row in zip(table, total, strict=True):
        row += own[place]
