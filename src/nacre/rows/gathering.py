"""Persons out of drawn rows: as many rows each as in the data, with what does not change the same.

A model draws rows as persons weigh them, each with the number r of rows that its person has
(`Unit.counted`).  A row stays with a chance in proportion to r, and r rows of the same r become a
person: so there are as many persons of each number of rows, and as many rows of each kind, as the
model says.  Rows that agree, or nearly, in the columns that are constant within a person come
together; beyond these and r, rows of a person are independent.  All of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.schema import Encoded, Schema
from nacre.schema.constraints.condition import ColumnValues
from nacre.schema.constraints.constraint import Rule
from nacre.schema.facts.bound import Absence, Belonging

Places = NDArray[np.intp]


@final
class Gathering:
    """Makes persons of settled rows, and keeps rows that wait for others until the next call."""

    def __init__(self, schema: Schema, rules: Sequence[Rule]) -> None:
        if schema.unit is None:
            raise NacreError("Only a schema with a unit has persons of several rows.")
        self._schema, self._unit, self._rules = schema, schema.unit, rules
        layout, constant = schema.counted.layout, _constant(schema)
        self._codes = [i for i, code in enumerate(layout.codes) if code.name in constant]
        self._numbers = [i for i, number in enumerate(layout.numbers) if number.name in constant]
        counted = self._unit.counted
        self._counted = None if counted is None else layout.code(counted)
        self._waiting: Encoded | None = None
        self._next = 1

    def chances(self, rows: Encoded) -> NDArray[np.float64]:
        """How likely each row is to stay, so that rows are as frequent as in the data."""
        return self._many(rows) / self._unit.rows

    def __call__(self, rows: Encoded, rng: np.random.Generator) -> tuple[Encoded, pa.Array]:
        """Whole persons, in random order with their rows side by side, and the id of each row."""
        if self._waiting is not None:
            rows = Encoded.concat([self._waiting, rows])
        places, sizes = self._persons(rows, rng)
        waits = np.ones(len(rows), bool)
        waits[places] = False
        self._waiting = rows[waits]
        shuffled = np.repeat(rng.permutation(len(sizes)), sizes)
        order = np.argsort(shuffled, kind="stable")
        gathered = rows[places]
        if self._codes or self._numbers:
            gathered = self._same(gathered, sizes, rng)
        ids = self._next + shuffled[order]
        self._next += len(sizes)
        return gathered[order], pa.array(ids, pa.int64())

    def label(self, table: pa.Table, ids: pa.Array) -> pa.Table:
        """A decoded table with its ids in front."""
        return table.add_column(0, self._unit.column, ids)

    def _many(self, rows: Encoded) -> NDArray[np.int64]:
        """Of how many rows each row's person is."""
        if self._counted is None:
            return np.ones(len(rows), np.int64)
        return rows.codes[:, self._counted].astype(np.int64) + 1

    def _persons(self, rows: Encoded, rng: np.random.Generator) -> tuple[Places, Places]:
        """Places of rows, person after person, and how many each has.

        Rows are sorted by what is constant, lists of values first, so that neighbors are alike;
        which of them have to wait is a matter of chance.
        """
        many, parts, sizes = self._many(rows), [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
        for size in range(1, self._unit.rows + 1):
            own = rng.permutation(np.flatnonzero(many == size))
            own = own[: len(own) // size * size]
            keys = [*rows.ticks[own][:, self._numbers[::-1]].T]
            keys += [*rows.codes[own][:, self._codes[::-1]].T]
            parts.append(own[np.lexsort(keys)] if keys else own)
            sizes.append(np.full(len(own) // size, size, np.intp))
        return np.concatenate(parts), np.concatenate(sizes)

    def _same(self, rows: Encoded, sizes: Places, rng: np.random.Generator) -> Encoded:
        """Rows of which each has its person's constant columns: those of one row drawn at random.

        A row that then breaks a constraint or a fact becomes a copy of that row.
        """
        first = np.cumsum(sizes) - sizes
        giver = np.repeat(first + rng.integers(sizes), sizes)
        same = rows[np.arange(len(rows))]
        same.ticks[:, self._numbers] = rows.ticks[giver][:, self._numbers]
        same.codes[:, self._codes] = rows.codes[giver][:, self._codes]
        view = ColumnValues.of(self._schema.counted.columns, same)
        holds = np.ones(len(rows), bool)
        for rule in (*self._rules, *self._schema.bound_facts):
            holds &= rule.holds(view)
        same.ticks[~holds], same.codes[~holds] = (
            rows.ticks[giver][~holds],
            rows.codes[giver][~holds],
        )
        return same


def _constant(schema: Schema) -> set[str]:
    """The columns that are constant within a person, those that follow from such ones included."""
    found = set(() if schema.unit is None else schema.unit.constant)
    for fact in schema.bound_facts:  # in an order in which each follows from those before it
        if not isinstance(fact, Absence | Belonging) and set(fact.sources) <= found:
            found.add(fact.column)
    return found
