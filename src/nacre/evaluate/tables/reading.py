"""The tables that a person has (frames, files, folders), read and set side by side."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from nacre.errors import NacreError
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.randomness import generator
from nacre.evaluate.tables.rows import Rows
from nacre.rows import open_source
from nacre.schema import Schema

HELD_OUT = 0.2
FEWEST = 10


def read(table: Any, schema: Schema, name: str) -> Rows:
    """Read `table` as the schema says; rows that do not fit it are left out and counted.

    Args:
        table: a pandas, polars or Arrow frame; a CSV or Parquet file; a folder of them.
        schema: what the columns are.
        name: how messages call this table, e.g. "The synthetic table".
    """
    try:
        source = open_source(table, schema)
        parts = [Rows.narrow(schema, schema.encode(batch)) for batch in source.whole()]
    except ValueError as error:
        raise type(error)(f"{name}: {error}") from error
    unfit = sum(part.left_out for part in parts)
    if not sum(len(part) for part in parts):
        if not unfit:
            raise NacreError(f"{name} has no rows. Give one with at least {FEWEST}.")
        raise NacreError(
            f"{name} has no rows to evaluate: {unfit} were read and none fits the schema.\n"
            f"Run `nacre schema check` to see which columns do not fit."
        )
    return Rows.collect(schema, parts)


@dataclasses.dataclass(frozen=True, eq=False)
class Tables:
    """All tables of one evaluation.

    Attributes:
        real: the private table.
        synthetic: the synthetic ones by name.
        test: real rows that were not used to make them, if there are any.
    """

    real: Rows
    synthetic: Mapping[str, Rows]
    test: Rows | None

    def notes(self) -> list[str]:
        """What a reader has to know about how they were read."""
        named = [(f"table '{name}'", rows) for name, rows in self.synthetic.items()]
        named += [("real table", self.real)]
        if self.test is not None:
            named += [("test table", self.test)]
        notes = [
            f"Left out of the {name} because they do not fit the schema: {rows.left_out:,} of "
            f"{len(rows) + rows.left_out:,} rows."
            for name, rows in named
            if rows.left_out
        ]
        if self.test is None:
            notes.append(
                f"No test rows were given: {HELD_OUT:.0%} of the real rows, drawn at random, were "
                f"kept for scoring from models trained on real rows. If the synthetic table was "
                f"made from all rows, it has seen them, and its scores are slightly too good."
            )
        return notes

    def compare(
        self, label: str | None, models: tuple[str, ...], seed: int, jobs: int
    ) -> dict[str, TableComparison]:
        """Each synthetic table beside the real one; without test rows some are held out."""
        train, test = self.real, self.test
        if test is None:
            train, test = train.split(HELD_OUT, generator(seed, "held-out"))
        real_trained = TableComparison(
            name="real",
            real=train,
            synthetic=train,
            train=train,
            test=test,
            label=label,
            models=models,
            tested=self.test is not None,
            seed=seed,
            jobs=jobs,
        )
        return {
            name: dataclasses.replace(
                real_trained, name=name, real=self.real, synthetic=rows, real_trained=real_trained
            )
            for name, rows in self.synthetic.items()
        }


def read_all(real: Any, synthetic: Mapping[str, Any], test: Any, schema: Schema) -> Tables:
    """Read every table; each must have rows enough to say anything about it."""
    found = Tables(
        synthetic={
            name: read(table, schema, f"The table '{name}'") for name, table in synthetic.items()
        },
        real=read(real, schema, "The real table"),
        test=None if test is None else read(test, schema, "The test table"),
    )
    named: Sequence[tuple[str, Rows | None]] = [
        *((f"table '{name}'", rows) for name, rows in found.synthetic.items()),
        ("real table", found.real),
        ("test table", found.test),
    ]
    for name, rows in named:
        if rows is not None and len(rows) < FEWEST:
            raise NacreError(
                f"The {name} has {len(rows)} rows that fit the schema. At least {FEWEST} are "
                f"needed to say anything about it."
            )
    return found
