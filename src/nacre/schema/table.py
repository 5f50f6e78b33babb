"""A table as batches of Arrow columns, and whether a schema's columns are in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import TypeAlias

import pyarrow as pa

from nacre.errors import NacreError
from nacre.schema.columns.column import Column
from nacre.schema.errors import SchemaError

Batches: TypeAlias = pa.Table | pa.RecordBatch | Iterable[pa.RecordBatch | pa.Table]

BLOCK = 65_536
FEW = 16_384  # rows in a chunk; below this, time goes into calls instead of rows


def batches(rows: Batches) -> Iterator[pa.RecordBatch]:
    """The batches of a table, a batch, or anything that yields these."""
    if isinstance(rows, pa.RecordBatch):
        yield rows
    elif isinstance(rows, pa.Table):
        chunks = max((column.num_chunks for column in rows.columns), default=0)
        if rows.num_rows < chunks * FEW:
            rows = rows.combine_chunks()
        yield from rows.to_batches() or [_empty(rows.schema)]
    elif isinstance(rows, str | PathLike) or hasattr(rows, "columns"):
        raise NacreError(
            "Rows are given as Arrow tables here: pa.Table.from_pandas(frame), frame.to_arrow() or "
            "pyarrow.csv.read_csv(path). In a terminal, `nacre schema check` reads files."
        )
    else:
        for part in rows:
            yield from batches(part)


def blocks(rows: pa.Table | pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows in batches whose encoded form stays in the processor's cache."""
    for batch in batches(rows):
        for start in range(0, batch.num_rows, BLOCK):
            yield batch.slice(start, BLOCK)


def _empty(kinds: pa.Schema) -> pa.RecordBatch:
    """No rows, but with names and types: a table without rows can still lack a column."""
    arrays = [pa.array([], kind) for kind in kinds.types]
    return pa.RecordBatch.from_arrays(arrays, schema=kinds)


def require_columns(columns: Mapping[str, Column], kinds: pa.Schema) -> None:
    """Refuse a table that lacks a column, has one twice, or has one of an unreadable type."""
    times = Counter(kinds.names)
    if absent := [name for name in columns if name not in times]:
        raise SchemaError(
            f"The table lacks {len(absent)} column{'' if len(absent) == 1 else 's'} of the "
            f"schema: {listed(absent)}. It has {listed(kinds.names) or 'no columns'}. "
            "Rename or add the columns, or take them out of the schema."
        )
    problems = []
    for name, column in columns.items():
        if times[name] > 1:
            problems.append(f"'{name}': {times[name]} columns have this name. Rename all but one.")
        elif not _readable(column, kinds.field(name).type):
            problems.append(
                f"'{name}': its type {kinds.field(name).type} cannot be read as {column.type}. "
                "Convert the column, or change its type in the schema."
            )
    if problems:
        raise SchemaError(problems, subject="The table")


def _readable(column: Column, kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    return pa.types.is_null(kind) or column.accepts(kind)


def listed(names: Iterable[str], most: int = 20) -> str:
    """Names as a message shows them, the first few if there are many."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(f"'{name}'" for name in names[:most]) + more
