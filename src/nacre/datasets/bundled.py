"""The Adult table (Becker and Kohavi, 1996), which comes with the package; see ATTRIBUTION.md."""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nacre.schema import Schema

FOLDER = resources.files("nacre.datasets")


class Split(NamedTuple):
    """The rows to fit and the rows to score with."""

    train: pa.Table
    test: pa.Table


def adult() -> Split:
    """Adult in its official split: 32,561 rows to fit and 16,281 to score with.

    Examples:
        >>> train, test = adult()
        >>> train.num_rows, test.num_rows, train.num_columns
        (32561, 16281, 15)
    """
    table = adult_table()
    rows = table.drop_columns("split")
    return Split(*(rows.filter(pc.equal(table["split"], part)) for part in Split._fields))


def adult_table() -> pa.Table:
    """All 48,842 rows of Adult; the column `split` says which part a row belongs to."""
    with resources.as_file(FOLDER / "adult.parquet") as path:
        return pq.read_table(path)


def adult_schema() -> Schema:
    """What is public about Adult: its 14 features and the label `income`."""
    return read_schema("adult")


def read_schema(name: str) -> Schema:
    """The schema of a benchmark, from its YAML file in this package."""
    return Schema.parse((FOLDER / "schemas" / f"{name}.yaml").read_text(encoding="utf-8"))
