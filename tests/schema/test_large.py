"""Schemas of a size that nobody reviews: quick, in bounded memory, and without a surprise."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from nacre.rows import SourceError, Stream, TableEncoder, open_source
from nacre.schema import Categorical, Integer, Schema

MANY = 200_000
COLUMNS = 3_000


def test_many_values_are_looked_up_in_one_pass():
    """A list was once searched for each of its own values: 4 * 10^10 steps, an hour."""
    schema = Schema({"c": Categorical(values=tuple(f"v{i}" for i in range(MANY)))})
    table = pa.table({"c": ["v0", f"v{MANY - 1}", "nobody"]})
    tracemalloc.start()
    encoded = schema.encode(table)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert encoded.codes[:2, 0].tolist() == [0, MANY - 1]
    assert encoded.valid.tolist() == [True, True, False]
    assert peak < 1_000 * MANY  # bytes: a few hundred for each value


def test_numbers_too_long_for_a_float_are_found_in_a_long_list_too():
    values = tuple(str(10**16 + 2 * i + 1) for i in range(1_000))
    schema = Schema({"c": Categorical(values=values)})
    rounded = float(values[0])
    alike = sum(float(value) == rounded for value in values)
    found = schema.encode(pa.table({"c": [rounded]}))
    assert bool(found.valid[0]) is (alike == 1)


def test_thousands_of_columns_are_read_and_two_of_a_name_refused(tmp_path):
    names = [f"c{i}" for i in range(COLUMNS)]
    schema = Schema({name: Integer(low=0, high=9) for name in names})
    table = pa.table({name: np.array([1, 2]) for name in names})
    stream = Stream(TableEncoder.of(schema), table)
    assert stream.check() == 2
    twice = tmp_path / "twice.csv"
    twice.write_text(",".join([*names, "c7"]) + "\n" + ",".join(["1"] * (COLUMNS + 1)) + "\n")
    with pytest.raises(SourceError, match="two columns of the same name"):
        open_source(twice, schema)
