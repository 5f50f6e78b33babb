"""Columns that another one determines: found in a sample, completed from every row.

Also where that one may be missing and then says nothing: a repair shop is in one district, and a
claim without repair has a district, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from nacre.schema.columns.column import Column
from nacre.schema.columns.numeric import Integer
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.statement import Word
from nacre.schema.draft.guess import ENOUGH, FEW
from nacre.schema.draft.seen import Places, Seen, name_of, size_of
from nacre.schema.facts.statement import MISSING, Determined
from nacre.schema.table import Batches, batches, listed

MOST_KEYS = 1_000  # as many as a draft lists of a text
SHORT_RANGE = 100  # whole numbers that may each go with another value
BANDS = 30  # stretches of whole numbers that a draft lists of a longer range
RARE = 0.1  # of the rows, which may hold keys that few rows hold
SHORT = 12  # entries that stand one by one; of more those with the same value stand together
WIDTH = 80  # characters of such a key
PLAIN = re.compile(r"[\w .+-]+")  # keys that can be listed with commas between them


class Pair(NamedTuple):
    """One value of `by` goes with one of the column, with `known` only where it is not missing."""

    column: str
    by: str
    known: bool = False


def determined(
    columns: Mapping[str, Column], seen: Mapping[str, Seen], label: str | None
) -> Iterator[Pair]:
    """Columns that another one determines; last those of codes with gaps, most groups first."""
    order = {name: place for place, name in enumerate(columns)}
    lists = [name for name, each in seen.items() if 0 < each.size <= MOST_KEYS + 1]
    left = []
    for name, column in seen.items():
        if name == label or not column.size:
            continue
        found: list[tuple[bool, int, str]] = []
        for by in lists:
            if by == name or _only_gaps(column, seen[by]):
                continue
            if keys := _keys(column, seen[by], _is_long(columns[by])):
                values = len(np.unique(column.places))
                if keys > values or (keys == values and order[by] < order[name]):
                    found.append((isinstance(columns[by], Integer), keys, by))
        if found:
            yield Pair(name, min(found)[2])
        elif columns[name].size is not None:
            left.append(name)
    known = [pair for name in left if (pair := _if_known(columns, seen, name, lists)) is not None]
    yield from sorted(known, key=lambda pair: -len(np.unique(seen[pair.column].places)))


def _if_known(
    columns: Mapping[str, Column], seen: Mapping[str, Seen], name: str, lists: Sequence[str]
) -> Pair | None:
    """The list with gaps and fewest values that determines another list where it is known."""
    found: list[tuple[int, int, str]] = []  # of codes and their names the first column is taken
    for place, by in enumerate(lists):
        code = seen[by]
        if by == name or columns[by].size is None or not code.missing.any():
            continue
        group, code = (each.where(~code.missing) for each in (seen[name], code))
        keys = _keys(group, code, False)
        if keys > len(np.unique(group.places)):
            found.append((keys, place, by))
    return Pair(name, min(found)[-1], known=True) if found else None


def _only_gaps(column: Seen, by: Seen) -> bool:
    """Whether all values of `by` go with one of the column, so that its gaps tell everything."""
    known = column.places[~by.missing]
    return bool(by.missing.any()) and len(np.unique(known)) == 1


def _is_long(column: Column) -> bool:
    return isinstance(column, Integer) and column.ticks > SHORT_RANGE


def _keys(column: Seen, by: Seen, long: bool) -> int:
    """How many values of `by` there are if each goes with one of the column; 0 otherwise.

    Some that many rows hold must go with another value than the commonest, or the column is as
    good as constant; and keys of a row or two, which tell everything, are to be few.  Of a long
    range of whole numbers, stretches that go with one value count as keys.
    """
    if len(np.unique(column.places[~column.missing])) < 2:
        return 0
    first = np.full(by.size, -1, np.int64)
    first[by.places] = column.places
    if (first[by.places] != column.places).any():
        return 0
    held = np.bincount(by.places, minlength=by.size)
    keys, commonest = int((held > 0).sum()), np.bincount(column.places).argmax()
    first, held = first[held > 0], held[held > 0]
    if long:
        begins = np.flatnonzero(np.r_[True, first[1:] != first[:-1]])
        first, held = first[begins], np.add.reduceat(held, begins)
        if len(held) > BANDS:
            return 0
    telling = (held >= FEW) & (first != commonest)
    if held[telling].sum() < ENOUGH or held[held < FEW].sum() > RARE * len(by.places):
        return 0
    return keys


def completed(
    columns: Mapping[str, Column], pairs: Sequence[Pair], rows: Batches
) -> dict[Determined, str]:
    """The look-up tables, from all rows, and what to say of each; a pair that a row breaks goes."""
    tables = {pair: np.full(size_of(columns[pair.by]), -1, np.int64) for pair in pairs}
    if not tables:
        return {}
    held = {pair.by: np.zeros(size_of(columns[pair.by]), np.int64) for pair in pairs}
    names = {name for pair in pairs for name in (pair.column, pair.by)}
    for batch in batches(rows):
        seen = {name: Seen.of(columns[name], batch.column(name)) for name in names}
        for by, counts in held.items():
            counts += np.bincount(seen[by].places, minlength=len(counts))
        for pair in list(tables):
            there = ~seen[pair.by].missing if pair.known else slice(None)
            values, keys = (seen[name].places[there] for name in (pair.column, pair.by))
            table = tables[pair]
            known = table[keys]
            table[keys] = np.where(known < 0, values, known)
            if (table[keys] != values).any():
                del tables[pair]
    found = {}
    for pair, table in tables.items():
        fact = _table(columns, pair, table)
        if fact is not None:
            found[fact] = _rare(columns[pair.by], held[pair.by])
    return found


def _rare(by: Column, held: Places) -> str:
    """Which entries rest on few rows."""
    names = Scale(by).names
    rare = [name for name, rows in zip(names, held, strict=False) if 0 < rows < FEW]
    return f"told by fewer than {FEW} rows each: {listed(rare, 40)}" if rare else ""


def _table(columns: Mapping[str, Column], pair: Pair, table: Places) -> Determined | None:
    """The words of a look-up table; None if no row tells what belongs to one of the values."""
    name, by, known = pair
    gap = size_of(columns[name]) - 1
    names = Scale(columns[by]).names
    places = table[: len(names)] if names else _filled(table[:-1])
    if places is None or (places < 0).any():
        return None
    values = [
        MISSING if place == gap else name_of(columns[name], place) for place in places.tolist()
    ]
    entries = _by_value(names, values) if names else _runs(columns[by], values)
    if columns[by].nullable and table[-1] >= 0:
        missing = table[-1]
        entries.append((MISSING, MISSING if missing == gap else name_of(columns[name], missing)))
    words = Word.of_column(name), Word.of_column(by)
    return Determined(*words, tuple(entries), known=known)


def _filled(table: Places) -> Places | None:
    """With the value of both neighbors for numbers that no row has; None where they differ."""
    known = np.flatnonzero(table >= 0)
    if not len(known):
        return None
    places = np.arange(len(table))
    below = known[np.maximum(np.searchsorted(known, places, side="right") - 1, 0)]
    above = known[np.minimum(np.searchsorted(known, places), len(known) - 1)]
    return table[below] if (table[below] == table[above]).all() else None


def _runs(by: Column, values: Sequence[str]) -> list[tuple[str, str]]:
    """Entries of a table by whole numbers: ranges that have one value."""
    numbers = Scale(by).values(np.arange(len(values))).tolist()
    found = []
    for value, run in groupby(zip(numbers, values, strict=True), key=lambda pair: pair[1]):
        ends = [number for number, _ in run]
        found.append((f"{ends[0]}..{ends[-1]}" if len(ends) > 1 else f"{ends[0]}", value))
    return found


def _by_value(keys: Sequence[str], values: Sequence[str]) -> list[tuple[str, str]]:
    """Entries of a table by a list: one for each key, or where these are many a line of keys."""
    entries = list(zip(keys, values, strict=True))
    if len(keys) <= SHORT or not all(PLAIN.fullmatch(key) for key in keys):
        return entries
    found: list[tuple[str, str]] = []
    for value in dict.fromkeys(values):
        lines = [""]
        for key in (key for key, its in entries if its == value):
            if lines[-1] and len(lines[-1]) + len(key) > WIDTH:
                lines.append("")
            lines[-1] += f",{key}" if lines[-1] else key
        found += [(line, value) for line in lines]
    return found
