"""A schema as a value: layout, digest, subsets, review."""

import copy
import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pytest

from nacre.schema import (
    Boolean,
    Categorical,
    Code,
    Datetime,
    Encoded,
    Integer,
    Layout,
    Number,
    Ordinal,
    Real,
    Schema,
    SchemaError,
)

SCHEMA = Schema(
    {
        "age": Integer(low=17, high=90),
        "sex": Categorical(values=["F", "M"], other=True, nullable=True),
        "wage": Real(low=0, high=1, nullable=True),
        "member": Boolean(),
    },
    label="sex",
)


@pytest.mark.parametrize(
    ("column", "zero"),
    [
        (Integer(low=-5, high=15), 5),
        (Integer(low=10, high=20), 0),
        (Integer(low=-20, high=-10), 10),
        (Real(low=-1, high=1), 2**29),
        (Real(low=-1, high=3, decimals=1), 10),
        (Datetime(low="1969-12-01", high="1970-02-01"), None),
    ],
)
def test_zero_is_the_tick_nearest_to_it(column, zero):
    assert column.zero == zero


def test_layout():
    assert SCHEMA.layout == Layout(
        numbers=(
            Number("age", 73, 0, rounds=((5, 3), (10, 3), (25, 8), (50, 33))),
            Number("wage", 2**30, 0),
        ),
        codes=(Code("sex", 4), Code("wage", 2, "missing"), Code("member", 2)),
    )
    assert SCHEMA.layout.number("wage") == 1
    assert SCHEMA.layout.code("wage", "missing") == 1


def test_digest_tells_schemas_apart():
    others = [
        SCHEMA.with_label(None),
        SCHEMA.select(reversed(SCHEMA.names)),
        dataclasses.replace(SCHEMA, reviewed=True),
        dataclasses.replace(SCHEMA, columns={**SCHEMA.columns, "age": Integer(low=17, high=91)}),
    ]
    assert len({SCHEMA.digest, *(other.digest for other in others)}) == 5
    assert SCHEMA not in others


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies_are_equal(copied):
    SCHEMA.layout  # noqa: B018  cached values must not get in the way
    assert copied(SCHEMA) == SCHEMA
    assert hash(copied(SCHEMA)) == hash(SCHEMA)


def test_the_given_mapping_is_copied():
    columns = {"a": Boolean()}
    schema = Schema(columns)
    columns["b"] = Boolean()
    assert schema.names == ("a",)


def test_select_keeps_order_and_label():
    assert SCHEMA.select(["member", "sex"]).names == ("member", "sex")
    assert SCHEMA.select(["member", "sex"]).label == "sex"
    assert SCHEMA.select(["member"]).label is None
    with pytest.raises(SchemaError, match="no column 'height' in the schema. The columns are"):
        SCHEMA.select(["age", "height"])


def test_with_label_is_checked():
    assert SCHEMA.with_label("age").label == "age"
    with pytest.raises(SchemaError, match="label 'x' is not a column"):
        SCHEMA.with_label("x")


def test_a_draft_is_refused_until_reviewed():
    draft = dataclasses.replace(SCHEMA, provenance="data")
    with pytest.raises(SchemaError, match="set `reviewed: true`"):
        draft.require_usable()
    dataclasses.replace(draft, reviewed=True).require_usable()
    bought = ({"name": "values of sex", "epsilon": 0.1},)
    dataclasses.replace(SCHEMA, provenance="private", releases=bought).require_usable()
    SCHEMA.require_usable()


def test_other_is_never_one_of_the_values():
    column = Categorical(values=["other", "Other"], other=True)
    assert column.other_name not in column.values
    assert Categorical(values=["a"], other=True).other_name == "other"


def test_encoded_parts():
    rows = SCHEMA.layout.encoded([[0, 5], [73, 2**30]], [[0, 0, 1], [3, 1, 0]], [True, False])
    both = Encoded.concat([rows[:1], rows[np.array([False, True])]])
    assert np.array_equal(both.ticks, rows.ticks)
    assert np.array_equal(both.codes, rows.codes)
    assert np.array_equal(both.valid, rows.valid)
    assert np.array_equal(rows.units()[1], [1.0, 1.0])
    assert repr(rows) == "Encoded(2 rows, 2 numbers, 3 codes)"  # no content
    with pytest.raises(ValueError, match="same layout"):
        Encoded.concat([rows, Schema({"a": Boolean()}).layout.encoded()])


def test_from_units_stays_within_the_layout():
    low, high = -(2**53) + 1, 4  # 2^53 + 3 ticks: as a float that is one more
    wide = Schema({"x": Integer(low=low, high=high)})
    encoded = wide.layout.from_units([[0.0], [1.0], [2.0], [-1.0], [np.nan]])
    assert wide.decode(encoded)["x"].to_pylist() == [low, high, high, low, low]


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="the layout needs"):
        SCHEMA.layout.encoded(np.zeros((2, 3)), np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("ticks", "codes"),
    [([[74, 0]], [[0, 0, 0]]), ([[-1, 0]], [[0, 0, 0]]), ([[0, 0]], [[4, 0, 0]])],
)
def test_decode_refuses_what_stands_for_nothing(ticks, codes):
    with pytest.raises(ValueError, match="outside the layout"):
        SCHEMA.decode(SCHEMA.layout.encoded(ticks, codes))


def test_decode_refuses_another_layout():
    with pytest.raises(ValueError, match="layouts differ"):
        SCHEMA.decode(Schema({"a": Ordinal(values=["x"])}).layout.encoded())


def test_import_is_light():
    code = (
        "import sys, nacre.schema; "
        "print([m for m in ('jax', 'pandas', 'polars', 'narwhals', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
