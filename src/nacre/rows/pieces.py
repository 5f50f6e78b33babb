"""Parts of a table as workers get them: some row groups of a file, or batches that pass once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import final

import pyarrow as pa

ROWS = 1 << 20  # of a Parquet file in one piece, as far as its row groups allow


@final
@dataclasses.dataclass(frozen=True)
class Piece:
    """A part of a file that a worker reads by itself; the worker must see the file.

    Attributes:
        path: of the file, absolute.
        groups: which row groups of a Parquet file; None for a whole file.
    """

    path: Path
    groups: tuple[int, ...] | None = None


@final
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Passing:
    """Batches that a worker is handed one after the other, and that pass only once.

    Attributes:
        columns: their names.
        batches: Arrow batches of these columns.
    """

    columns: tuple[str, ...]
    batches: Iterator[pa.RecordBatch]


def pieces_of(files: Sequence[Path]) -> list[Piece]:
    """Files in pieces: Parquet by row groups, some `ROWS` rows each; others as they are."""
    import pyarrow.parquet as pq

    found: list[Piece] = []
    for file in (each.absolute() for each in files):
        if not file.name.lower().endswith((".parquet", ".pq")):
            found.append(Piece(file))
            continue
        metadata = pq.read_metadata(file)
        groups: list[int] = []
        rows = 0
        for group in range(metadata.num_row_groups):
            groups.append(group)
            rows += metadata.row_group(group).num_rows
            if rows >= ROWS:
                found.append(Piece(file, tuple(groups)))
                groups, rows = [], 0
        if groups or not metadata.num_row_groups:
            found.append(Piece(file, tuple(groups)))
    return found
