"""What codes and ticks of a column are called, for people."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from nacre.schema.columns.clock import Time
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.timed import UNITS
from nacre.schema.schema import Schema

MISSING = "missing"
MINUTE, SECOND = len("2024-12-31 18:30"), len("2024-12-31 18:30:00")


def value_names(schema: Schema, name: str) -> list[str]:
    """The name of each code of a category column; 'missing' for the code of nulls."""
    column = schema.columns[name]
    size = column.size or 0
    written = column.write(np.arange(size), None).to_pylist()
    return [MISSING if value is None else str(value) for value in written]


def decimals(schema: Schema) -> dict[str, int]:
    """How many digits after the point CSV files write, where a schema says so.

    Not where a code such as -9 stands for a missing value, which is written as it is.
    """
    return {
        name: column.decimals
        for name, column in schema.columns.items()
        if isinstance(column, Real) and column.decimals is not None and not column.missing
    }


def clocks(schema: Schema) -> dict[str, int]:
    """How many letters of 2024-12-31 18:30:00, or of 18:30:00, CSV files write, by the step.

    Those of whole days are dates, and those finer than a second are written in full.
    """
    found = {}
    for name, column in schema.columns.items():
        if isinstance(column, Time) and column.letters is not None:
            found[name] = column.letters
        if not isinstance(column, Datetime) or column.format is not None or column.whole_days:
            continue
        if column.whole(UNITS["s"]):
            found[name] = MINUTE if column.whole(UNITS["min"]) else SECOND
    return found


def holds_years(column: Column) -> bool:
    """Whether whole numbers may be years, which nobody writes as 1,998.

    Examples:
        >>> from nacre.schema import Integer
        >>> holds_years(Integer(low=1921, high=2020)), holds_years(Integer(low=0, high=2020))
        (True, False)
    """
    return isinstance(column, Integer) and column.low >= 1000 and column.high < 3000


def value_at(column: Column, unit: float) -> str:
    """The number, date or time of day at a place between 0 (its low) and 1 (its high)."""
    ticks = column.ticks or 0
    written = column.write(np.array([round(unit * ticks)], np.int64), np.array([False]))
    value = written[0].as_py()
    if isinstance(column, Time):
        return str(value)[: column.told]
    if pa.types.is_temporal(written.type):
        return str(value)
    if abs(value) < 1e9 and value == round(value, 4):
        return str(value) if holds_years(column) else f"{value:,}"
    return f"{value:.3g}"
