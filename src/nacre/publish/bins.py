"""The bins in which a column is drawn: unions of cells, none of them too many for the eye."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from nacre.evaluate.tables.rows import Rows
from nacre.histograms.cells import number_cells
from nacre.histograms.measurement import MISSING
from nacre.schema import Schema
from nacre.schema.written import value_at, value_names

MOST_BINS = 24
MOST_BARS = 9
NARROW = 2
TAIL = 0.0005  # share of the synthetic rows on either side that is not drawn

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False)
class Bins:
    """Bins of one column, together all that it may hold.

    Attributes:
        group: (cells,) the bin of each cell.
        names: what each bin is called.
        low: (bins,) the first tick of a number's bin, or a code; meaningless if not drawn.
        high: (bins,) the last tick, included.
        drawn: (bins,) whether it has a place on the axis; tails, gaps and lumped values have none.
    """

    group: Index
    names: tuple[str, ...]
    low: Index
    high: Index
    drawn: NDArray[np.bool_]

    def add_up(self, values: Array) -> Array:
        """Sums over the cells of each bin."""
        return np.bincount(self.group, values, len(self.names)).astype(np.float64)


def schema_cells(schema: Schema, name: str) -> tuple[Index, Index]:
    """Cells of a column that follow from the schema alone."""
    column = schema.columns[name]
    if column.ticks is None:
        codes = np.arange(column.size or 0)
        return codes, codes
    cells = number_cells(column.ticks)
    gap = np.full(int(column.nullable), MISSING)
    return np.append(cells.low, gap), np.append(cells.high, gap)


def cell_counts(rows: Rows, name: str, low: Index, high: Index) -> Array:
    """How many rows of a table lie in each cell; where they have weights, what these add up to.

    Rows that lie in none, as cells of a computed number need not cover its range, are not counted.
    """
    if not rows.is_number(name):
        coded = rows.bin(name)
        return np.bincount(coded.codes, rows.weights, coded.size).astype(np.float64)[low]
    ticks = rows.ticks[rows.schema.layout.number(name)].astype(np.int64)
    missing = rows.missing(name)
    known = int((low != MISSING).sum())
    place = np.searchsorted(high[:known], ticks, side="left")
    inside = (place < known) & (np.append(low[:known], 0)[place] <= ticks)
    if missing is not None:
        place[missing], inside[missing] = known, known < len(low)
    weights = inside if rows.weights is None else inside * rows.weights
    return np.bincount(place, weights, known + 1)[: len(low)].astype(np.float64)


def choose_bins(schema: Schema, name: str, low: Index, high: Index, counts: Array) -> Bins:
    """Bins for a column, from its cells and the synthetic rows in each."""
    if schema.columns[name].ticks is None:
        return _values(schema, name, low, counts)
    return _stretches(schema, name, low, high, counts)


def _stretches(schema: Schema, name: str, low: Index, high: Index, counts: Array) -> Bins:
    """Equal stretches of neighboring cells where nearly all rows lie; tails and gaps apart."""
    known = int((low != MISSING).sum())
    reached = np.cumsum(counts[:known]) / max(counts[:known].sum(), 1.0)
    first = int(np.searchsorted(reached, TAIL, side="right"))
    last = min(int(np.searchsorted(reached, 1 - TAIL)), known - 1)
    place = _places(low[:known], high[:known])
    first, last = int(place[min(first, last)]), int(place[last])
    step = -(-(last - first + 1) // MOST_BINS)
    top = (last - first) // step
    # Below is -1, then come the stretches, above, missing; of these only such as hold a cell.
    mark = np.full(len(low), top + 2)
    mark[:known] = np.clip((place - first) // step, -1, top + 1)
    marks, group = np.unique(mark, return_inverse=True)
    drawn = (marks >= 0) & (marks <= top)
    lows = np.array([low[group == b][0] for b in range(len(marks))])
    highs = np.array([high[group == b][-1] for b in range(len(marks))])
    ticks = max(schema.columns[name].ticks or 1, 1)

    def written(tick: int) -> str:
        return value_at(schema.columns[name], tick / ticks)

    names = []
    for mark_, start, end in zip(marks, lows, highs, strict=True):
        if start == MISSING:
            names.append("missing")
        elif mark_ < 0:
            names.append(f"up to {written(end)}")
        elif mark_ > top:
            names.append(f"from {written(start)}")
        else:
            names.append(written(start) if start == end else f"{written(start)} – {written(end)}")
    return Bins(group, tuple(names), lows, highs, drawn)


def _places(low: Index, high: Index) -> Index:
    """Numbers of the cells; one far narrower than its neighbor, such as an end, joins it."""
    place, width = np.arange(len(low)), high - low + 1
    if len(low) > 2:
        if NARROW * width[-1] < width[-2]:
            place[-1] -= 1
        if NARROW * width[0] < width[1]:
            place[1:] -= 1
    return place


def _values(schema: Schema, name: str, low: Index, counts: Array) -> Bins:
    """Each value that has a cell, or the most frequent ones and all others together."""
    known = value_names(schema, name)
    names = [known[code] for code in low]
    ordered = schema.columns[name].type in {"ordinal", "boolean"} and len(names) <= MOST_BARS
    order = np.arange(len(names)) if ordered else np.argsort(-counts, kind="stable")
    # A single one left over has a name of its own.
    kept = order if len(order) <= MOST_BARS + 1 else order[:MOST_BARS]
    group = np.full(len(names), len(kept))
    group[kept] = np.arange(len(kept))
    said = [names[code] for code in kept]
    lumped = len(names) - len(kept)
    if lumped:
        said.append(f"{lumped:,} others")
    codes = np.append(low[kept], [-1] * bool(lumped)).astype(np.int64)
    return Bins(group, tuple(said), codes, codes, np.ones(len(said), bool))
