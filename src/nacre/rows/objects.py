"""Python objects as text, each by itself, as the same value reads in a column of its own type."""

from __future__ import annotations

import datetime
import decimal
import re
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from nacre.schema.columns.names import BEYOND, EXACT, cell_names

UNREAD = "<cannot be read>"  # the text of a cell of a type that has none
# What Arrow would give one type to for all rows: the text of [1] would change beside [1.5].
NESTED = (list, tuple, dict, set, frozenset, np.ndarray)


def object_names(values: Iterable[Any]) -> pa.Array:
    """Objects as text (Arrow's `string`), null for None and for what has no text.

    Examples:
        >>> object_names([1, 1.0, "F", None, [1]]).to_pylist()
        ['1', '1', 'F', None, '<cannot be read>']
    """
    said = [None if value is None else object_name(value) for value in values]
    places = [place for place, each in enumerate(said) if isinstance(each, float)]
    numbers = cell_names(pa.array([said[place] for place in places], pa.float64()))
    for place, text in zip(places, numbers.to_pylist(), strict=True):
        said[place] = text
    return pa.array(said, pa.string())


def object_name(value: Any) -> str | float | None:
    """One object as text or as a number, by a fixed rule; None if it is neither.

    It reads as the value itself would in a column that a frame has given its type: one cell of
    another kind makes objects of them all.
    """
    try:
        said = _said(value)
        if isinstance(said, float):
            return said
        return str.encode(said, "utf-8", "replace").decode()  # an Enum that is a str has its own
    except Exception:  # a stranger's __str__ may raise anything; no gap, but not to be read either
        return UNREAD


def _said(value: Any) -> str | float:
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (np.timedelta64, datetime.timedelta)):
        import pandas as pd

        return str(pd.Timedelta(value))
    if isinstance(value, (int, float, decimal.Decimal, np.integer, np.floating)):
        return float(value)
    if isinstance(value, (complex, np.complexfloating)):
        # One such cell makes complex numbers of a whole column, and one wide one wide ones.
        return float(value.real) if value.imag == 0 else str(complex(value))
    if isinstance(value, (np.datetime64, datetime.date)):
        return _time(value)
    if isinstance(value, NESTED):
        return UNREAD
    return _interval(value) if _is_interval(value) else str(value)


def _is_interval(value: Any) -> bool:
    pandas = sys.modules.get("pandas")  # which need not be installed, and then there is none
    return pandas is not None and isinstance(value, pandas.Interval)


def _interval(value: Any) -> str:
    """A pandas interval; its ends as numbers are, of which one gap makes floats in all rows."""
    first = "[" if value.closed in ("left", "both") else "("
    last = "]" if value.closed in ("right", "both") else ")"
    return f"{first}{_end(value.left)}, {_end(value.right)}{last}"


def _end(value: Any) -> str:
    said = _said(value)
    if isinstance(said, str):
        return said
    return str(int(said)) if said.is_integer() and abs(said) < EXACT else repr(said)


def _time(value: Any) -> str:
    if isinstance(value, np.datetime64):
        year = int(value.astype("datetime64[Y]").astype(np.int64)) + 1970
        known = 1 <= year <= datetime.MAXYEAR  # beyond, microseconds would wrap around
        return _moment(value.astype("datetime64[us]").item()) if known else BEYOND
    return _moment(value) if isinstance(value, datetime.datetime) else value.isoformat()


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
