"""A table written batch by batch to CSV or Parquet, so that memory stays flat."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from nacre.errors import NacreError

SUFFIXES = (".csv", ".csv.gz", ".parquet", ".pq")


def check_name(path: Path) -> None:
    """Refuse a name from which the form of the file cannot be told."""
    if not path.name.lower().endswith(SUFFIXES):
        raise NacreError(f"{path}: the name must end in one of {', '.join(SUFFIXES)}.")


class Writer:
    """Writes Arrow tables of one schema to `path`, in the form that the name of `like` says."""

    def __init__(self, path: Path, *, like: Path):
        name = like.name.lower()
        self.rows = 0
        self._parquet: pa.parquet.ParquetWriter | None = None
        self._is_parquet = name.endswith((".parquet", ".pq"))
        self._started = False
        opener: Any = gzip.open if name.endswith(".gz") else open
        self._file = opener(path, "wb")

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._parquet is not None:
            self._parquet.close()
        self._file.close()

    def write(self, table: pa.Table) -> None:
        """Add rows; the first call also writes the header."""
        if self._is_parquet:
            if self._parquet is None:
                self._parquet = pa.parquet.ParquetWriter(self._file, table.schema)
            self._parquet.write_table(table)
        else:
            self._file.write(_csv(table, header=not self._started))
        self._started = True
        self.rows += table.num_rows


def _csv(table: pa.Table, *, header: bool) -> bytes:
    """CSV with quotes only where some value needs them: Arrow would quote every text."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = pc.cast(table.column(place), field.type.value_type)
            table = table.set_column(place, field.name, plain)
    head = io.StringIO()
    if header:
        csv.writer(head, lineterminator="\n").writerow(table.column_names)
    for style in ("none", "needed"):
        sink = pa.BufferOutputStream()
        options = pa.csv.WriteOptions(include_header=False, quoting_style=style)
        try:
            pa.csv.write_csv(table, sink, options)
            break
        except pa.ArrowInvalid:
            # Some value holds a comma, a quote or a line break.
            continue
    return head.getvalue().encode() + sink.getvalue().to_pybytes()
