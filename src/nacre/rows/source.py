"""Rows as a stream of Arrow batches: from frames, CSV and Parquet files, and folders of them.

Files are never loaded whole.  How a cell is read is a function of that cell alone; nothing (no
type, no null marker) is inferred from values.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nacre.rows import csv
from nacre.rows.csv import Faults
from nacre.rows.errors import SourceError
from nacre.rows.frames import describe_frame, frame_to_arrow, readable
from nacre.schema import Check, Schema, SchemaError
from nacre.schema.table import require_columns

BATCH = 1 << 16
Watch = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
SUFFIXES = (".csv", ".csv.gz", ".parquet", ".pq")


@dataclasses.dataclass(frozen=True)
class Source:
    """A table that can be streamed as often as needed.

    Attributes:
        name: how messages call it.
        kind: 'pandas', 'polars', 'arrow' or 'file': what `Model.sample` gives back.
        columns: the names of its columns.
        types: the Arrow types that a Parquet file declares, names and types only, as metadata may
            hold anything; None for everything else, since types of frames come from their rows.
    """

    name: str
    kind: str
    columns: tuple[str, ...]
    types: pa.Schema | None
    _open: Callable[[Faults], Iterator[pa.RecordBatch]]

    def batches(self, faults: Faults | None = None) -> Iterator[pa.RecordBatch]:
        """Start a new pass over the rows; `faults` is told what in a CSV file was no row."""
        return self._open(Faults() if faults is None else faults)

    def whole(self) -> Iterator[pa.RecordBatch]:
        """A pass for the holder's own eyes, which stops where a CSV file is damaged."""
        yield from self.batches(faults := Faults())
        if faults.bytes:
            raise SourceError(csv.not_utf8(self.name))
        if faults.records:
            one = faults.records == 1
            raise SourceError(
                f"{self.name}: {faults.records:,} {'line has' if one else 'lines have'} more or "
                "fewer fields than the header. Check quotes and commas."
            )

    def check(self, schema: Schema, watch: Watch = iter) -> Check:
        """How many values and lines do not fit.  The holder's own view: not private.

        `watch` sees the batches on their way.
        """
        found = schema.check(watch(self.batches(faults := Faults())))
        return dataclasses.replace(found, lines=faults.records, utf8=not faults.bytes)


def open_source(
    data: Any, names: Sequence[str] | Schema | None = None, *, also: Sequence[str] = ()
) -> Source:
    """A stream over `data`: a pandas, polars or Arrow table, a file, or a folder of files.

    `names` (or a schema) says which columns are needed, `also` those that are beside a schema's;
    the rest is not read.
    """
    if isinstance(data, Source):
        return data
    schema = names if isinstance(names, Schema) else None
    wanted = (*names.names, *also) if isinstance(names, Schema) else names
    if isinstance(data, (str, Path)):
        found = _from_path(Path(data), wanted)
        if schema is not None and found.types is not None:
            require_columns(schema.columns, found.types)
        return found
    kind, found_names = describe_frame(data)
    if wanted is not None:
        _require(wanted, found_names, f"The {kind} table")
    table = frame_to_arrow(data, found_names if wanted is None else list(wanted))
    if schema is not None:
        table = readable(table, schema)
        require_columns(schema.columns, table.schema)  # here, where no row decides whether it is
    columns = tuple(table.column_names)
    return Source(f"{kind} table", kind, columns, None, lambda _: iter(table.to_batches(BATCH)))


def _from_path(path: Path, names: Sequence[str] | None) -> Source:
    if not path.exists():
        raise SourceError(f"There is no file or folder {path}.")
    files = [path]
    if path.is_dir():
        files = sorted(f for f in path.iterdir() if f.name.lower().endswith(SUFFIXES))
        if not files:
            raise SourceError(f"The folder {path} holds no {', '.join(SUFFIXES)} file.")
    for file in files:
        if not file.name.lower().endswith(SUFFIXES):
            raise SourceError(f"{file}: the name must end in one of {', '.join(SUFFIXES)}.")
        if file.stat().st_size == 0:
            raise SourceError(f"{file} is empty.")
    heads = [_head(file) for file in files]
    columns = tuple(heads[0][0] if names is None else names)
    for file, (found, _) in zip(files, heads, strict=True):
        # A column may be called so; then the schema names it.
        named = names is not None and found == list(names)
        if _is_csv(file) and not named and (said := csv.other_separator(file, found)):
            raise SourceError(said)
        _require(columns, found, str(file))
        if any(found.count(name) > 1 for name in columns):
            raise SourceError(f"{file} has two columns of the same name. Rename one of them.")
    types = heads[0][1]
    if types is not None:
        types = pa.schema([(name, types.field(name).type) for name in columns])

    def read(faults: Faults) -> Iterator[pa.RecordBatch]:
        for file in files:
            yield from _read_file(file, columns, faults)

    return Source(str(path), "file", columns, types, read)


def _head(file: Path) -> tuple[list[str], pa.Schema | None]:
    """The columns of a file and, for Parquet, their types; reads the header only."""
    if _is_csv(file):
        try:
            return csv.header(file), None
        except (pa.ArrowException, OSError):
            raise SourceError(_unreadable(file)) from None
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(file)
    except (pa.ArrowException, OSError):
        raise SourceError(f"{file} is not a readable Parquet file.") from None
    return schema.names, schema


def _is_csv(file: Path) -> bool:
    return file.name.lower().endswith((".csv", ".csv.gz"))


def _read_file(file: Path, names: Sequence[str], faults: Faults) -> Iterator[pa.RecordBatch]:
    try:
        if _is_csv(file):
            yield from csv.records(file, names, faults)
            return
        import pyarrow.parquet as pq

        with pq.ParquetFile(file) as parquet:
            yield from parquet.iter_batches(batch_size=BATCH, columns=list(names))
    except (pa.ArrowException, OSError):
        # In words of our own: Arrow's messages quote the offending row.
        raise SourceError(_unreadable(file)) from None


def _unreadable(file: Path) -> str:
    return f"{file} cannot be read. Is it complete and of the named kind?"


def _require(names: Sequence[str], found: Sequence[str], where: str) -> None:
    missing = [name for name in names if name not in found]
    if missing:
        raise SchemaError(
            f"{where} lacks {len(missing)} column{'' if len(missing) == 1 else 's'} of the schema: "
            f"{', '.join(missing)}. "
            f"It has: {', '.join(found)}. Correct the names in the schema (`columns`, or `unit`)."
        )
