"""Frames in memory as Arrow tables: pandas, polars, Arrow.

What type a frame gives a column is decided by its rows: one word makes objects of a pandas column,
one gap floats of its integers.  So types are never told to anybody, and however a column is stored,
each of its cells is read in the same way.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nacre.errors import a_kind
from nacre.rows.errors import SourceError
from nacre.rows.objects import UNREAD, object_names
from nacre.schema import Schema
from nacre.schema.columns import cells
from nacre.schema.columns.names import cell_names

# Columns of lengths of time have no text in polars, so neither have such objects.
NO_TEXT = (datetime.timedelta, np.timedelta64)


def describe_frame(data: Any) -> tuple[str, list[str]]:
    """Which kind of frame it is, and the names of its columns; refuses what is none."""
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return "arrow", list(data.schema.names)
    import narwhals as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        raise SourceError(
            f"Cannot read rows from {a_kind(data)}. Give a pandas, polars or Arrow "
            "table, or the path of a CSV or Parquet file or of a folder of them."
        ) from None
    if not frame.implementation.is_pandas():
        return "polars", frame.columns
    names = [str(name) for name in data.columns]
    if len(set(names)) != len(names):
        raise SourceError("Two columns of the frame have the same name. Rename one of them.")
    return "pandas", names


def frame_to_arrow(data: Any, names: Sequence[str]) -> pa.Table:
    """Some columns of a frame; the others are not looked at, so that they can stop nothing."""
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        table = data if isinstance(data, pa.Table) else pa.Table.from_batches([data])
        return table.select(list(names))
    kind, found = describe_frame(data)
    if kind == "pandas":
        # Column by column; Arrow would infer the type of a column of objects from all of its
        # values, so that one row decided how every other is read.
        return pa.table({name: _column(data.iloc[:, found.index(name)]) for name in names})
    import narwhals as nw

    frame = nw.from_native(data, eager_only=True)
    return pa.table({name: _from_polars(frame[name]) for name in names})


def readable(table: pa.Table, schema: Schema) -> pa.Table:
    """The table with columns as text where the schema's column cannot read the type that it has.

    A column of times is refused where numbers are expected, and one of texts is not: one word
    among the times would decide whether a fit stops.  So both are read, each cell by itself; a
    cell of a type that nothing can read does not fit, and so stops no fit that goes on without.
    """
    for place, field in enumerate(table.schema):
        kind = field.type
        if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        column = schema.columns.get(field.name)
        if column is None or column.accepts(kind) or pa.types.is_null(kind):
            continue
        told = cell_names if cells.has_text(kind) else _unread
        texts = pa.chunked_array(map(told, table.column(place).chunks), pa.string())
        table = table.set_column(place, field.name, texts)
    return table


def _unread(array: pa.Array) -> pa.Array:
    """One text for every cell of a type that has none: a column of gaps alone has no type."""
    return pc.if_else(pc.is_valid(array), pa.scalar(UNREAD), pa.scalar(None, pa.string()))


def _from_polars(series: Any) -> pa.ChunkedArray | pa.Array:
    """A column; as text, each cell by itself, where a row has made it one that Arrow has not.

    One whole number beyond 64 bits makes 128 of them all, and one set makes objects.
    """
    import narwhals as nw

    if series.dtype != nw.Object:
        with contextlib.suppress(pa.ArrowException):
            return series.to_arrow()
    return object_names(UNREAD if _no_text(cell) else cell for cell in series.to_list())


def _no_text(cell: Any) -> bool:
    try:
        return isinstance(cell, NO_TEXT)
    except Exception:  # of an object that cannot tell what it is, and so has no text either
        return False


def _column(series: Any) -> pa.ChunkedArray | pa.Array:
    """A column of a pandas frame; objects and categories as text, each cell by itself."""
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        # The categories are those of the rows, and their common type is, too.
        texts = _column(pd.Series(series.cat.categories))
        parts = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
        # In one piece, which may be longer than 32-bit offsets can say.
        long = [cell_names(part).cast(pa.large_string()) for part in parts]
        named = pa.chunked_array(long, pa.large_string()).combine_chunks()
        codes = series.cat.codes.to_numpy().astype(np.int32)
        places = pa.array(codes, pa.int32(), mask=codes < 0)
        return pa.DictionaryArray.from_arrays(places, named)
    return _objects(series) if series.dtype == object else _typed(series)


def _typed(series: Any) -> pa.ChunkedArray | pa.Array:
    try:
        found = pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return _objects(_as_objects(series))
    # Parts stay apart: together they may be too long for their offsets, places or run ends.
    known = cells.has_text(found.type) or pa.types.is_null(found.type)
    known |= pa.types.is_dictionary(found.type) and cells.has_text(found.type.value_type)
    return found if known else _objects(_as_objects(series))


def _as_objects(series: Any) -> Any:
    """The cells as Python objects; one that pandas cannot make an object of is a gap."""
    import pandas as pd

    try:
        return series.astype(object)
    except Exception:
        return pd.Series(list(_one_by_one(series)), dtype=object)


def _one_by_one(series: Any) -> Iterator[Any]:
    for place in range(len(series)):
        try:
            yield series.iloc[place]
        except Exception:
            yield None


def _objects(series: Any) -> pa.ChunkedArray | pa.Array:
    try:
        gone = series.isna()
    except Exception:  # a cell that cannot be compared with itself must not stop the others
        gone = series.map(_gone).astype(bool)
    kinds = set(map(type, series[~gone]))
    if kinds <= {str}:
        with contextlib.suppress(pa.ArrowException, ValueError):  # half a character somewhere
            return pa.array(series, pa.string(), from_pandas=True)  # as below, but faster
    # The only form that pandas has for times of day; their text below reads the same.
    known = (None if g else value for value, g in zip(series, gone, strict=True))
    if kinds == {datetime.time} and all(time.tzinfo is None for time in series[~gone]):
        return pa.array(known, pa.time64("us"))  # Arrow knows fewer kinds of gaps than pandas
    return object_names(known)


def _gone(value: Any) -> bool:
    """Whether one cell is a gap, by the rule of `Series.isna`."""
    import pandas as pd

    try:
        return pd.isna(value) is True
    except Exception:
        return False
