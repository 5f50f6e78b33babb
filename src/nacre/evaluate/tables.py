"""Any table that a person has (frame, file, folder) read into rows, batch by batch."""

from typing import Any

from nacre.evaluate.rows import Rows
from nacre.schema import Schema


def read(table: Any, schema: Schema, name: str) -> Rows:
    """Read `table` as the schema says; rows that do not fit it are left out and counted.

    Args:
        table: a pandas, polars or Arrow frame; a CSV or Parquet file; a folder of them.
        schema: what the columns are.
        name: how messages call this table, e.g. "The synthetic table".
    """
    # Here, so that the processes in which models are trained do not load the vault.
    from nacre.vault.source import open_source

    try:
        source = open_source(table, schema)
        parts = [Rows.narrow(schema, schema.encode(batch)) for batch in source.batches()]
    except ValueError as error:
        raise type(error)(f"{name}: {error}") from error
    if not sum(len(part) for part in parts):
        raise ValueError(
            f"{name} has no rows to evaluate: {sum(part.left_out for part in parts)} were read and "
            f"none fits the schema.\nRun `nacre schema check` to see which columns do not fit."
        )
    return Rows.collect(schema, parts)
