"""The synthetic table of a public page: drawn from the model, or given; rows weighed as persons.

Where a person may have several rows, what was released of the private table counts a person as one:
of r rows each weighs 1 / r.  Synthetic rows weigh the same, in the very integers of the vault
(`Persons.weight`), so that like is compared with like; and how many rows a person has is one more
column of both.  Nothing here sees a private row.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nacre.errors import NacreError
from nacre.evaluate.tables.reading import read
from nacre.evaluate.tables.rows import Rows
from nacre.model import Model
from nacre.rows import TableEncoder, open_source
from nacre.rows.unit import WHOLE, Roster
from nacre.schema import Schema, SchemaError


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """The synthetic rows of a page.

    Attributes:
        rows: all of them; with how many rows a person has as a column, and with weights, where a
            person may have several.
        seed: with which they were drawn; None if they were given.
        persons: how many they are of; None where a row is a person.
    """

    rows: Rows
    seed: int | None
    persons: int | None = None


def synthetic_table(model: Model, synthetic: Any, rows: int, seed: int, data: Any) -> Table:
    """The synthetic table: drawn from the model, or the given one if it fits the schema."""
    # What follows from other columns is a column like others here.
    schema = dataclasses.replace(model.schema, facts=())
    if synthetic is None:
        if rows < 1:
            raise NacreError(f"rows must be a positive number, got {rows}.")
        drawn = list(model.batches(rows, seed=seed))
        return _collect(schema, drawn, seed)
    if synthetic is data or _same_file(synthetic, data):
        raise NacreError(
            "`synthetic` and `data` are the same table. A private table must never be given as the "
            "synthetic one: its own statistics would be published."
        )
    found = open_source(synthetic, schema).check(schema)
    if not found.ok:
        raise SchemaError(
            f"The synthetic table does not fit the model's schema, so it was not drawn from this "
            f"model.\n{found.describe()}"
        )
    if schema.counted is schema:
        return Table(read(synthetic, schema, "The synthetic table"), None)
    return _collect(schema, TableEncoder(schema).open(synthetic).batches(), None)


def _collect(schema: Schema, parts: Iterable[pa.Table | pa.RecordBatch], seed: int | None) -> Table:
    """The rows of all parts, encoded; weighed where a person may have several."""
    unit, parts = schema.unit, list(parts)
    if unit is None or unit.counted is None:
        every = [Rows.narrow(schema, schema.encode(part)) for part in parts]
        return Table(Rows.collect(schema, every), seed)
    ids = [pa.record_batch({unit.column: _column(part, unit.column)}) for part in parts]
    roster = Roster.of(unit, ids)
    if roster.beyond:
        raise NacreError(
            f"The synthetic table has persons ('{unit.column}') of more than {unit.rows} rows, so "
            "it was not drawn from this model."
        )
    start, every, weights = 0, [], []
    for part in parts:
        own = roster.persons[start : start + part.num_rows]
        start += part.num_rows
        encoded = schema.counted.encode(part.append_column(unit.counted, pa.array(own.rows)))
        every.append(Rows.narrow(schema.counted, encoded))
        weights.append(own.weight[encoded.valid] / WHOLE)
    rows = Rows.collect(schema.counted, every)
    return Table(dataclasses.replace(rows, weights=np.concatenate(weights)), seed, roster.count)


def _column(part: pa.Table | pa.RecordBatch, name: str) -> pa.Array:
    found = part.column(name)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _same_file(first: Any, second: Any) -> bool:
    paths = [Path(x).resolve() for x in (first, second) if isinstance(x, str | Path)]
    return len(paths) == 2 and paths[0] == paths[1]
