"""Rows as a stream of Arrow batches: from frames, CSV and Parquet files, and folders of them.

Files are never loaded whole.  CSV is read as text and parsed by the schema, so nothing (no type,
no null marker) is inferred from values.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nacre.errors import NacreError
from nacre.schema import Schema, SchemaError

BATCH = 1 << 16
SUFFIXES = (".csv", ".csv.gz", ".parquet", ".pq")


class SourceError(NacreError):
    """A table that cannot be read; the message never contains a value from it."""


@dataclasses.dataclass(frozen=True)
class Source:
    """A table that can be streamed as often as needed.

    kind   'pandas', 'polars', 'arrow' or 'file': what `Model.sample` gives back
    types  the columns' Arrow types where the table declares them (they count as public), or None;
           names and types only, as metadata may hold anything
    loose  the columns whose type pandas does not declare but makes up from the rows: one gap
           turns int64 into float64, bool into object; units of time and the types of categories,
           made up likewise, are not among `types`
    """

    name: str
    kind: str
    types: pa.Schema | None
    _open: Callable[[], Iterator[pa.RecordBatch]]
    loose: frozenset[str] = frozenset()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Start a new pass over the rows."""
        return self._open()


def open_source(data: Any, names: Sequence[str] | Schema | None = None) -> Source:
    """A stream over `data`: a pandas, polars or Arrow table, a file, or a folder of files.

    `names` (or a schema) says which columns are needed; the rest is not read.
    """
    if isinstance(data, Source):
        return data
    if isinstance(names, Schema):
        names = tuple(names.columns)
    if isinstance(data, (str, Path)):
        return _from_path(Path(data), names)
    table, kind = _to_arrow(data)
    if names is not None:
        _require(names, table.column_names, f"The {kind} table")
        table = table.select(list(names))
    loose = _loose(data) if kind == "pandas" else frozenset()
    types = _declared(table.schema) if kind == "pandas" else _bare(table.schema)
    return Source(f"{kind} table", kind, types, lambda: iter(table.to_batches(BATCH)), loose)


def _bare(schema: pa.Schema) -> pa.Schema:
    return pa.schema([(field.name, field.type) for field in schema])


def _declared(schema: pa.Schema) -> pa.Schema:
    """The types of a frame, without what pandas finds in the rows: units of time, kinds of text."""
    fields = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        if pa.types.is_timestamp(kind):
            kind = pa.timestamp("us", kind.tz)
        elif pa.types.is_large_string(kind):
            kind = pa.string()
        fields.append((name, kind))
    return pa.schema(fields)


def _loose(frame: Any) -> frozenset[str]:
    """Columns of plain NumPy types; extension types and NumPy's dates have room for gaps."""
    return frozenset(
        str(name)
        for name, kind in frame.dtypes.items()
        if isinstance(kind, np.dtype) and kind.kind in "iufbO"
    )


def _to_arrow(data: Any) -> tuple[pa.Table, str]:
    if isinstance(data, pa.Table):
        return data, "arrow"
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data]), "arrow"
    import narwhals as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        raise SourceError(
            f"Cannot read rows from a {type(data).__name__}. Give a pandas, polars or Arrow "
            "table, or the path of a CSV or Parquet file or of a folder of them."
        ) from None
    kind = "pandas" if frame.implementation.is_pandas() else "polars"
    if kind == "polars":
        return frame.to_arrow(), kind
    return _from_pandas(data), kind


def _from_pandas(frame: Any) -> pa.Table:
    """Column by column; Python objects become text, each by itself, and so do categories.

    Arrow would infer the type of a column of objects from all of its values, so that one row
    decided how every other is read.
    """
    columns = {str(name): _column(frame.iloc[:, place]) for place, name in enumerate(frame.columns)}
    if len(columns) != len(frame.columns):
        raise SourceError("Two columns of the frame have the same name. Rename one of them.")
    chunked = {n: c.combine_chunks() if hasattr(c, "chunks") else c for n, c in columns.items()}
    return pa.table(chunked)


def _column(series: Any) -> Any:
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        # The categories are those of the rows, and their common type is, too.
        texts = _objects(pd.Series(series.cat.categories.astype(object), dtype=object))
        codes = series.cat.codes.to_numpy().astype(np.int32)
        places = pa.array(codes, pa.int32(), mask=codes < 0)
        return pa.DictionaryArray.from_arrays(places, texts, ordered=series.cat.ordered)
    return _objects(series) if series.dtype == object else _typed(series)


def _typed(series: Any) -> Any:
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return _objects(series.astype(object))


def _objects(series: Any) -> pa.Array:
    gone = series.isna()
    if {str, *map(type, series[~gone])} == {str}:
        with contextlib.suppress(pa.ArrowException, ValueError):  # half a character somewhere
            return pa.array(series, pa.string(), from_pandas=True)  # as `_text` has it, but faster
    cells = [None if g else _text(value) for value, g in zip(series, gone, strict=True)]
    return pa.array(cells, pa.string())


def _text(value: Any) -> str | None:
    """One Python object as text, by a fixed rule; None if it has none.

    The text reads as the value itself would in a column that pandas has given its type: one cell
    of another kind makes objects of them all.
    """
    try:
        if isinstance(value, str):
            said = value
        elif isinstance(value, (bytes, bytearray, memoryview)):
            said = bytes(value).decode("utf-8", "replace")
        elif isinstance(value, (bool, np.bool_)):
            said = "true" if value else "false"
        elif isinstance(value, (int, np.integer)):
            said = int.__repr__(value if isinstance(value, int) else int(value))
        elif isinstance(value, (float, np.floating)):
            said = _number(float(value))
        elif isinstance(value, datetime.datetime):
            said = _moment(value)
        elif isinstance(value, datetime.date):
            said = value.isoformat()
        else:
            said = str(value)
        return str.encode(said, "utf-8", "replace").decode()  # an Enum that is a str has its own
    except Exception:  # a stranger's __str__ may raise anything; the cell then has no text
        return None


def _number(value: float) -> str:
    """As Arrow writes it, and a whole number without its point."""
    if value.is_integer() and abs(value) < 1 << 53:
        return str(int(value))
    return str(pa.scalar(value, pa.float64()).cast(pa.string()))


def _moment(value: datetime.datetime) -> str:
    """A point in time to the microsecond, in UTC if it has a zone."""
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    said = value.isoformat(sep=" ")
    return said[: len("2000-01-01 00:00:00.000000")]


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
    types = None
    for file in files:
        columns, found = _head(file)
        if names is not None:
            _require(names, columns, str(file))
        types = types or found

    def read() -> Iterator[pa.RecordBatch]:
        for file in files:
            yield from _read_file(file, names)

    if types is not None:
        types = _bare(types)
        types = types if names is None else pa.schema([types.field(name) for name in names])
    return Source(str(path), "file", types, read)


def _head(file: Path) -> tuple[list[str], pa.Schema | None]:
    """The columns of a file and, for Parquet, their types; reads the header only."""
    if not _is_csv(file):
        import pyarrow.parquet as pq

        try:
            schema = pq.read_schema(file)
        except (pa.ArrowException, OSError):
            raise SourceError(f"{file} is not a readable Parquet file.") from None
        return schema.names, schema
    reader = _open_csv(file, None)
    return reader.schema.names, None


def _is_csv(file: Path) -> bool:
    return file.name.lower().endswith((".csv", ".csv.gz"))


def _read_file(file: Path, names: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    columns = None if names is None else list(names)
    try:
        if _is_csv(file):
            yield from _open_csv(file, columns)
            return
        import pyarrow.parquet as pq

        with pq.ParquetFile(file) as parquet:
            yield from parquet.iter_batches(batch_size=BATCH, columns=columns)
    except pa.ArrowException as error:
        raise SourceError(_without_values(file, error)) from None


def _open_csv(file: Path, names: Sequence[str] | None) -> Any:
    from pyarrow import csv

    try:
        if names is None:
            with csv.open_csv(file) as probe:  # its types are thrown away, only names are kept
                names = probe.schema.names
        if len(set(names)) != len(names):
            raise SourceError(f"{file} has two columns of the same name. Rename one of them.")
        convert = csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            include_columns=list(names),
            null_values=[""],
            strings_can_be_null=True,
        )
        return csv.open_csv(
            file, convert_options=convert, read_options=csv.ReadOptions(block_size=1 << 22)
        )
    except pa.ArrowException as error:
        raise SourceError(_without_values(file, error)) from None


def _without_values(file: Path, error: Exception) -> str:
    """What went wrong in words of our own: Arrow's messages quote the offending row."""
    text = str(error).lower()
    if "utf8" in text or "utf-8" in text:
        return (
            f"{file} is not UTF-8 text. Convert it first, for example with "
            f"`iconv -f LATIN1 -t UTF-8 {file.name} > utf8.csv`."
        )
    if "columns" in text and "expected" in text:
        return f"{file}: a line has more or fewer fields than the header. Check quotes and commas."
    if "empty" in text:
        return f"{file} is empty."
    return f"{file} cannot be read ({type(error).__name__}). Is it complete and of the named kind?"


def _require(names: Sequence[str], found: Sequence[str], where: str) -> None:
    missing = [name for name in names if name not in found]
    if missing:
        raise SchemaError(
            f"{where} lacks {len(missing)} column{'' if len(missing) == 1 else 's'} of the schema: "
            f"{', '.join(missing)}. "
            f"It has: {', '.join(found)}. Correct the names, or take the columns out of the schema."
        )
