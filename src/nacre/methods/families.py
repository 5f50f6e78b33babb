"""What the schema says about values of a column that belong together, or do not.

Where a code determines its group, the group is not modeled: it is computed.  But what other columns
have to do with the group is lost if codes of several groups are lumped together, or if it is split
into so many codes that noise hides it in each of them.  So groups are the bins of codes, and a code
that is common enough has a bin of its own beside its group's.  A number's bins begin where what it
determines changes; and at zero, as refunds and debts are another matter than payments, however few
they are.  Values of an ordinal belong to their neighbors.

Where a code may be missing and its group is modeled beside it, bins of groups would say twice what
the group says, with more noise: all that is left to learn is where there is a code, and which ones
are common enough to differ from their group's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.cells import Cells, CodeColumn, column_name
from nacre.histograms.histograms import Histograms
from nacre.rows import TableEncoder
from nacre.schema.columns.category import Ordinal
from nacre.schema.columns.scale import Scale
from nacre.schema.facts.bound import Belonging, LookUp

Index = NDArray[np.int64]
Mask = NDArray[np.bool_]


def with_families(histograms: Histograms, encoder: TableEncoder) -> Histograms:
    """Histograms that know which values determine the same; all of it follows from the schema."""
    changed = {*encoder.times, *(each.column for each in encoder.differences)}
    tables: dict[str, list[LookUp]] = {}
    for fact in encoder.schema.bound_facts:
        if isinstance(fact, LookUp) and fact.by not in changed:
            tables.setdefault(fact.by, []).append(fact)
    belongs = {fact.column for fact in encoder.schema.bound_facts if isinstance(fact, Belonging)}
    families, begins = dict(histograms.families), dict(histograms.begins)
    scales: dict[int, int] = {}
    for place, column in enumerate(histograms.columns):
        name = column_name(column, encoder.layout)
        own, schema_column = tables.get(name, []), encoder.modeled.columns[name]
        if isinstance(schema_column, Ordinal):
            scales[place] = len(schema_column.values)
        if own and isinstance(column, CodeColumn):
            families[place] = _families(own, column.size, schema_column.nullable)
        elif name in belongs:  # whether there is a code: 'missing' is the last one
            families[place] = [(np.arange(column.size) == column.size - 1).astype(np.int64)]
        elif not isinstance(column, CodeColumn):
            zero = encoder.layout.numbers[column.number].zero
            found = _begins(own, column.cells, Scale(schema_column)) | _begins_at(
                zero, column.cells
            )
            if found.any():
                # What is known so far may say something of the cell of gaps, too.
                earlier = begins.get(place, np.zeros(len(found), bool))[: len(found)]
                begins[place] = earlier | found
    return dataclasses.replace(histograms, families=families, begins=begins, scales=scales)


def _families(tables: Sequence[LookUp], size: int, nullable: bool) -> list[Index]:
    """Which codes determine the same, by each table, the one with most families first."""
    found = []
    for table in tables:
        codes = np.arange(size)
        span = np.maximum(np.searchsorted(table.starts, codes, side="right") - 1, 0)
        places = table.places[span]
        if nullable:
            places = np.append(places[:-1], table.unknown)
        found.append(np.unique(places, return_inverse=True)[1])
    found = sorted(found, key=lambda family: -int(family.max()))
    # Where hardly two codes determine the same, such as their names, a coarser table says more.
    while len(found) > 1 and 2 * (int(found[0].max()) + 1) > size:
        found = found[1:]
    return found


def _begins(tables: Sequence[LookUp], cells: Cells, scale: Scale) -> Mask:
    """The cells of a number in which a span begins, after the first."""
    low = scale.values(cells.low)
    found = np.zeros(cells.size, bool)
    for table in tables:
        changes = table.starts[1:][np.diff(table.places) != 0]
        place = np.searchsorted(low, changes)  # the first cell that lies in the new span
        found[place[place < cells.size]] = True
    return found


def _begins_at(tick: int | None, cells: Cells) -> Mask:
    """The first cell that holds nothing below a tick inside the range."""
    found = np.zeros(cells.size, bool)
    if tick is not None and 0 < tick < cells.high[-1]:
        found[np.searchsorted(cells.low, tick) :][:1] = True  # it may lie inside the last cell
    return found
