"""Persons of several rows, side by side: how many rows they have, and how alike these are."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from nacre.evaluate.tables.rows import BINS
from nacre.rows import TableEncoder
from nacre.rows.unit import Roster
from nacre.rows.within import MISSING, places_of
from nacre.schema import Column, Schema, Unit


@dataclasses.dataclass(frozen=True, eq=False)
class Whose:
    """Whose the rows of one table are.

    Attributes:
        rows: how many there are.
        persons: of how many persons they are.
        beyond: how many persons have more rows than count.
        uncounted: how many rows these have too many.
        many: the share of the persons with 1, 2, ... rows, the last with so many or more.
        alike: by column, the share of the persons with several rows whose first two rows agree in
            it, numbers in 20 bins; empty if nobody has several.
    """

    rows: int
    persons: int
    beyond: int
    uncounted: int
    many: np.ndarray
    alike: Mapping[str, float]

    @property
    def mean(self) -> float:
        """Rows a person, of those that count."""
        return float(self.many @ np.arange(1, len(self.many) + 1))


def whose(table: Any, schema: Schema) -> Whose:
    """Read the ids of a table, and its rows once more."""
    unit, encoder = schema.unit or Unit(column="", rows=1), TableEncoder(schema)
    source = encoder.open(table)
    roster = Roster.of(unit, source.batches(), declared=source.types is not None)
    person = roster.persons.person
    rank, many = _ranks(person), np.bincount(person, minlength=roster.count)
    first = {name: np.zeros(roster.count, np.int64) for name in schema.names}
    equal = dict.fromkeys(schema.names, 0)
    start = 0
    for batch in source.batches():
        end = start + batch.num_rows
        who, place = person[start:end], rank[start:end]
        for name, column in schema.columns.items():
            bins = _binned(column, places_of(column, batch.column(name)))
            first[name][who[place == 0]] = bins[place == 0]
            second = place == 1
            equal[name] += int(np.count_nonzero(first[name][who[second]] == bins[second]))
        start = end
    several = int(np.count_nonzero(many > 1))
    counted = np.minimum(many, unit.rows)
    return Whose(
        rows=len(person),
        persons=roster.count,
        beyond=roster.beyond,
        uncounted=int((many - counted).sum()),
        many=np.bincount(counted - 1, minlength=unit.rows) / max(roster.count, 1),
        alike={name: hits / several for name, hits in equal.items()} if several else {},
    )


def _ranks(person: np.ndarray) -> np.ndarray:
    """The place of each row among those of its person, in the table's order."""
    order = np.argsort(person, kind="stable")
    new = np.ones(len(order), bool)
    new[1:] = person[order[1:]] != person[order[:-1]]
    begins = np.flatnonzero(new)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    return ranks


def _binned(column: Column, places: np.ndarray) -> np.ndarray:
    if column.ticks is None or column.ticks < BINS:
        return places
    return np.where(places == MISSING, MISSING, places * BINS // (column.ticks + 1))
