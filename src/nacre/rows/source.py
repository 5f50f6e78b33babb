"""Rows as a stream of Arrow batches: from frames, CSV and Parquet files, and folders of them.

Files are never loaded whole.  How a cell is read is a function of that cell alone; nothing (no
type, no null marker) is inferred from values.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, final

import pyarrow as pa

from nacre.rows import csv
from nacre.rows.csv import Faults
from nacre.rows.errors import SourceError
from nacre.rows.frames import describe_frame, frame_to_arrow, readable
from nacre.rows.parts import APART, AbstractParts, AbstractWork, Task, reduce_parts
from nacre.rows.pieces import Passing, Piece
from nacre.schema import Check, Schema, SchemaError
from nacre.schema.table import require_columns

BATCH = 1 << 16
IN_ONE_GO = 1 << 18  # rows of Parquet, about
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
        parts: where its rows are, if they are in parts on other machines.
    """

    name: str
    kind: str
    columns: tuple[str, ...]
    types: pa.Schema | None
    _open: Callable[[Faults], Iterator[pa.RecordBatch]]
    parts: AbstractParts | None = None
    _wanted: tuple[Any, tuple[str, ...]] = (None, ())

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

        `watch` sees the batches on their way, unless they are in parts on other machines.
        """
        if self.parts is not None:
            return self.reduce(Checking(schema))
        found = schema.check(watch(self.batches(faults := Faults())))
        return dataclasses.replace(found, lines=faults.records, utf8=not faults.bytes)

    def reduce(self, work: AbstractWork) -> Any:
        """What `work` finds in all rows, wherever they are.  NOT private."""
        if self.parts is None:
            return work.finish(work(self))
        return reduce_parts(self.parts, Task(work, *self._wanted))


@final
@dataclasses.dataclass(frozen=True)
class Checking(AbstractWork):
    """The holder's own check of a part."""

    schema: Schema

    def __call__(self, source: Source) -> Check:
        """See `AbstractWork`."""
        return source.check(self.schema)

    def add(self, one: Check, other: Check) -> Check:
        """See `AbstractWork`."""
        return one + other


def open_source(
    data: Any, names: Sequence[str] | Schema | None = None, *, also: Sequence[str] = ()
) -> Source:
    """A stream over `data`: a frame, a file, a folder, a pattern of files, or parts of these.

    `names` (or a schema) says which columns are needed, `also` those that are beside a schema's;
    the rest is not read.
    """
    if isinstance(data, Source):
        return data
    schema = names if isinstance(names, Schema) else None
    wanted = (*names.names, *also) if isinstance(names, Schema) else names
    if isinstance(data, AbstractParts):
        return _of_parts(data, names, wanted, tuple(also))
    if isinstance(data, Passing):
        return _passing(data, schema, wanted)
    if isinstance(data, (str, Path, Piece)):
        found = _from_path(data, wanted)
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


def _of_parts(
    parts: AbstractParts, names: Any, wanted: Sequence[str] | None, also: tuple[str, ...]
) -> Source:
    """A table on an engine: its rows are reached by `reduce` alone."""
    columns = parts.columns if wanted is None else tuple(wanted)
    _require(columns, parts.columns, f"The table on {parts.name}")
    types = parts.types
    if types is not None:
        types = pa.schema([(name, types.field(name).type) for name in columns])
        if isinstance(names, Schema):
            require_columns(names.columns, types)

    def refuse(_: Faults) -> Iterator[pa.RecordBatch]:
        raise SourceError(APART.format(name=parts.name))

    opening = (list(columns) if names is None else names, also)
    return Source(parts.name, parts.kind, columns, types, refuse, parts, opening)


def _passing(data: Passing, schema: Schema | None, wanted: Sequence[str] | None) -> Source:
    """Batches that pass once, read as those of a frame are."""
    columns = data.columns if wanted is None else tuple(wanted)
    _require(columns, data.columns, "A part of the table")

    def read(_: Faults) -> Iterator[pa.RecordBatch]:
        for batch in data.batches:
            table = pa.Table.from_batches([batch]).select(list(columns))
            if schema is not None:
                table = readable(table, schema)
                require_columns(schema.columns, table.schema)
            yield from table.to_batches(BATCH)

    return Source("a part of the table", "arrow", columns, None, read)


def files_of(path: Path) -> list[Path]:
    """The files that a path means: itself, those of a folder, or those that fit a pattern."""
    if path.is_dir():
        files = sorted(f for f in path.iterdir() if f.name.lower().endswith(SUFFIXES))
        if not files:
            raise SourceError(f"The folder {path} holds no {', '.join(SUFFIXES)} file.")
        return files
    if path.exists():
        return [path]
    if any(sign in str(path) for sign in "*?["):
        root = Path(path.anchor)
        files = sorted(root.glob(str(path.relative_to(root))))
        if not files:
            raise SourceError(f"No file fits {path}.")
        return files
    raise SourceError(f"There is no file or folder {path}.")


def _from_path(data: str | Path | Piece, names: Sequence[str] | None) -> Source:
    path = data.path if isinstance(data, Piece) else Path(data)
    groups = data.groups if isinstance(data, Piece) else None
    files = files_of(path)
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
        times = collections.Counter(found)
        if any(times[name] > 1 for name in columns):
            raise SourceError(f"{file} has two columns of the same name. Rename one of them.")
    types = heads[0][1]
    if types is not None:
        types = pa.schema([(name, types.field(name).type) for name in columns])

    def read(faults: Faults) -> Iterator[pa.RecordBatch]:
        for file in files:
            yield from _read_file(file, columns, faults, groups)

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
    except (pa.ArrowException, OSError, UnicodeDecodeError):  # the last: of a column's name
        raise SourceError(f"{file} is not a readable Parquet file.") from None
    return schema.names, schema


def _is_csv(file: Path) -> bool:
    return file.name.lower().endswith((".csv", ".csv.gz"))


def _read_file(
    file: Path, names: Sequence[str], faults: Faults, groups: Sequence[int] | None = None
) -> Iterator[pa.RecordBatch]:
    try:
        if _is_csv(file):
            yield from csv.records(file, names, faults)
            return
        import pyarrow.parquet as pq

        with pq.ParquetFile(file) as parquet:
            every = range(parquet.num_row_groups) if groups is None else groups
            for some in _together(every, parquet.metadata):
                yield from parquet.iter_batches(BATCH, row_groups=some, columns=list(names))
    except (pa.ArrowException, OSError):
        # In words of our own: Arrow's messages quote the offending row.
        raise SourceError(_unreadable(file)) from None


def _together(groups: Sequence[int], about: Any) -> Iterator[list[int]]:
    """Row groups that are read in one go: Arrow holds all bytes of those until it is through."""
    some: list[int] = []
    rows = 0
    for group in groups:
        some.append(group)
        rows += about.row_group(group).num_rows
        if rows >= IN_ONE_GO:
            yield some
            some, rows = [], 0
    if some:
        yield some


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
