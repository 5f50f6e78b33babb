"""What codes and scaled numbers are called on axes."""

import numpy as np
import pyarrow as pa

from nacre.evaluate.tables.rows import Rows
from nacre.schema import Column, Schema

MISSING = "missing"


def value_names(schema: Schema, name: str) -> list[str]:
    """The name of each code of a category column; 'missing' for the code of nulls."""
    column = schema.columns[name]
    size = column.size or 0
    written = column.write(np.arange(size), None).to_pylist()
    return [MISSING if value is None else str(value) for value in written]


def value_at(column: Column, unit: float) -> str:
    """The number or date at a place between 0 (its low) and 1 (its high)."""
    ticks = column.ticks or 0
    written = column.write(np.array([round(unit * ticks)], np.int64), np.array([False]))
    value = written[0].as_py()
    if pa.types.is_temporal(written.type):
        return str(value)
    if abs(value) < 1e9 and value == round(value, 4):
        return f"{value:,}"
    return f"{value:.3g}"


def bin_names(rows: Rows, name: str, size: int) -> list[str]:
    """The names of a column's codes as `Rows.bin` makes them; a number's bins by their start."""
    if not rows.is_number(name):
        return value_names(rows.schema, name)
    bins = size - (rows.missing(name) is not None)
    column = rows.schema.columns[name]
    top = column.ticks or 0
    # The first tick of each bin; where every tick has a code of its own, that tick.
    first = range(bins) if top < bins else [-(-k * top // bins) for k in range(bins)]
    names = [value_at(column, tick / max(top, 1)) for tick in first]
    return names + [MISSING] * (size - bins)
