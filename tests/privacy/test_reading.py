"""How a cell is read never depends on another row: not on its text, its type, or its being bad."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from nacre.fit import fit
from nacre.methods import PEARL
from nacre.model import load
from nacre.schema import Categorical, Datetime, Integer, Real, Schema, SchemaError
from nacre.vault import Adjacency, Release, Vault, open_source

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


@pytest.mark.parametrize(
    ("values", "cells", "stranger"),
    [
        (("true", "false"), [True, False, True], "x"),
        (("1.10", "2.20"), [decimal.Decimal("1.10"), decimal.Decimal("2.20")], decimal.Decimal(3)),
        (("a", "b"), [b"a", b"b", b"a"], 3),
        (("2024-01-01", "b"), [datetime.date(2024, 1, 1), "b"], [1, 2]),
    ],
)
def test_one_strange_object_changes_no_other(values, cells, stranger):
    schema = Schema({"x": Categorical(values=values)})

    def encode(objects):
        frame = pd.DataFrame({"x": pd.Series(objects, dtype=object)})
        batches = list(open_source(frame, schema).batches())
        return schema.encode(pa.Table.from_batches(batches))

    alone, beside = encode(cells), encode([*cells, stranger])
    assert alone.valid.all()
    assert (alone.codes == beside.codes[:-1]).all()
    assert beside.valid[:-1].all()


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
