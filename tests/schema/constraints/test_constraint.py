"""Constraints of a schema: what they mean, what is refused, and that they are part of it."""

import copy
import dataclasses
import datetime
import json
import pickle

import numpy as np
import pyarrow as pa
import pytest

from nacre.schema import (
    Boolean,
    Categorical,
    Datetime,
    Integer,
    Ordinal,
    Real,
    Schema,
    SchemaError,
)
from nacre.schema.constraints.condition import ColumnValues

COLUMNS = {
    "age": Integer(low=0, high=120),
    "wage": Real(low=0, high=1000, decimals=2, nullable=True),
    "height": Real(low=1, high=2),
    "sex": Categorical(values=["Male", "Female"]),
    "pregnant": Categorical(values=["yes", "no"], nullable=True),
    "ward": Categorical(values=["surgery", "may, be", "Male"], other=True),
    "pain": Ordinal(values=["none", "mild", "strong"]),
    "employed": Boolean(nullable=True),
    "admitted": Datetime(low="2019-01-01", high="2024-12-31"),
    "discharged": Datetime(low="2019-01-01", high="2024-12-31", nullable=True),
    "seen": Datetime(low="2019-01-01", high="2024-12-31", step="1h"),
}
ROW = {
    "age": 30,
    "wage": 10.0,
    "height": 1.5,
    "sex": "Female",
    "pregnant": "no",
    "ward": "surgery",
    "pain": "mild",
    "employed": True,
    "admitted": datetime.date(2020, 1, 1),
    "discharged": datetime.date(2020, 1, 5),
    "seen": datetime.datetime(2020, 1, 1, 12),
}
YAML = """
columns:
  age: {type: integer, low: 0, high: 120}
  sex: {type: categorical, values: [Male, Female]}
  pregnant: {type: categorical, values: ["yes", "no"]}
  start: {type: datetime, low: 2019-01-01, high: 2024-12-31}
  end: {type: datetime, low: 2019-01-01, high: 2024-12-31}
constraints:
  - start <= end
  - age >= 18 if pregnant = yes
  - forbid: {sex: Male, pregnant: yes}
  - forbid: age < 12 and pregnant = yes
  - fixed: {sex: Female}
"""


def schema(*constraints):
    return Schema(COLUMNS, constraints=constraints)


def holds(said, **changes):
    """Whether one row satisfies one constraint."""
    bound = schema(said)
    rows = bound.encode(pa.Table.from_pylist([ROW | changes]))
    assert rows.valid.all()
    (rule,) = bound.rules
    return bool(rule.holds(ColumnValues.of(bound.columns, rows))[0])


@pytest.mark.parametrize(
    ("said", "good", "bad"),
    [
        ("admitted <= discharged", {"discharged": "2020-01-01"}, {"discharged": "2019-12-31"}),
        ("admitted < discharged", {"discharged": "2020-01-02"}, {"discharged": "2020-01-01"}),
        ("discharged > admitted", {}, {"discharged": "2020-01-01"}),
        ("age >= 18 if employed = yes", {"age": 18}, {"age": 17}),
        ("age >= 18 if employed = yes", {"age": 0, "employed": False}, {"age": 0}),
        ("17.5 < age", {"age": 18}, {"age": 17}),
        ("20 <= age <= 30", {"age": 30}, {"age": 31}),
        ("age != 30", {"age": 29}, {}),
        ("age in [1, 30]", {}, {"age": 2}),
        ("age not in [1, 30]", {"age": 2}, {}),
        ("wage <= age", {"wage": 30.0}, {"wage": 30.01}),
        ("wage < 0.3", {"wage": 0.29}, {"wage": 0.3}),
        ("height = 1", {"height": 1.0}, {"height": 1.001}),
        ("height > 1", {"height": 1.001}, {"height": 1.0}),
        ("pain >= mild", {"pain": "strong"}, {"pain": "none"}),
        ("ward = other if sex = Male", {"sex": "Male", "ward": "?"}, {"sex": "Male"}),
        ('ward != "may, be"', {}, {"ward": "may, be"}),
        ("sex != ward", {"sex": "Male"}, {"sex": "Male", "ward": "Male"}),
        ("employed = 1", {}, {"employed": False}),
        ("wage is not missing if age > 20", {}, {"wage": None}),
        ({"forbid": {"sex": "Male", "pregnant": "yes"}}, {"sex": "Male"},
         {"sex": "Male", "pregnant": "yes"}),
        ({"forbid": {"sex": ["Male", "Female"], "pain": "none"}}, {}, {"pain": "none"}),
        ({"forbid": {"sex": "Male", "wage": None}}, {"wage": None}, {"sex": "Male", "wage": None}),
        ({"fixed": {"age": 30, "employed": True}}, {}, {"age": 31}),
        ({"fixed": {"admitted": datetime.date(2020, 1, 1)}}, {}, {"admitted": "2020-01-02"}),
        # A day without a time is all of that day.
        ("seen <= 2020-01-01", {"seen": "2020-01-01T23:00"}, {"seen": "2020-01-02T00:00"}),
        ("seen > 2019-12-31", {"seen": "2020-01-01T00:00"}, {"seen": "2019-12-31T23:00"}),
        ("seen = 2020-01-01", {}, {"seen": "2020-01-02T00:00"}),
        ("seen <= 2020-01-01T12:00", {}, {"seen": "2020-01-01T13:00"}),
    ],
)  # fmt: skip
def test_meaning(said, good, bad):
    assert holds(said, **good)
    assert not holds(said, **bad)


@pytest.mark.parametrize(
    "said",
    [
        "admitted <= discharged",
        "discharged != 2020-01-05",
        "discharged = 2020-01-05",
        "discharged in [2020-01-05]",
        "age < 20 if discharged > 2019-02-01",
        {"forbid": {"discharged": "2020-01-05"}},
    ],
)
def test_a_comparison_with_a_missing_value_breaks_nothing(said):
    assert holds(said, discharged=None)


def test_what_is_fixed_is_never_missing():
    assert not holds({"fixed": {"employed": True}}, employed=None)
    assert holds({"fixed": {"employed": None}}, employed=None)
    assert not holds({"fixed": {"employed": None}})


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("admited <= discharged", "Did you mean the column 'admitted'"),
        ("hight > 3", "'hight' is not a column. Did you mean 'height'?"),
        ("`x` > 3", "'x' is not a column"),
        ("1 < 2", "'1' is not a column"),
        ("sex = Mail", "not among the schema's values: 'Male', 'Female'. Did you mean 'Male'?"),
        ("ward = x", "not among the schema's values: 'surgery', 'may, be', 'Male', 'other'"),
        ("sex < Male", "has no order"),
        ("sex < ward", "no common order"),
        ("age <= sex", "'age' is integer and 'sex' is categorical, which cannot be compared"),
        ("age <= admitted", "cannot be compared"),
        ("age = old", "'old' is not a number"),
        ("admitted > 2020", "'2020' is not a date such as"),
        ("age > 120", "never holds: 'age' goes from 0 to 120"),
        ("age = 1.5", "never 1.5: its values are whole"),
        ("admitted < 2019-01-01", "never holds: 'admitted' goes from 2019-01-01 to 2024-12-31"),
        ("height = 1.5", "hardly any two rows share one"),
        ("height = wage", "hardly any two rows share one"),
        ("age = age", "compared with itself"),
        ("age is missing", "'age' is never missing"),
        ("age in [`sex`]", "a list holds values"),
        ({"forbid": {"x": 1}}, "'x' is not a column"),
        ({"forbid": {"sex": []}}, "an empty list"),
        ({"fixed": "age > 3"}, "gives one value to each column"),
        ({"fixed": "admitted = discharged"}, "gives values to columns"),
        ({"allow": {"sex": "Male"}}, "'allow' is not known here"),
        ({}, "A constraint is a statement"),
        ({"fixed": {}}, "A constraint is a statement"),
        (5, "A constraint is a statement"),
    ],
)  # fmt: skip
def test_problems_are_told(said, message):
    with pytest.raises(SchemaError, match=message) as caught:
        schema(said)
    assert "constraint 1" in str(caught.value)


def test_a_word_that_is_column_and_value_needs_quotes():
    columns = {"Male": Categorical(values=["x"]), "sex": Categorical(values=["Male", "x"])}
    with pytest.raises(SchemaError, match="'Male' is both a column and a value"):
        Schema(columns, constraints=["sex = Male"])
    for said in ("sex = 'Male'", "sex = `Male`"):
        Schema(columns, constraints=[said])


def test_all_problems_come_at_once():
    with pytest.raises(SchemaError) as caught:
        schema("age > 200", "x = y", "age >= 3", "age >= 3")
    assert [problem[:12] for problem in caught.value.problems] == [
        f"constraint {place}" for place in (1, 2, 4)
    ]
    with pytest.raises(SchemaError) as caught:
        Schema({"a": Integer(low=3, high=1)}, constraints=["a ="])
    assert len(caught.value.problems) == 2
    with pytest.raises(SchemaError, match="must be a list of statements"):
        Schema(COLUMNS, constraints="age > 3")


@pytest.mark.parametrize(
    "said",
    [
        ["age > 50", "age < 40"],
        ["admitted < seen", "seen < admitted"],
        ["age = wage", "wage is not missing", "wage < 10", "age > 20"],
        [{"fixed": {"sex": "Male"}}, {"fixed": {"sex": "Female"}}],
        [{"fixed": {"sex": "Male"}}, {"forbid": {"sex": "Male"}}],
        [{"fixed": {"sex": "Male", "pain": "none"}}, {"forbid": {"sex": "Male", "pain": "none"}}],
        [{"fixed": {"sex": "Male"}}, "age > 50 if sex = Male", "age < 40 if sex = Male"],
        [{"fixed": {"wage": None}}, "wage is not missing"],
        ["sex = Male", "ward = Male", "sex not in [Male]"],
    ],
)
def test_contradictions_are_seen(said):
    with pytest.raises(SchemaError, match="contradict each other. '.*': no value is left by `"):
        schema(*said)


def test_missing_values_can_resolve_what_looks_like_a_contradiction():
    bound = schema("wage > 50", "wage < 40")
    for wage in (None, 10.0, 45.0, 60.0):
        found = bound.check(pa.Table.from_pylist([ROW | {"wage": wage}]))
        assert any(found.constraints.values()) == (wage is not None)


def test_yaml_round_trip():
    read = Schema.parse(YAML)
    assert [str(each) for each in read.constraints] == [
        "start <= end",
        "age >= 18 if pregnant = yes",
        "forbid: sex = Male and pregnant = yes",
        "forbid: age < 12 and pregnant = yes",
        "fixed: sex = Female",
    ]
    assert Schema.parse(read.to_yaml()) == read
    assert Schema.from_dict(json.loads(json.dumps(read.to_dict()))) == read
    assert copy.deepcopy(read) == pickle.loads(pickle.dumps(read)) == read


def test_hard_values_survive_the_file(tmp_path):
    written = schema(
        {"forbid": {"ward": "may, be", "sex": "Male"}},
        {"fixed": {"pregnant": None, "ward": "other"}},
        "wage >= 0.1 if height > 1.25",
        {"forbid": {"age": {3, 1, 2}, "employed": True}},
    )
    written.write(tmp_path / "x.yaml")
    assert Schema.read(tmp_path / "x.yaml") == written
    assert Schema.read(tmp_path / "x.yaml").rules == written.rules


@pytest.mark.parametrize("empty", ["", "[]"])
def test_no_constraints(empty):
    text = "columns: {a: {type: boolean}}"
    assert Schema.parse(f"{text}\nconstraints: {empty}") == Schema.parse(text)
    assert "constraints" not in Schema.parse(text).to_dict()


def test_they_are_part_of_the_digest_and_of_subsets():
    plain, one = schema(), schema("age > 3")
    other = schema("age > 4")
    assert len({plain.digest, one.digest, other.digest}) == 3
    assert schema({"forbid": {"sex": "Male", "pregnant": "yes"}}) == schema(
        {"forbid": "sex = Male and  pregnant == yes"}
    )
    both = schema("admitted <= discharged", "age > 3")
    assert [str(each) for each in both.select(["age", "admitted"]).constraints] == ["age > 3"]
    assert both.with_label("sex").constraints == both.constraints
    assert both.with_constraints([]) == plain
    with pytest.raises(SchemaError, match="'pregnant' is not among|is not a column"):
        dataclasses.replace(schema("pregnant = no"), columns={"age": COLUMNS["age"]})


def test_without_constraints_the_digest_is_what_it_was():
    assert Schema({"a": Boolean()}).digest == (
        "36fe65c9b5e6ab3340a494fcb6ac3d7145be776b78d20cdbd72307e41e2fc605"
    )


def test_check_counts_the_rows_that_break_them():
    bound = schema("admitted <= discharged", "age >= 18 if employed = yes", "pain != none")
    rows = [
        ROW,
        ROW | {"discharged": datetime.date(2019, 5, 1)},
        ROW | {"discharged": None},
        ROW | {"age": 3, "discharged": datetime.date(2019, 5, 1)},
        ROW | {"sex": "?", "age": 3, "pain": "?"},
    ]
    found = bound.check(pa.Table.from_pylist(rows))
    assert found.constraints == {
        "admitted <= discharged": 2,
        "age >= 18 if employed = yes": 2,
        "pain != none": 0,
    }
    assert found.bad_rows == found.refused_rows == 1
    good = bound.check(pa.Table.from_pylist(rows[:4]))
    assert good.ok, "rows that break constraints fit the schema, and are fitted"
    assert good.describe().splitlines() == [
        "All 4 rows fit the schema.",
        "Rows that break constraints (used all the same; no sampled row will):",
        "  `admitted <= discharged`: 2",
        "  `age >= 18 if employed = yes`: 1",
    ]
    batches = [pa.Table.from_pylist([row]) for row in rows]
    assert bound.check(batches).constraints == found.constraints
    assert schema("age > 3").check(pa.Table.from_pylist(rows[:1])).describe() == (
        "All 1 rows fit the schema."
    )


def test_codes_of_many_values_are_found_at_once():
    values = [f"v{i}" for i in range(1000)]
    bound = Schema(
        {"a": Categorical(values=values, nullable=True)},
        constraints=[{"forbid": {"a": values[::2]}}],
    )
    codes = np.arange(1001)[:, None]
    (rule,) = bound.rules
    kept = rule.holds(ColumnValues.of(bound.columns, bound.layout.encoded(codes=codes)))
    assert kept.tolist() == [*(place % 2 == 1 for place in range(1000)), True]


@pytest.mark.parametrize("backwards", [False, True])
def test_a_long_chain_is_settled_in_a_few_passes(monkeypatch, backwards):
    from nacre.schema.constraints import domain

    seen, duties = [], domain._duties
    monkeypatch.setattr(domain, "_duties", lambda *given: seen.append(1) or duties(*given))
    columns = {f"c{i}": Integer(low=0, high=10) for i in range(200)}
    chain = [f"c{i} <= c{i + 1}" for i in range(199)]
    Schema(columns, constraints=[*(chain[::-1] if backwards else chain), "c0 = 10"])
    assert len(seen) <= 5 * 200
    with pytest.raises(SchemaError, match="contradict"):
        Schema(columns, constraints=[*chain[::-1], "c0 = 10", "c199 = 3"])


@pytest.mark.parametrize(
    "constraints",
    [[f"age != {i}" for i in range(1001)], [" and ".join(["age < 5"] * 20_000)]],
    ids=["many", "long"],
)
def test_more_than_can_be_checked_is_refused(constraints):
    with pytest.raises(SchemaError, match="1,000 statements"):
        Schema(COLUMNS, constraints=constraints)
