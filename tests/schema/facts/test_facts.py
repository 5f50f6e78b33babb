"""Facts: read, written again, refused with what to do, and counted by the holder's check."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from nacre.schema import Schema, SchemaError

TEXT = """
nacre: 1
label: y
columns:
  code: {type: categorical, values: [A1, A2, B1], nullable: true}
  group: {type: categorical, values: [A, B], nullable: true}
  age: {type: integer, low: 0, high: 120}
  stage: {type: ordinal, values: [child, adult]}
  above: {type: integer, low: 0, high: 500}
  basement: {type: real, low: -10, high: 100, decimals: 1, nullable: true}
  living: {type: real, low: -10, high: 600, decimals: 2, nullable: true}
  months: {type: integer, low: 0, high: 72}
  price: {type: real, low: 0, high: 100}
  charges: {type: real, low: 0, high: 8000, decimals: 2}
  status: {type: categorical, values: [open, closed]}
  ended: {type: datetime, low: 2020-01-01, high: 2024-12-31, nullable: true}
  d1: {type: integer, low: 0, high: 9, nullable: true}
  d2: {type: categorical, values: [x, z], nullable: true}
  y: {type: boolean}
  flag: {type: categorical, values: ["0", "1"]}
facts:
  - group determined by code: {"A1,A2": A, B1: B}
  - stage determined by age: {..17: child, 18..: adult}
  - living = above + 0.5 * basement - 2
  - charges = months * price within 5
  - ended is missing exactly when status = open
  - d1, d2 are missing together
"""
GOOD = {
    "code": "A2",
    "flag": "1",
    "group": "A",
    "age": 17,
    "stage": "child",
    "above": 100,
    "basement": 10.1,
    "living": 103.05,
    "months": 10,
    "price": 20.25,
    "charges": 207.5,
    "status": "closed",
    "ended": datetime.date(2021, 5, 5),
    "d1": 1,
    "d2": "x",
    "y": True,
}
BAD = {
    "group determined by code": {"group": "B"},
    "stage determined by age": {"age": 18},
    "living = above + 0.5 * basement - 2": {"living": 103.04},
    "charges = months * price within 5": {"charges": 207.51},
    "ended is missing exactly when status = open": {"ended": None},
    "d1, d2 are missing together": {"d2": None},
}


@pytest.fixture(scope="module")
def schema():
    return Schema.parse(TEXT)


def table(schema, *changes):
    rows = [GOOD | change for change in changes]
    return pa.table({name: pa.array([row[name] for row in rows]) for name in schema.names})


def test_facts_survive_being_written(schema):
    again = Schema.parse(schema.to_yaml())
    assert again == schema
    assert again.facts == schema.facts
    assert Schema.from_dict(schema.to_dict()).digest == schema.digest
    assert "facts" in schema.to_dict()


def test_a_schema_without_facts_is_written_as_before(schema):
    bare = Schema(schema.columns, label="y")
    assert "facts" not in bare.to_dict()
    assert bare != schema


def test_rows_that_keep_every_fact_are_counted_so(schema):
    gone = {"code": None, "group": None, "basement": None, "living": None}
    shared = {"d1": None, "d2": None, "status": "open", "ended": None}
    found = schema.check(table(schema, {}, gone, shared))
    assert found.ok
    assert set(found.facts.values()) == {0}
    assert "facts" not in found.describe()


@pytest.mark.parametrize("text", BAD)
def test_a_row_that_breaks_a_fact_is_counted_and_does_fit(schema, text):
    found = schema.check(table(schema, {}, BAD[text]))
    assert found.ok
    assert {name for name, count in found.facts.items() if count} == {text}
    assert f"`{text}`: 1" in found.describe()


def test_selected_columns_keep_the_facts_that_speak_of_them(schema):
    some = schema.select(["age", "stage", "code", "d1", "d2"])
    assert [str(fact) for fact in some.facts] == [
        "stage determined by age",
        "d1, d2 are missing together",
    ]


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("livng = above", "'livng' is not a column. Did you mean 'living'?"),
        ("above = d1", "set `nullable: true`"),
        ("living = status + above", "'status' is categorical, and only numbers are added"),
        ("flag = above", "write {type: integer, low: 0, high: 1}"),
        ("living = 3", "nothing but numbers"),
        ("above = 0.5 * age", "may lie between two values of 'above'"),
        ("above = 1000 + age", "never lies within the bounds"),
        ("price = 2 * age", "without `decimals`"),
        ("charges = months * price within 0.001", "less than half a step"),
        ("charges = months * price within x", "after `within` stands a number"),
        ("age <= above", "it is a constraint, and no fact: write it under `constraints`."),
        ("living <= above + age", "other signs make a constraint"),
        ({"forbid": {"status": "open", "flag": "true"}}, "write it under `constraints`"),
        ("ended is missing if status != closed", "write it under `constraints`. A fact says exac"),
        ("age = 3 if status = open", "no fact: write it under `constraints`."),
        ("age is missing exactly when status = open", "'age' is never missing"),
        ("ended is missing when status = open", "missing exactly when"),
        ("d1, d1 are missing together", "named twice"),
        ("d1 are missing together", "A fact is a statement such as"),
        ({"group determined by code": {"A1": "A"}}, "says nothing of 'code' = 'A2'"),
        ({"stage determined by age": {"..17": "child"}}, "says nothing of 'age' = 18"),
        (
            {"stage determined by age": {"..17": "child", "17..": "adult"}},
            "17 of 'age' is in the table twice",
        ),
        ({"group determined by code": {"A1,A2,B1": "C"}}, "'C' is not among"),
        ({"stage determined by code": {"A1,A2,B1": "child"}}, "'code' may be missing"),
        ({"above determined by status": {"open": 1.5, "closed": 2}}, "not one of its values"),
        ({"y determined by status": {"open": "true", "closed": "false"}}, "'y' is the label"),
        ("above = above + age", "'above' follows from itself"),
        (7, "A fact is a statement such as"),
    ],
)
def test_what_is_wrong_is_said(schema, fact, said):
    with pytest.raises(SchemaError) as error:
        Schema(schema.columns, label="y", facts=[fact])
    assert said in str(error.value)
    assert "fact 1" in str(error.value)


def test_all_problems_are_told_at_once(schema):
    with pytest.raises(SchemaError) as error:
        Schema(schema.columns, facts=["above = d3", "age = d4"], constraints=["agee > 3"])
    assert len(error.value.problems) == 3


def test_one_column_follows_from_one_fact(schema):
    with pytest.raises(SchemaError, match="follows from `above = months` already"):
        Schema(schema.columns, facts=["above = months", "above = age"])


def test_circles_are_refused(schema):
    with pytest.raises(SchemaError, match="in a circle"):
        Schema(schema.columns, facts=["above = months + age", "months = age + above"])


def test_facts_are_put_in_the_order_in_which_they_can_be_computed(schema):
    made = Schema(schema.columns, facts=["months = above", "above = age"])
    assert [fact.column for fact in made.bound_facts] == ["above", "months"]


def test_a_list_that_is_none_is_refused(schema):
    with pytest.raises(SchemaError, match="`facts` must be a list"):
        Schema(schema.columns, facts="above = age")


def test_decimal_sums_are_exact(schema):
    # 0.1 + 0.2 is not 0.3 in float64.
    columns = {
        name: {"type": "real", "low": 0, "high": 10, "decimals": 1} for name in ("a", "b", "c")
    }
    made = Schema.from_dict({"columns": columns, "facts": ["c = a + b"]})
    tenths = np.arange(50)
    rows = pa.table({"a": tenths / 10, "b": tenths / 5, "c": 3 * tenths / 10})
    rows = rows.slice(0, 33)
    assert made.check(rows).facts == {"c = a + b": 0}
