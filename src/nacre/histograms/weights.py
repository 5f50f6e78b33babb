"""How much of a row's norm the histogram of each column gets: more where there is more to learn.

A count of a column with weight w has noise s / w.  The errors of all its m counts together are
m s / w, and their sum over the columns is least, among weights of one norm, for w proportional to
the cube root of m.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.cells import CodeColumn, Column

NORM = 4096  # of a row's whole weights: rounding them costs little, 2 % of it at 40,000 columns
EVEN = 1 / 3  # power of the number of counts
SMOOTH = 32  # counts that a number's cells are worth, at most: neighbors tell of each other


def column_weights(columns: Sequence[Column], norm: int = NORM) -> NDArray[np.int64]:
    """Whole weights of the columns' counts, of this norm together at most; public, by the schema.

    A row lies in one cell of each column: so `norm` is what it can move, by add-remove.
    """
    sizes = [c.size if isinstance(c, CodeColumn) else min(c.size, SMOOTH) for c in columns]
    raw = np.array(sizes, np.float64) ** EVEN
    return np.floor(raw * norm / np.sqrt((raw**2).sum())).astype(np.int64)
