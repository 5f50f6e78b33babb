"""Frames in memory as Arrow tables: pandas, polars, Arrow.

What type a frame gives a column is decided by its rows: one word makes objects of a pandas column,
one gap floats of its integers.  So types are never told to anybody, and however a column is stored,
each of its cells is read in the same way.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nacre.rows.errors import SourceError
from nacre.schema import Schema
from nacre.schema.columns import cells
from nacre.schema.columns.names import BEYOND, cell_names

UNREAD = "<cannot be read>"  # the text of a cell of a type that has none


def frame_to_arrow(data: Any) -> tuple[pa.Table, str]:
    """The table, and which kind of frame it was."""
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
    if frame.implementation.is_pandas():
        return _from_pandas(data), "pandas"
    return frame.to_arrow(), "polars"


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
        told = cell_names if _has_text(kind) else _unread
        texts = pa.chunked_array(map(told, table.column(place).chunks), pa.string())
        table = table.set_column(place, field.name, texts)
    return table


def _unread(array: pa.Array) -> pa.Array:
    """One text for every cell of a type that has none: a column of gaps alone has no type."""
    return pc.if_else(pc.is_valid(array), pa.scalar(UNREAD), pa.scalar(None, pa.string()))


def _has_text(kind: pa.DataType) -> bool:
    return cells.is_text(kind) or cells.is_number(kind) or cells.is_moment(kind)


def _from_pandas(frame: Any) -> pa.Table:
    """Column by column; Python objects become text, each by itself, and so do categories.

    Arrow would infer the type of a column of objects from all of its values, so that one row
    decided how every other is read.
    """
    columns = {str(name): _column(frame.iloc[:, place]) for place, name in enumerate(frame.columns)}
    if len(columns) != len(frame.columns):
        raise SourceError("Two columns of the frame have the same name. Rename one of them.")
    return pa.table(columns)


def _column(series: Any) -> pa.Array:
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        # The categories are those of the rows, and their common type is, too.
        texts = _objects(pd.Series(series.cat.categories.astype(object), dtype=object))
        codes = series.cat.codes.to_numpy().astype(np.int32)
        places = pa.array(codes, pa.int32(), mask=codes < 0)
        return pa.DictionaryArray.from_arrays(places, texts)
    return _objects(series) if series.dtype == object else _typed(series)


def _typed(series: Any) -> pa.Array:
    try:
        found = pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return _objects(series.astype(object))
    if isinstance(found, pa.ChunkedArray):
        if pa.types.is_string(found.type):  # whose parts may be too long for one
            found = found.cast(pa.large_string())
        found = found.combine_chunks()
    known = _has_text(found.type) or pa.types.is_null(found.type)
    known |= pa.types.is_dictionary(found.type) and _has_text(found.type.value_type)
    return found if known else _objects(series.astype(object))


def _objects(series: Any) -> pa.Array:
    try:
        gone = series.isna()
    except Exception:  # a cell that cannot be compared with itself must not stop the others
        gone = series.map(_gone).astype(bool)
    if {str, *map(type, series[~gone])} == {str}:
        with contextlib.suppress(pa.ArrowException, ValueError):  # half a character somewhere
            return pa.array(series, pa.string(), from_pandas=True)  # as `_said` has it, but faster
    said = [None if g else _said(value) for value, g in zip(series, gone, strict=True)]
    places = [place for place, each in enumerate(said) if isinstance(each, float)]
    numbers = cell_names(pa.array([said[place] for place in places], pa.float64()))
    for place, text in zip(places, numbers.to_pylist(), strict=True):
        said[place] = text
    return pa.array(said, pa.string())


def _gone(value: Any) -> bool:
    """Whether one cell is a gap, by the rule of `Series.isna`."""
    import pandas as pd

    try:
        return pd.isna(value) is True
    except Exception:
        return False


def _said(value: Any) -> str | float | None:
    """One Python object as text or as a number, by a fixed rule; None if it is neither.

    It reads as the value itself would in a column that pandas has given its type: one cell of
    another kind makes objects of them all.
    """
    import pandas as pd

    try:
        if isinstance(value, str):
            said = value
        elif isinstance(value, (bytes, bytearray, memoryview)):
            said = bytes(value).decode("utf-8", "replace")
        elif isinstance(value, (bool, np.bool_)):
            said = "true" if value else "false"
        elif isinstance(value, (np.timedelta64, datetime.timedelta)):
            said = str(pd.Timedelta(value))
        elif isinstance(value, (int, float, decimal.Decimal, np.integer, np.floating)):
            return float(value)
        elif isinstance(value, (complex, np.complexfloating)) and value.imag == 0:
            return float(value.real)  # one such cell makes complex numbers of a whole column
        elif isinstance(value, np.datetime64):
            year = int(value.astype("datetime64[Y]").astype(np.int64)) + 1970
            known = 1 <= year <= datetime.MAXYEAR  # beyond, microseconds would wrap around
            said = _moment(value.astype("datetime64[us]").item()) if known else BEYOND
        elif isinstance(value, datetime.datetime):
            said = _moment(value)
        elif isinstance(value, datetime.date):
            said = value.isoformat()
        else:
            said = str(value)
        return str.encode(said, "utf-8", "replace").decode()  # an Enum that is a str has its own
    except Exception:  # a stranger's __str__ may raise anything; the cell then has no text
        return None


def _moment(value: Any) -> str:
    """A point in time to the microsecond, in UTC if it has a zone, as `cell_names` writes it."""
    # NumPy gives a whole number where the year is none that Python knows.
    if not isinstance(value, datetime.datetime) or not 1 <= value.year <= datetime.MAXYEAR:
        return BEYOND
    if value.tzinfo is not None:
        try:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        except OverflowError:
            return BEYOND
    said = value.isoformat(sep=" ")[: len("2000-01-01 00:00:00.000000")]
    return re.sub(r"\.0+$", "", said)
