"""Pairs of cells that no permitted row can have: the schema's rules as zeros of the model.

A rule of two columns is tried on both ends of every cell of each.  A pair of cells that breaks it
whatever the values inside is a structural zero: its noisy count is noise, and the mixture is kept
from it as from cells that are surely empty.  So is a distance from a column that always ends beyond
the bounds of what it stands for; and a code beside a group that is not its own.  All of it follows
from the schema: it costs nothing.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.cells import CodeColumn, Column, NumberColumn, column_name
from nacre.methods.mosaic.learn import Pairs
from nacre.rows import TableEncoder
from nacre.schema import Layout, Tie
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.condition import Among, ColumnValues
from nacre.schema.constraints.constraint import Rule
from nacre.schema.facts.bound import Belonging

Mask = NDArray[np.bool_]
Index = NDArray[np.int64]

MOST = 4_000_000  # pairs of cells' ends that a rule is tried on


def structural_zeros(
    encoder: TableEncoder, columns: Sequence[Column]
) -> dict[tuple[int, int], Mask]:
    """For pairs of columns that rules speak of, which pairs of cells cannot be.

    Columns that are modeled as differences keep their rule by themselves (for their bounds see
    `out_of_bounds`); rules of times whose days
    are modeled apart, and of more than two columns, are left to what is drawn.  Of a rule that
    demands several things each is a rule by itself.  So are facts of codes that may be missing.
    """
    places = {column_name(each, encoder.layout): place for place, each in enumerate(columns)}
    for changed in (*encoder.times, *(each.column for each in encoder.differences)):
        places.pop(changed, None)
    found: dict[tuple[int, int], Mask] = {}
    for rule in itertools.chain.from_iterable(each.parts for each in encoder.schema.rules):
        names = sorted(rule.names, key=lambda name: places.get(name, -1))
        if len(names) != 2 or not all(name in places for name in names) or not _monotone(rule):
            continue
        pair = places[names[0]], places[names[1]]
        if 4 * columns[pair[0]].size * columns[pair[1]].size <= MOST:
            never = _broken(rule, names, [columns[place] for place in pair], encoder)
            found[pair] = found.get(pair, np.zeros_like(never)) | never
    for fact in encoder.schema.bound_facts:
        if isinstance(fact, Belonging) and {fact.column, fact.group} <= places.keys():
            code, group = places[fact.column], places[fact.group]
            never = _of_other_groups(fact, columns[code].size, columns[group].size)
            pair, never = ((code, group), never) if code < group else ((group, code), never.T)
            found[pair] = found.get(pair, np.zeros_like(never)) | never
    return {pair: never for pair, never in found.items() if never.any()}


def _of_other_groups(fact: Belonging, codes: int, groups: int) -> Mask:
    """Which codes are of another group; a missing code, the last one, may be of any."""
    meant = np.where(fact.places < 0, groups - 1, fact.places)
    never = np.zeros((codes, groups), bool)
    never[: len(meant)] = meant[:, None] != np.arange(groups)
    return never


def out_of_bounds(layout: Layout, columns: Sequence[Column]) -> dict[tuple[int, int], Mask]:
    """For distances and what they are from, which pairs of cells lie beyond the column's bounds.

    However far inside their cells the two are.  What both ends of a chain are from each other is
    not known from any pair.  Bins do not begin where these do: that is in nearly every cell.
    """
    place = {c.number: k for k, c in enumerate(columns) if not isinstance(c, CodeColumn)}
    found = {}
    for number, each in enumerate(layout.numbers):
        tie = each.tie
        if tie is None or layout.numbers[tie.anchor].tie is not None:
            continue
        anchor, own = columns[place[tie.anchor]], columns[place[number]]
        if isinstance(anchor, CodeColumn) or isinstance(own, CodeColumn):
            continue
        ends = tie.ticks(anchor.cells.low, 0), tie.ticks(anchor.cells.high, tie.a_day - 1)
        least, most = (_starts(tie, anchor, each) for each in ends)
        # The later it begins, the shorter a distance upwards has to be, and the longer downwards.
        low = tie.line.reach(most)[0], tie.line.reach(least)[0]
        high = tie.line.reach(least)[1], tie.line.reach(most)[1]
        up = tie.line.up > 0
        never = np.zeros((anchor.size, own.size), bool)
        never[:, : own.cells.size] = (own.cells.high < low[not up][:, None]) | (
            own.cells.low > high[not up][:, None]
        )
        if never.any():
            pair = place[tie.anchor], place[number]
            found[min(pair), max(pair)] = never if pair[0] < pair[1] else never.T
    return found


def _starts(tie: Tie, anchor: NumberColumn, ends: Index) -> Index:
    """Where distances from one end of each cell begin, gaps included."""
    gaps = np.arange(anchor.size) >= len(ends)
    return tie.line.start(np.r_[ends, np.zeros(int(gaps.sum()), np.int64)], gaps)


def cuts(zeros: dict[tuple[int, int], Mask], columns: Sequence[Column]) -> dict[int, Mask]:
    """The cells of each number at which a rule begins to say something else: bins begin there."""
    found: dict[int, Mask] = {}
    for (i, j), never in zeros.items():
        for place, table in ((i, never), (j, never.T)):
            if isinstance(columns[place], CodeColumn):
                continue
            differs = np.r_[False, (table[1:] != table[:-1]).any(1)]
            found[place] = found.get(place, np.zeros(len(table), bool)) | differs
    return found


def with_zeros(pairs: Pairs, zeros: dict[tuple[int, int], Mask]) -> Pairs:
    """Tables without the noise of pairs of bins all of whose cells are structural zeros."""
    tables, known = dict(pairs.tables), {}
    for i, j in pairs.tables:
        never = zeros.get((pairs.joined[i], pairs.joined[j]))
        if never is None:
            continue
        left, right = (np.eye(pairs.bins[k])[pairs.groups[k]] for k in (i, j))
        none = left.T @ ~never @ right == 0
        if none.any():
            tables[i, j] = np.where(none, 0.0, tables[i, j])
            known[i, j] = none
    return dataclasses.replace(pairs, tables=tables, zeros=known)


def _monotone(rule: Rule) -> bool:
    """Whether both ends of two cells tell all: equality of two numbers may hold between them."""
    conditions = (*rule.demands, *rule.premise)
    return all(isinstance(c, Among) or c.sign not in ("=", "!=") for c in conditions)


def _broken(rule: Rule, names: list[str], columns: list[Column], encoder: TableEncoder) -> Mask:
    """Which pairs of cells break a rule at both ends of each, and everywhere between."""
    known = encoder.schema.counted.columns
    parts = [
        _ends(column, known[name].nullable) for name, column in zip(names, columns, strict=True)
    ]
    sizes = [len(places) for places, _ in parts]
    rows = [axis.ravel() for axis in np.indices(sizes)]
    given = {
        name: (places[row], missing[row])
        for name, row, (places, missing) in zip(names, rows, parts, strict=True)
    }
    view = ColumnValues(known, len(rows[0]), given.__getitem__)
    broken = ~rule.holds(view).reshape(sizes)
    # Both ends of a cell stand beside each other.
    broken = broken.reshape(columns[0].size, -1, columns[1].size, sizes[1] // columns[1].size)
    never = broken.all((1, 3))
    for axis, (name, column) in enumerate(zip(names, columns, strict=True)):
        mixed = _mixed(rule, name, column, Scale(known[name]))
        never &= ~mixed[:, None] if axis == 0 else ~mixed
    return np.asarray(never)


def _ends(column: Column, nullable: bool) -> tuple[Index, Mask]:
    """The first and last tick of every cell, or the codes; and which are missing."""
    if isinstance(column, CodeColumn):
        codes = np.arange(column.size)
        return codes, (codes == column.size - 1) & nullable
    cells = column.cells
    ends = np.stack([cells.low, cells.high], axis=1).ravel()
    gaps = 2 * column.nullable
    return np.r_[ends, np.zeros(gaps, np.int64)], np.arange(len(ends) + gaps) >= len(ends)


def _mixed(rule: Rule, name: str, column: Column, scale: Scale) -> Mask:
    """Cells inside which a span of the rule begins or ends: some of their values may be right."""
    found = np.zeros(column.size, bool)
    if isinstance(column, CodeColumn):
        return found
    low, high = (scale.values(ends) for ends in (column.cells.low, column.cells.high))
    own = [
        each
        for each in itertools.chain(rule.demands, rule.premise)
        if isinstance(each, Among) and each.name == name
    ]
    for first, last in (span for each in own for span in each.spans):
        inside = ((low < first) & (first <= high)) | ((low <= last) & (last < high))
        found[: len(low)] |= inside
    return found
