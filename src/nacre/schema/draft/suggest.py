"""Which facts the rows seem to keep: found in a sample, then held against every row.

Whether they are public, only a person can know: a draft lists them as comments.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.schema.check import examine
from nacre.schema.columns.category import Boolean, Categorical, Ordinal
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import Integer
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.constraint import understand
from nacre.schema.constraints.statement import Comparison, Word
from nacre.schema.draft.guess import ENOUGH, FEW
from nacre.schema.draft.products import products
from nacre.schema.draft.sample import Sample
from nacre.schema.draft.suggested import Suggested
from nacre.schema.draft.sums import sums
from nacre.schema.facts.statement import MISSING, Determined, Fact, Gap, Together
from nacre.schema.facts.understand import understand_facts
from nacre.schema.schema import Schema
from nacre.schema.table import Batches, batches

MOST_KEYS = 200  # entries of a look-up table that a person can confirm
MOST_TICKS = 100  # of a whole number that a table may tell
Places: TypeAlias = NDArray[np.int64]


def suggestions(schema: Schema, sample: Sample, again: Callable[[], Batches] | None) -> Suggested:
    """What the sampled rows keep and, where they can be read again, every other row too."""
    if sample.rows is None or sample.rows.num_rows < ENOUGH:
        return Suggested()
    seen = {name: _Seen.of(column, sample.column(name)) for name, column in schema.columns.items()}
    tables = list(_determined(schema, seen))
    others = [*_together(seen), *_gaps(schema, seen), *sums(schema, sample)]
    others += products(schema, sample)
    orders = list(_orders(schema, seen))
    rows = sample.rows
    whole = again is None and sample.stride > 1
    pass_over = again if again is not None else lambda: rows
    facts = _kept(schema, [*_completed(schema, tables, pass_over()), *others])
    broken = _broken(schema, facts, orders, pass_over) if facts or orders else {}
    facts = [fact for fact in facts if not broken.get(str(fact))]
    return Suggested(
        tuple(fact.plain() for fact in facts),
        tuple(order for order in orders if not broken.get(order)),
        rows.num_rows if whole else None,
    )


@final
@dataclasses.dataclass(frozen=True, eq=False)
class _Seen:
    """A column of the sample: places (ticks or codes), the last of them where one is missing."""

    places: Places
    missing: NDArray[np.bool_]
    size: int  # of a list of values or a short range, missing included; 0 for all others

    @classmethod
    def of(cls, column: Column, cells: pa.Array) -> _Seen:
        reading = column.read(cells)
        gone = reading.missing.copy()
        for where in reading.refused.values():
            gone |= where
        size = _size(column)
        places = np.where(gone, max(size - 1, 0), reading.values).astype(np.int64)
        return cls(places, gone, size)


def _size(column: Column) -> int:
    if isinstance(column, Categorical | Ordinal | Boolean):
        return column.size + (not column.nullable)
    if isinstance(column, Integer) and column.ticks <= MOST_TICKS:
        return column.ticks + 2
    return 0


def _determined(schema: Schema, seen: Mapping[str, _Seen]) -> Iterator[tuple[str, str]]:
    """Pairs (column, by) where, in the sample, one value of `by` goes with one of the column."""
    order = {name: place for place, name in enumerate(schema.names)}
    lists = [
        name
        for name, each in seen.items()
        if 0 < each.size <= MOST_KEYS and schema.columns[name].size is not None
    ]
    for name, column in seen.items():
        if name == schema.label or not column.size:
            continue
        found: list[tuple[int, str]] = []
        for by in lists:
            if by != name and (keys := _keys(column, seen[by])):
                values = len(np.unique(column.places))
                if keys > values or (keys == values and order[by] < order[name]):
                    found.append((keys, by))
        if found:
            yield name, min(found)[1]


def _keys(column: _Seen, by: _Seen) -> int:
    """How many values of `by` there are if each goes with one of the column; 0 otherwise.

    Some that many rows hold must go with another value than the commonest, or the column is as
    good as constant.
    """
    if len(np.unique(column.places[~column.missing])) < 2:
        return 0
    first = np.full(by.size, -1, np.int64)
    first[by.places] = column.places
    if (first[by.places] != column.places).any():
        return 0
    held = np.bincount(by.places, minlength=by.size)
    commonest = np.bincount(column.places).argmax()
    telling = (held >= FEW) & (first != commonest)
    rows = held[telling].sum()
    return int((held > 0).sum()) if telling.any() and rows >= ENOUGH else 0


def _completed(schema: Schema, pairs: Sequence[tuple[str, str]], rows: Batches) -> list[Determined]:
    """The look-up tables, from all rows; a pair that some row breaks is left out."""
    tables = {pair: np.full(_size(schema.columns[pair[1]]), -1, np.int64) for pair in pairs}
    if not tables:
        return []
    names = {name for pair in pairs for name in pair}
    for batch in batches(rows):
        seen = {name: _Seen.of(schema.columns[name], batch.column(name)) for name in names}
        for pair in list(tables):
            table, column, by = tables[pair], seen[pair[0]].places, seen[pair[1]].places
            known = table[by]
            table[by] = np.where(known < 0, column, known)
            if (table[by] != column).any():
                del tables[pair]
    found = (_table(schema, *pair, table) for pair, table in tables.items())
    return [table for table in found if table is not None]


def _table(schema: Schema, name: str, by: str, table: Places) -> Determined | None:
    """The words of a look-up table; None if no row tells what belongs to one of the values."""
    keys, gap = Scale(schema.columns[by]).names, _size(schema.columns[name]) - 1
    if (table[: len(keys)] < 0).any():
        return None
    values = [MISSING if place == gap else _name(schema.columns[name], place) for place in table]
    entries = list(zip(keys, values, strict=False))
    if schema.columns[by].nullable and table[-1] >= 0:
        entries.append((MISSING, values[-1]))
    return Determined(Word.of_column(name), Word.of_column(by), tuple(entries))


def _name(column: Column, place: int) -> str:
    names = Scale(column).names
    return names[place] if names else str(Scale(column).values(np.array([place]))[0])


def _together(seen: Mapping[str, _Seen]) -> Iterator[Fact]:
    """Columns that are missing in the same rows."""
    groups: dict[bytes, list[str]] = {}
    for name, column in seen.items():
        if FEW <= column.missing.sum() <= len(column.missing) - FEW:
            groups.setdefault(np.packbits(column.missing).tobytes(), []).append(name)
    for names in groups.values():
        if len(names) > 1:
            yield Together(tuple(map(Word.of_column, names)))


def _gaps(schema: Schema, seen: Mapping[str, _Seen]) -> Iterator[Fact]:
    """Columns that are missing exactly where another one has a certain value."""
    done: set[bytes] = set()
    for name, column in seen.items():
        mark = np.packbits(column.missing).tobytes()
        if mark in done or not FEW <= column.missing.sum() <= len(column.missing) - FEW:
            continue
        for by, other in seen.items():
            if by == name or not other.size:
                continue
            values = np.unique(other.places[column.missing])
            if len(values) == 1 and values[0] < other.size - 1:
                place = int(values[0])
                if ((other.places == place) == column.missing).all():
                    value = Word.of_value(_name(schema.columns[by], place), schema.names)
                    clause = Comparison(Word.of_column(by), "=", value)
                    yield Gap(Word.of_column(name), (clause,))
                    done.add(mark)
                    break


def _orders(schema: Schema, seen: Mapping[str, _Seen]) -> Iterator[str]:
    """Dates that never come after others; what follows from two of them is left out."""
    names = [name for name, column in schema.columns.items() if isinstance(column, Datetime)]
    values = {name: Scale(schema.columns[name]).values(seen[name].places) for name in names}
    found: set[tuple[str, str]] = set()
    for first, last in itertools.permutations(names, 2):
        there = ~(seen[first].missing | seen[last].missing)
        early, late = values[first][there], values[last][there]
        if there.sum() >= ENOUGH and (early <= late).all() and (early < late).sum() >= FEW:
            found.add((first, last))
    for first, last in sorted(found):
        if not any((first, mid) in found and (mid, last) in found for mid in names):
            yield f"{Word.of_column(first)} <= {Word.of_column(last)}"


def _kept(schema: Schema, facts: Sequence[Fact]) -> list[Fact]:
    """The facts that may stand together: each column follows from one, and none in a circle."""
    found: list[Fact] = []
    for fact in facts:
        if not understand_facts([*found, fact], schema.columns, schema.label, known=True)[2]:
            found.append(fact)
    return found


def _broken(
    schema: Schema, facts: Sequence[Fact], orders: Sequence[str], rows: Callable[[], Batches]
) -> dict[str, int]:
    """How many rows break each of them."""
    _, bound, _ = understand_facts(facts, schema.columns, schema.label, known=True)
    constraints, _ = understand(orders, schema.columns, known=True)
    rules = [each.bind(schema.columns) for each in constraints]
    names = {name for fact in bound for name in (fact.column, *fact.sources)}
    names |= {name for rule in rules for name in rule.names}
    columns: dict[str, Any] = {name: schema.columns[name] for name in names}
    found = examine(columns, rows(), rules, bound)
    return {**found.facts, **found.constraints}
