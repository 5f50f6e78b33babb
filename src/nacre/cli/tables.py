"""A table written batch by batch to CSV or Parquet, so that memory stays flat."""

from __future__ import annotations

import gzip
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

SUFFIXES = (".csv", ".csv.gz", ".parquet", ".pq")


def check_name(path: Path) -> None:
    """Refuse a name from which the form of the file cannot be told."""
    if not path.name.lower().endswith(SUFFIXES):
        raise ValueError(f"{path}: the name must end in one of {', '.join(SUFFIXES)}.")


class Writer:
    """Writes Arrow tables of one schema to `path`, in the form that the name of `like` says."""

    def __init__(self, path: Path, *, like: Path):
        name = like.name.lower()
        self.rows = 0
        self._parquet: pa.parquet.ParquetWriter | None = None
        self._is_parquet = name.endswith((".parquet", ".pq"))
        self._started = False
        self._file: IO[bytes] | Any = (
            gzip.open(path, "wb") if name.endswith(".gz") else path.open("wb")
        )

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


def _csv(table: pa.Table, *, header: bool) -> pa.Buffer:
    """CSV with quotes only where some value needs them: Arrow would quote every text."""
    names = [f.name for f in table.schema if pa.types.is_dictionary(f.type)]
    for name in names:
        place = table.schema.get_field_index(name)
        column = table.column(place)
        table = table.set_column(place, name, pc.cast(column, column.type.value_type))
    for style in ("none", "needed"):
        sink = pa.BufferOutputStream()
        options = pa.csv.WriteOptions(include_header=header, quoting_style=style)
        try:
            pa.csv.write_csv(table, sink, options)
            break
        except pa.ArrowInvalid:
            # Some value holds a comma, a quote or a line break.
            continue
    return sink.getvalue()
