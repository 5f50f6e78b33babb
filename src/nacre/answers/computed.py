"""Tables of columns that a schema's look-up tables compute, from tables of what they follow from.

Such a column is not fitted, so nothing of it was released.  Where `group determined by code`, the
rows of a group are those of its codes, and their counts add up: post-processing, with the noise of
a sum.  What is said of a group is true of the private table as far as its rows keep the fact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nacre.histograms.crosstable import Axis, CrossTable, together
from nacre.histograms.measurement import MISSING, Measurement
from nacre.schema import Schema
from nacre.schema.columns.scale import Scale
from nacre.schema.facts.bound import LookUp

MIXED = -2  # of a bin whose values do not all go to one place


def computed_tables(
    schema: Schema, tables: Sequence[CrossTable], names: Sequence[str]
) -> list[CrossTable]:
    """The tables that have the named columns, computed ones in the place of their sources.

    Only for a question that names them: beside the tables that they are made of they would count
    the same noise twice.
    """
    facts = [fact for fact in schema.bound_facts if isinstance(fact, LookUp)]
    needed = set(names)
    for fact in reversed(facts):  # a source that is computed, too, comes before
        if fact.column in needed:
            needed.add(fact.by)
    found = list(tables)
    for fact in (fact for fact in facts if fact.column in needed):
        found = [new for table in found if (new := _looked_up(schema, table, fact)) is not None]
    return found


def computed_measurements(
    schema: Schema, tables: Sequence[CrossTable], names: Sequence[str]
) -> list[Measurement]:
    """Histograms of those of the named columns that look-up tables compute: what `answer` says."""
    facts = {fact.column for fact in schema.bound_facts if isinstance(fact, LookUp)}
    found = []
    for name in names:
        table = together(computed_tables(schema, tables, [name]), [name]) if name in facts else None
        if table is not None:
            axis = table.axes[0]
            order = np.lexsort((axis.low, axis.low == MISSING))  # gaps come last
            low, high = axis.low[order], axis.high[order]
            found.append(Measurement(name, low, high, table.counts[order], table.noise[order]))
    return found


def _looked_up(schema: Schema, table: CrossTable, fact: LookUp) -> CrossTable | None:
    """The table with `fact.column` in the place of `fact.by`; None if its bins do not tell."""
    if fact.by not in table.columns:
        return None
    place = table.columns.index(fact.by)
    goes = _places(schema, table.axes[place], fact)
    if (goes == MIXED).any():
        return None
    kept, to = np.unique(goes, return_inverse=True)
    shape = (len(kept), *np.delete(table.counts.shape, place))
    counts, variance = np.zeros(shape), np.zeros(shape)
    np.add.at(counts, to, np.moveaxis(table.counts, place, 0))
    np.add.at(variance, to, np.moveaxis(table.noise**2, place, 0))
    axes = list(table.axes)
    axes[place] = _axis(schema, fact, kept, chosen=table.axes[place].chosen)
    return CrossTable(
        tuple(axes), np.moveaxis(counts, 0, place), np.sqrt(np.moveaxis(variance, 0, place))
    )


def _places(schema: Schema, axis: Axis, fact: LookUp) -> np.ndarray:
    """The tick or code of the column that each bin of its source goes to; -1 for missing."""
    column = schema.columns[fact.by]
    gap = MISSING if column.ticks is not None else (column.size or 0) - 1
    gaps = (axis.low == gap) & column.nullable
    ends = [Scale(column).values(np.maximum(each, 0)) for each in (axis.low, axis.high)]
    spans = [np.maximum(np.searchsorted(fact.starts, e, side="right") - 1, 0) for e in ends]
    told = np.where(spans[0] == spans[1], fact.places[spans[0]], MIXED)
    cells = np.where(gaps, fact.unknown, told)
    found = np.full(axis.size, MIXED)
    for bin_ in range(axis.size):
        here = np.unique(cells[axis.cells_of(bin_)])
        if len(here) == 1:
            found[bin_] = here[0]
    return found


def _axis(schema: Schema, fact: LookUp, places: np.ndarray, *, chosen: bool) -> Axis:
    """The bins of the computed column: one for each of its values that occurs in the fact."""
    column = schema.columns[fact.column]
    gap = MISSING if column.ticks is not None else (column.size or 0) - 1
    cells = np.where(places < 0, gap, places).astype(np.int64)
    return Axis(fact.column, cells, cells, np.arange(len(cells)), chosen=chosen)
