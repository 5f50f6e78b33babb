"""What bad rows do to whole fits and drafts: nothing, or what their price allows.

Each test holds the noise fixed and compares all that comes out: sums before noise, counts of
values, types, warnings, files.
"""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from nacre.archive import read as read_archive
from nacre.draft import private_draft
from nacre.fit import fit
from nacre.methods.merf import MERF
from nacre.model import load
from nacre.rows import TableEncoder
from nacre.schema import Boolean, Categorical, Datetime, Integer, Real, Schema, SchemaError
from nacre.vault.doors import keys as keys_module
from nacre.vault.doors import sum as sum_door

QUICK = MERF(frequencies=8, steps=2, components=2)
PEOPLE = Schema(
    {
        "age": Integer(low=0, high=99),
        "wage": Real(low=0, high=9),
        "job": Categorical(values=("1", "2", "x")),
        "in": Boolean(),
        "seen": Datetime(low="2000-01-01", high="2024-12-31"),
    }
)
ROW = {"age": 30, "wage": 1.5, "job": 1, "in": True, "seen": pd.Timestamp("2020-01-01")}
HOSTILE = [  # rows that count as nothing
    dict.fromkeys(ROW, None),
    ROW | {"age": "thirty"},
    {"age": "x", "wage": "y", "job": "x", "in": "no", "seen": "never"},
    ROW | {"wage": (1, 2), "job": 2**70},
    ROW | {"seen": pd.NaT, "in": 7, "job": 1.5},
]


def observed(call, patch):
    """What a call returns, the sums that it puts noise on with their scales, and its warnings."""
    sums = []
    patch.setattr(sum_door, "add_discrete_gaussian", lambda s, scale: sums.append((s, scale)) or s)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        returned = call()
    return returned, sums, sorted(str(each.message) for each in said)


def tables(rows, folder, extra=()):
    """The same rows as everything that can be read; extra lines for the CSV file."""
    frame = pd.DataFrame(rows)
    yield frame
    path = folder / "t.csv"
    text = pd.DataFrame(rows, dtype=object).to_csv(index=False).encode()
    path.write_bytes(text + b"\n".join([*extra, b""]))
    yield path


@pytest.mark.filterwarnings("ignore")
def test_bad_rows_change_nothing_of_a_fit(tmp_path, monkeypatch):
    """Rows that count as nothing leave the model file as it is, to the last bit of its arrays."""

    def trace(table):
        model, sums, said = observed(
            lambda: fit(
                table, PEOPLE, method=QUICK, epsilon=1, delta=1e-6, bad_rows="zero", seed=0
            ),
            monkeypatch,
        )
        model.save(tmp_path / "m.nacre", replace=True)
        document, arrays = read_archive(tmp_path / "m.nacre")
        document.pop("kind")
        arrays = {name: array.tolist() for name, array in arrays.items()}
        return model, (document, arrays, said, [(s.tolist(), scale) for s, scale in sums])

    first, expected = trace(pd.DataFrame([ROW] * 20))
    assert first.encoder.types is None
    lines = [b"1,2", b"\xff\xe4,1,2,3,4", b"a,b,c,d,e,f"]
    for table in tables([ROW] * 20 + HOSTILE, tmp_path, lines):
        model, found = trace(table)
        assert found == expected
        if model.kind == first.kind:
            assert model.sample(9, seed=0).equals(first.sample(9, seed=0))


TYPES = {
    "age": "integer",
    "wage": "real",
    "job": "categorical",
    "in": "boolean",
    "seen": "datetime",
}


@pytest.mark.filterwarnings("ignore")
def test_a_row_does_to_a_private_draft_what_its_price_allows(tmp_path, monkeypatch):
    counted = []
    monkeypatch.setattr(
        keys_module,
        "_calibrated",
        lambda *_, **__: (
            lambda counts: counted.append(counts) or [k for k in counts if counts[k] > 100]
        ),
    )

    def draft(table):
        return observed(
            lambda: private_draft(table, epsilon=2, delta=1e-6, types=TYPES), monkeypatch
        )

    old = draft(pd.DataFrame([ROW] * 400))
    for row in (HOSTILE[2], ROW | {"age": 2.0**60, "job": "rare", "wage": None}):
        for table in tables([ROW] * 400 + [row], tmp_path):
            schema, sums, said = draft(table)
            assert schema.to_dict() == old[0].to_dict()
            assert said == old[2]
            (one, scale), (other, same) = *old[1], *sums
            assert scale == same
            (release,) = (r for r in schema.releases if r["mechanism"] == "gaussian")
            limit = scale * release["sensitivity"] / release["noise"]
            assert np.linalg.norm((one - other).astype(float)) <= limit * (1 + 1e-9)
    assert {sum(counts.values()) for counts in counted} <= {400, 401}
    assert all(counts["1"] in (400, 401) for counts in counted)


def test_a_private_draft_asks_for_types_that_rows_may_have_decided(tmp_path):
    table = pa.table({"age": [1, 2], "job": ["a", "b"]})
    path = tmp_path / "t.csv"
    path.write_text("age,job\n1,a\n")
    for data in (table, table.to_pandas(), pl.from_arrow(table), path):
        with pytest.raises(SchemaError) as caught:
            private_draft(data, epsilon=1, delta=1e-6)
        for words in ("'age', 'job'", "types={'age': 'integer'}", "--types", "--drop job"):
            assert words in str(caught.value)
        with pytest.raises(SchemaError, match="type of 'job' is not known"):
            private_draft(data, epsilon=1, delta=1e-6, types={"age": "integer"})


def test_a_model_tells_no_type_but_those_that_are_stated(tmp_path):
    schema = Schema({"x": Integer(low=0, high=9), "y": Categorical(values=("1", "2"))})
    field = pa.field("x", pa.int8(), metadata={"max": "3"})
    table = pa.table([[1, 2, 3] * 9, [1, 2, 2] * 9], schema=pa.schema([field, ("y", pa.int64())]))
    model = fit(
        table, schema, method=QUICK, epsilon=1, delta=1e-6, bad_rows="zero", types=table.schema
    )
    assert model.encoder.types.field("x").metadata is None
    assert model.sample(3).schema.types == [pa.int8(), pa.int64()]
    model.save(tmp_path / "x.nacre")
    again = load(tmp_path / "x.nacre")
    assert again.encoder.types.equals(model.encoder.types, check_metadata=True)
    plain = dataclasses.replace(model, encoder=TableEncoder(schema))
    assert plain.sample(3).schema.types == [pa.int64(), pa.string()]


def test_private_facts_without_their_price_are_refused():
    with pytest.raises(SchemaError, match="needs the `releases`"):
        Schema({"x": Integer(low=0, high=9)}, provenance="private")
