"""Whose privacy it is, as a schema says it."""

import json

import pandas as pd
import pytest

from nacre.errors import NacreError
from nacre.schema import Boolean, Integer, Schema, SchemaError, Unit

COLUMNS = {"age": Integer(low=0, high=99), "member": Boolean()}
UNIT = Unit(column="who", rows=3, constant=("age",))
SCHEMA = Schema(COLUMNS, label="member", unit=UNIT)


def test_every_form_gives_the_same_schema_back():
    assert "unit: {column: who, rows: 3, constant: [age]}" in SCHEMA.to_yaml()
    for back in (
        Schema.parse(SCHEMA.to_yaml()),
        Schema.from_dict(json.loads(json.dumps(SCHEMA.to_dict()))),
        Schema(COLUMNS, label="member", unit={"column": "who", "rows": "3", "constant": "age"}),
    ):
        assert back == SCHEMA
        assert back.unit == UNIT
    assert Schema(COLUMNS, label="member") != SCHEMA
    assert "unit" not in Schema(COLUMNS).to_dict()


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("who", "say which column tells persons apart"),
        ("{rows: 3}", "say which column tells persons apart"),
        ("{column: who}", "`rows` must be a whole number from 1 to 100"),
        ("{column: who, rows: 0}", "`rows` must be a whole number from 1 to 100"),
        ("{column: who, rows: 1000}", "`rows` must be a whole number from 1 to 100"),
        ("{column: who, rows: many}", "`rows` must be a whole number from 1 to 100"),
        ("{column: age, rows: 3}", "take it out of `columns`"),
        ("{column: who, rows: 3, constant: [agee]}", "names 'agee', which the schema does not"),
        ("{column: who, row: 3}", "`row` is not known. Did you mean rows?"),
    ],
)
def test_what_is_wrong_is_said(said, problem):
    text = f"unit: {said}\ncolumns:\n  age: {{type: integer, low: 0, high: 99}}\n"
    with pytest.raises(SchemaError) as caught:
        Schema.parse(text)
    assert problem in str(caught.value)


def test_how_many_rows_a_person_has_is_one_more_column():
    assert SCHEMA.counted.names == ("age", "member", "rows of who")
    assert SCHEMA.counted.columns["rows of who"].values == ("1", "2", "3")
    assert SCHEMA.counted.unit is None
    one = Schema(COLUMNS, unit={"column": "who", "rows": 1})
    assert one.counted is one
    with pytest.raises(SchemaError, match="rename that column"):
        Schema({**COLUMNS, "rows of who": Boolean()}, unit=UNIT)


def test_fewer_columns_keep_the_unit():
    assert SCHEMA.select(["member"]).unit == Unit(column="who", rows=3)
    assert SCHEMA.select(["age"]).unit == UNIT
    assert SCHEMA.with_label(None).unit == UNIT


def test_a_frame_or_a_path_where_arrow_is_needed_is_refused():
    schema = Schema({"age": Integer(low=0, high=9)})
    for rows in ("people.csv", pd.DataFrame({"age": [1]})):
        with pytest.raises(NacreError, match="Arrow tables"):
            schema.check(rows)
