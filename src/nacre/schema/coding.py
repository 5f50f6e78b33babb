"""Rows of a table as integers, and integers as rows: exact, one column after the other.

Nothing here depends on any row but the one at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.schema import table
from nacre.schema.columns.column import Column
from nacre.schema.layout import Code, Encoded, Layout, Number


def layout(columns: Mapping[str, Column]) -> Layout:
    """What an encoded row is made of: numbers as ticks, their gaps and all others as codes."""
    numbers, codes = [], []
    for name, column in columns.items():
        if column.ticks is not None:
            spikes, round_to = column.spike_ticks, (column.rounds, column.stretch)
            own = Number(name, column.ticks, column.zero, *spikes, *round_to, day=column.day)
            numbers.append(own)
            if column.nullable:
                codes.append(Code(name, 2, "missing"))
        elif column.size is not None:
            codes.append(Code(name, column.size))
    return Layout(tuple(numbers), tuple(codes))


def encode_into(
    columns: Mapping[str, Column],
    rows: pa.RecordBatch | pa.Table,
    ticks: NDArray[np.integer],
    codes: NDArray[np.int32],
    valid: NDArray[np.bool_],
    shifts: Sequence[int],
) -> None:
    """Write rows into arrays of their layout, of which `valid` holds True.

    Each number's ticks lose as many of their last bits as `shifts` says.
    """
    table.require_columns(columns, rows.schema)
    start = 0
    for batch in table.blocks(rows):
        part = slice(start, start + batch.num_rows)
        _fill(columns, batch, ticks[part], codes[part], valid[part], shifts)
        start += batch.num_rows


def _fill(
    columns: Mapping[str, Column],
    batch: pa.RecordBatch,
    ticks: NDArray[np.integer],
    codes: NDArray[np.int32],
    valid: NDArray[np.bool_],
    shifts: Sequence[int],
) -> None:
    number = code = 0
    for name, column in columns.items():
        reading = column.read(batch.column(name))
        for where in reading.refused.values():
            if where.any():
                valid[where] = False
        if column.ticks is None:
            codes[:, code] = reading.values
            code += 1
            continue
        shift = shifts[number]
        ticks[:, number] = reading.values >> shift if shift else reading.values
        number += 1
        if column.nullable:
            codes[:, code] = reading.missing
            code += 1


def decode(columns: Mapping[str, Column], layout: Layout, encoded: Encoded) -> pa.Table:
    """The table that encodes to these ticks and codes."""
    if encoded.layout != layout:
        raise NacreError("These rows were encoded with another schema: the layouts differ.")
    for values, most in ((encoded.ticks, layout.limits), (encoded.codes, layout.sizes - 1)):
        if ((values < 0) | (values > most)).any():
            raise NacreError("Ticks or codes lie outside the layout, so they stand for nothing.")
    arrays = []
    number = code = 0
    for column in columns.values():
        if column.ticks is None:
            written = column.write(encoded.codes[:, code], None)
            code += 1
        else:
            missing = encoded.codes[:, code] == 1 if column.nullable else None
            written = column.write(encoded.ticks[:, number], missing)
            number += 1
            code += column.nullable
        arrays.append(column.coded(column.formatted(written)))
    return pa.Table.from_arrays(arrays, names=list(columns))
