"""Cells of all kinds, the columns that hold them, and what schema and discovery make of them."""

import datetime
import decimal
import enum
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from nacre.rows import open_source
from nacre.schema import Boolean, Categorical, Datetime, Integer, Real, Schema, Time
from nacre.vault import Adjacency, Keys
from nacre.vault.doors import keys as keys_module

VALUES = (
    *("F", "M", "1", "1.0", "2", "1.5", "0.1", "123456789012.5", "1e-05", "true"),
    *("2024-01-01 00:00:00", "2024-01-01", str(10**11), str(2**60), "(0, 1]"),
    str(complex(np.complex64(0.1 + 1j))),
    *("08:30:00", "08:30"),
)
# Every cell is read in each of these ways.
COLUMNS = {
    "list": Categorical(values=VALUES, other=True),
    "closed": Categorical(values=VALUES),
    "integer": Integer(low=0, high=9),
    "real": Real(low=0, high=9, nullable=True),
    "boolean": Boolean(),
    "datetime": Datetime(low="2000-01-01", high="2024-12-31", step="1h"),
    "time": Time(low="08:00", nullable=True),
}
SCHEMA = Schema(COLUMNS)


class Sex(str, enum.Enum):  # noqa: UP042 - its str() is "Sex.F"
    F = "F"
    M = "M"


class Loud(str):
    def __str__(self):
        return "LOUD"

    def encode(self, *_):
        return b"LOUD"


class Count(int, enum.Enum):
    ONE = 1
    TWO = 2


CELLS = {
    "true and false": [True, False],
    "decimals": [decimal.Decimal("1.10"), decimal.Decimal("2.20")],
    "bytes": [b"F", b"M", b"\xff"],
    "bytes that change": [bytearray(b"F"), memoryview(b"M")],
    "dates": [datetime.date(2024, 1, 1), "b"],
    "only dates": [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)],
    "texts": ["F", "M", "1.0", " 2 "],
    "texts that are choices": [Sex.F, Sex.M],
    "texts of another kind": [Loud("F"), np.str_("M")],
    "numbers that are choices": [Count.ONE, Count.TWO],
    "whole numbers": [1, 2],
    "long numbers": [10**11, 10**15 + 1, 2**60, 2**60 + 1, -(2**53)],
    "small numbers": [np.int8(1), np.float32(2)],
    "single precision": np.array([0.1, 1.5, 1e10, 1 / 3], np.float32),
    "floats": [1.0, 2.0],
    "fractions": [1.5, 123456789012.5, 1e-5, 1e300],
    "times": [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, 5, 0, 0, 500)],
    "times of old": [pd.Timestamp("1969-12-31 23:59:59.999999999"), pd.Timestamp("1960-01-01")],
    "times in Tokyo": [pd.Timestamp("2024-01-01", tz="Asia/Tokyo")] * 2,
    "times of day": [datetime.time(8, 30), datetime.time(8, 31, 2, 500)],
    "times of day with a zone": [datetime.time(8, 30, tzinfo=datetime.UTC), datetime.time(8, 30)],
    "texts of times of day": ["08:30", "8:30", "08:30:00", "24:00"],
    "lengths of time": [pd.Timedelta("1h"), pd.Timedelta("2h")],
    "ranges": [pd.Interval(0, 1), pd.Interval(1, 2)],
    "lists": [[1], (1, 2)],
    "complex numbers": list(np.array([0.1 + 1j, 1 / 3 + 2j], np.complex64)),
    "gaps": ["F", None, float("nan")],
}


def objects(cells):
    return pd.Series(list(cells), dtype=object)


KINDS = {
    "objects": objects,
    "inferred": lambda cells: pd.Series(list(cells)),
    "concatenated": lambda cells: pd.concat(
        [pd.Series(cells[:-1]), pd.Series(cells[-1:])] if len(cells) else [], ignore_index=True
    ),
    "categories": lambda cells: objects(cells).astype("category"),
    "converted": lambda cells: objects(cells).convert_dtypes(),
    "pyarrow": lambda cells: objects(cells).convert_dtypes(dtype_backend="pyarrow"),
}


def parts(data, schema=SCHEMA):
    """The encoded rows of a table as one matrix: whether it counts, then ticks and codes."""
    found = [schema.encode(batch) for batch in open_source(data, schema).batches()]
    return np.concatenate([np.column_stack([e.valid, e.ticks, e.codes]) for e in found])


def counts_of(column):
    """What the discovery of values counts, before noise."""
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        answer = lambda counts: seen.append(counts) or []  # noqa: E731
        patch.setattr(keys_module, "_calibrated", lambda *_, **__: answer)
        question = Keys(name="x", column="x", epsilon=1.0, delta=1e-6)
        stream = SimpleNamespace(
            apart=False, one_row_each=lambda: [pa.RecordBatch.from_arrays([column], ["x"])]
        )
        release = question.release(1.0, Adjacency.ADD_REMOVE)
        keys_module.answer(question, release, stream, lambda: None)
    return seen[0]
