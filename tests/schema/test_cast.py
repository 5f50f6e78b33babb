"""Decoded columns take the types that came in, where nothing is lost by it."""

import datetime
import decimal

import pyarrow as pa
import pytest

from nacre.schema import Categorical, Integer, Real, Schema, SchemaError, as_types, stated_types

US = pa.timestamp("us")
NOON = datetime.datetime(2024, 1, 1, 12)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pa.array([1, None]), pa.int32()),
        (pa.array([1, None]), pa.float64()),
        (pa.array([0, 1, None]), pa.bool_()),
        (pa.array([1, 2]), pa.string()),
        (pa.array([1, 2]), pa.decimal128(5, 2)),
        (pa.array([1.5, 2.25]), pa.decimal128(5, 2)),
        (pa.array([1.5, None]), pa.float32()),
        (pa.array([1.0, 2.0]), pa.int16()),
        (pa.array(["1", None]), pa.int64()),
        (pa.array(["1", "2"]), pa.float64()),
        (pa.array(["0", "1"]), pa.bool_()),
        (pa.array(["a", None, "a"]), pa.dictionary(pa.int8(), pa.string())),
        (pa.array(["a", "b"]), pa.dictionary(pa.int32(), pa.large_string(), ordered=True)),
        (pa.array(["1", "2"]), pa.dictionary(pa.int8(), pa.int64())),
        (pa.array(["a"]), pa.large_string()),
        (pa.array([True, None]), pa.int8()),
        (pa.array([True, None]), pa.float64()),
        (pa.array([datetime.date(2024, 1, 1)]), pa.timestamp("ns")),
        (pa.array([datetime.date(2024, 1, 1)]), pa.date64()),
        (pa.array([datetime.date(2024, 1, 1)]), pa.string()),
        (pa.array([NOON], US), pa.timestamp("s")),
        (pa.array([NOON], US), pa.timestamp("ns", "Europe/Berlin")),
    ],
)
def test_types_that_came_in(cells, kind):
    table = pa.table({"x": cells, "same": cells})
    cast = as_types(table, pa.schema({"x": kind}))
    assert cast["x"].type == kind
    assert cast["x"].null_count == cells.null_count
    assert cast["same"].equals(table["same"])
    assert cast.column_names == ["x", "same"]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pa.array([1.5]), pa.int64()),
        (pa.array([300]), pa.int8()),
        (pa.array([0, 2]), pa.bool_()),
        (pa.array(["1", "other"]), pa.int64()),
        (pa.array(["1", "other"]), pa.dictionary(pa.int8(), pa.int64())),
        (pa.array([str(i) for i in range(200)]), pa.dictionary(pa.int8(), pa.string())),
        (pa.array(["a"]), pa.bool_()),
        (pa.array([123456]), pa.decimal128(5, 2)),
        (pa.array([datetime.datetime(9000, 1, 1)], US), pa.timestamp("ns")),
        (pa.array([NOON], US), pa.list_(pa.int64())),
        (pa.array(["a"]), pa.null()),
    ],
)
def test_nothing_is_lost(cells, kind):
    table = pa.table({"x": cells})
    assert as_types(table, pa.schema({"x": kind})).equals(table)


def test_values_are_kept():
    table = pa.table({"code": ["2", None], "flag": [True, None], "at": pa.array([NOON, None], US)})
    kinds = {"code": pa.int8(), "flag": pa.int64(), "at": pa.timestamp("us", "Asia/Tokyo")}
    cast = as_types(table, pa.schema(kinds))
    assert cast["code"].to_pylist() == [2, None]
    assert cast["flag"].to_pylist() == [1, None]
    assert cast["at"][0].value == table["at"][0].value  # the same moment in UTC
    money = as_types(pa.table({"x": [0.1]}), pa.schema({"x": pa.decimal128(4, 2)}))
    assert money["x"].to_pylist() == [decimal.Decimal("0.10")]


def test_stated_types_hold_whatever_the_schema_allows():
    schema = Schema(
        {
            "age": Integer(low=0, high=300),
            "wage": Real(low=0, high=1),
            "code": Categorical(values=["1", "2"]),
            "open": Categorical(values=["1", "2"], other=True),
        }
    )
    found = stated_types({"age": "int16", "code": pa.int8(), "open": "category"}, schema)
    assert found.types == [pa.int16(), pa.int8(), pa.dictionary(pa.int32(), pa.string())]
    assert stated_types(None, schema) is None
    wrong = {"age": "int8", "wage": "int64", "open": "int64", "code": "number", "aged": "int8"}
    with pytest.raises(SchemaError) as caught:
        stated_types(wrong, schema)
    text = str(caught.value)
    assert "has 5 problems" in text
    assert text.count("cannot hold every value") == 3
    assert "Did you mean 'age'?" in text
    with pytest.raises(SchemaError, match="must be a mapping"):
        stated_types(["int8"], schema)
