"""How a cell is read never depends on another row: not on its text, its type, or its being bad."""

import datetime
import decimal
import enum

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from nacre.fit import fit
from nacre.methods import PEARL
from nacre.model import load
from nacre.rows import open_source
from nacre.schema import Boolean, Categorical, Datetime, Integer, Real, Schema, SchemaError
from nacre.vault import Adjacency, Release, Vault

QUICK = PEARL(frequencies=16, blocks=2, components=4, steps=5)
MOMENTS = Schema({"x": Datetime(low="2000-01-01", high="2024-12-31", step="1h")})
HOSTILE = ["garbage", "", "2024-02-30", "2024-01-01Z", "2024-01-01+01:00", "2024-01-01T10:00Z"]


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize(
    "text", ["2024-01-01", "2024-01-01 10", "2024-01-01T10", "2024-01-01 10:30", "2024-01-01Z"]
)
def test_one_bad_date_changes_no_other(text, hostile):
    alone = MOMENTS.encode(pa.table({"x": [text, text]}))
    beside = MOMENTS.encode(pa.table({"x": [text, text, hostile]}))
    assert (alone.ticks == beside.ticks[:2]).all()
    assert (alone.valid == beside.valid[:2]).all()


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


VALUES = (
    "F",
    "M",
    "1",
    "1.0",
    "2",
    "1.5",
    "123456789012.5",
    "1e-05",
    "true",
    "2024-01-01 00:00:00",
)
CELLS = {
    "true and false": [True, False],
    "decimals": [decimal.Decimal("1.10"), decimal.Decimal("2.20")],
    "bytes": [b"F", b"M", b"\xff"],
    "bytes that change": [bytearray(b"F"), memoryview(b"M")],
    "dates": [datetime.date(2024, 1, 1), "b"],
    "texts that are choices": [Sex.F, Sex.M],
    "texts of another kind": [Loud("F"), np.str_("M")],
    "numbers that are choices": [Count.ONE, Count.TWO],
    "whole numbers": [1, 2],
    "small numbers": [np.int8(1), np.float32(2)],
    "floats": [1.0, 2.0],
    "fractions": [1.5, 123456789012.5, 1e-5, 1e300],
    "times": [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, 5, 0, 0, 500)],
    "times in Tokyo": [pd.Timestamp("2024-01-01", tz="Asia/Tokyo")] * 2,
    "gaps": ["F", None, float("nan")],
}
STRANGERS = ["x", 7, 2**70, 1.5, None, b"\xff", (1, 2), datetime.date(2024, 1, 1), "\ud800", "1.0"]
COLUMNS = {
    "list": Categorical(values=VALUES, other=True),
    "integer": Integer(low=0, high=9),
    "real": Real(low=0, high=9),
    "boolean": Boolean(),
    "datetime": Datetime(low="2000-01-01", high="2024-12-31", step="1h"),
}
KINDS = {
    "objects": lambda cells: pd.Series(cells, dtype=object),
    "inferred": lambda cells: pd.Series(cells),
    "categories": lambda cells: pd.Series(cells, dtype=object).astype("category"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("column", COLUMNS)
def test_one_strange_cell_changes_no_other(kind, name, column):
    schema, cells = Schema({"x": COLUMNS[column]}), CELLS[name]

    def encode(objects):
        try:
            frame = pd.DataFrame({"x": KINDS[kind](objects)})
        except (TypeError, ValueError):  # pandas itself cannot hold these together
            return None
        try:
            batches = list(open_source(frame, schema).batches())
            return schema.encode(pa.Table.from_batches(batches))
        except SchemaError:
            return None  # a type that the column cannot have: nothing is read at all

    alone = encode(cells)
    for stranger in STRANGERS:
        beside = encode([*cells, stranger])
        if alone is not None and beside is not None:
            for part in ("valid", "ticks", "codes"):
                one, other = getattr(alone, part), getattr(beside, part)[:-1]
                assert (one == other).all(), (part, stranger)


@pytest.mark.parametrize("kind", ["objects", "categories"])
@pytest.mark.parametrize("name", ["texts that are choices", "texts of another kind", "bytes"])
def test_text_is_what_it_holds(kind, name):
    schema = Schema({"x": Categorical(values=("F", "M"), other=True)})
    frame = pd.DataFrame({"x": KINDS[kind](CELLS[name])})
    found = schema.encode(pa.Table.from_batches(list(open_source(frame, schema).batches())))
    assert found.codes[:2, 0].tolist() == [0, 1]


def types_of(frame, schema, bad_rows="check"):
    return fit(frame, schema, method=QUICK, epsilon=100, delta=1e-6, bad_rows=bad_rows).types


@pytest.mark.parametrize("bad_rows", ["check", "zero"])
@pytest.mark.parametrize(
    ("column", "cells", "extra"),
    [
        (Categorical(values=[f"{i}" for i in range(200)]), pd.Categorical(range(128)), 150),
        (Categorical(values=["1", "2", "x"]), pd.Categorical([1, 2] * 30), "x"),
        (Categorical(values=["1", "2", "3+"]), [1, 2] * 30, "3+"),
        (Categorical(values=["a", "7"]), ["a", "a"] * 30, 7),
        (Real(low=0, high=9), [1, 2] * 30, 1.5),
        (Integer(low=0, high=9), [1, 2] * 30, 3.0),
        (
            Datetime(low="2000-01-01", high="2024-12-31", step="1h"),
            pd.to_datetime(["2010-01-01"] * 60),
            pd.Timestamp("2010-01-01 00:00:00.000000001"),
        ),
    ],
    ids=["more categories", "text", "text in a list", "number", "fraction", "float", "nanosecond"],
)
def test_one_row_does_not_change_the_types_that_a_model_tells(column, cells, extra, bad_rows):
    schema = Schema({"x": column})
    frame = pd.DataFrame({"x": cells})
    more = pd.Series([*frame["x"], extra])
    if isinstance(frame["x"].dtype, pd.CategoricalDtype):
        more = more.astype("category")
    elif isinstance(extra, pd.Timestamp):
        more = more.astype("datetime64[ns]")
    types = [types_of(each, schema, bad_rows) for each in (frame, pd.DataFrame({"x": more}))]
    assert types[0] == types[1]


def test_types_that_all_rows_imply_are_kept():
    schema = Schema({"x": Categorical(values=("1", "2")), "y": Categorical(values=("a", "b"))})
    frame = pd.DataFrame({"x": [1, 2] * 30, "y": pd.Categorical(["a", "b"] * 30, ordered=True)})
    model = fit(frame, schema, method=QUICK, epsilon=100, delta=1e-6)
    assert model.types.field("x").type == pa.int64()
    assert model.types.field("y").type == pa.dictionary(pa.int32(), pa.string(), ordered=True)
    assert model.sample(5)["y"].dtype == "category"


def test_one_gap_does_not_change_the_types_that_a_model_tells():
    schema = Schema({"x": Integer(low=0, high=9), "y": Real(low=0, high=1, nullable=True)})
    whole = pd.DataFrame({"x": [1, 2, 3] * 20, "y": [0.5] * 60})
    gap = pd.concat([whole, pd.DataFrame({"x": [np.nan], "y": [np.nan]})], ignore_index=True)
    types = [
        fit(frame, schema, method=QUICK, epsilon=1, delta=1e-6, bad_rows="zero").types
        for frame in (whole, gap)
    ]
    assert types[0] == types[1]


def test_types_that_pandas_declares_are_kept():
    frame = pd.DataFrame(
        {
            "a": pd.array([1, None], "Int64"),
            "b": pd.Categorical(["x", "y"]),
            "c": pd.array([True, None], "boolean"),
            "d": [1, 2],
            "e": pd.Series(["x", 1], dtype=object),
        }
    )
    assert open_source(frame).loose == {"d", "e"}


def test_a_model_keeps_no_metadata_of_the_table(tmp_path):
    schema = Schema({"x": Integer(low=0, high=9)})
    table = pa.Table.from_pandas(pd.DataFrame({"x": [1, 2, 3] * 259}))
    field = pa.field("x", pa.int64(), metadata={"max": "3"})
    table = table.cast(pa.schema([field], metadata=table.schema.metadata))
    model = fit(table, schema, method=QUICK, epsilon=1, delta=1e-6)
    assert model.types.metadata is None
    assert model.types.field("x").metadata is None
    assert "777" not in repr(model.types)
    model.save(tmp_path / "x.nacre")
    assert load(tmp_path / "x.nacre").types.equals(model.types, check_metadata=True)


@pytest.mark.parametrize(
    ("extra", "kind"), [("a\0", pa.string()), ("a\0b", pa.string()), (b"\xff", pa.binary())]
)
def test_one_odd_cell_does_not_hide_a_frequent_value(extra, kind):
    cells = ["a"] * 1000 if kind == pa.string() else [b"a"] * 1000
    schema = Schema({"x": Categorical(values=("-",), other=True)})
    vault = Vault(pa.table({"x": pa.array([*cells, extra], kind)}), schema, epsilon=1, delta=1e-6)
    assert vault.keys("x", epsilon=0.9, delta=1e-7) == ("a",)


def release(**changes):
    settings = {
        "name": "x",
        "mechanism": "gaussian",
        "theorem": "t",
        "adjacency": Adjacency.ADD_REMOVE,
        "size": 3,
        "sensitivity": 1.0,
        "noise": 4.0,
    }
    return Release(**{**settings, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"size": -5},
        {"size": "x"},
        {"epsilon": 50.0},
        {"delta": 0.5},
        {"mechanism": "approximate"},
        {"mechanism": "approximate", "epsilon": 1.0},
        {"noise": 5e-324},
        {"noise": "4"},
    ],
)
def test_a_release_that_contradicts_itself_is_refused(changes):
    assert release().multiplier == 4
    with pytest.raises(ValueError, match="Release 'x'"):
        release(**changes)


def test_private_facts_without_their_price_are_refused():
    with pytest.raises(SchemaError, match="needs the `releases`"):
        Schema({"x": Integer(low=0, high=9)}, provenance="private")
