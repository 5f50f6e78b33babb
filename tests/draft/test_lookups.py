"""Look-up tables bought with noise: what is found, what is refused, what a schema then says."""

import dataclasses
import warnings

import numpy as np
import pyarrow as pa
import pytest

import nacre
from nacre.draft import buy_lookups, crossing, lookups
from nacre.schema import Boolean, Categorical, Integer, Ordinal, Real, Schema, SchemaError
from nacre.schema.facts.statement import parse

CODES = [f"{group}{place}" for group in "ABC" for place in range(4)]
SCHEMA = Schema(
    {
        "code": Categorical(values=CODES),
        "group": Categorical(values=["A", "B", "C"], other=True),
        "age": Integer(low=-6, high=28, step=2, nullable=True),
        "stage": Ordinal(values=["child", "adult"], nullable=True),
        "sold": Boolean(),
        "member": Boolean(nullable=True),
        "wage": Real(low=0, high=9, decimals=1),
    },
    label="sold",
)
BUDGET = {"epsilon": 2.0, "delta": 1e-6}
FACT = "group determined by code"


def table(rows=3000):
    rng = np.random.default_rng(0)
    code = rng.choice(CODES, rows)
    age = rng.integers(-3, 15, rows) * 2
    gone = rng.random(rows) < 0.2
    return pa.table(
        {
            "code": code,
            "group": [each[0] for each in code],
            "age": pa.array(age, mask=gone),
            "stage": pa.array(np.where(age < 18, "child", "adult"), mask=gone),
            "sold": rng.random(rows) < 0.4,
            "member": pa.array(code > "B", mask=code == "C3"),
            "wage": rng.random(rows),
        }
    )


def entries(schema, fact):
    return next(dict(each.table) for each in map(parse, schema.facts) if str(each) == fact)


def test_tables_are_found_and_written():
    facts = [FACT, "stage determined by age", "member determined by code"]
    bought = buy_lookups(table(), SCHEMA, facts, **BUDGET)
    assert entries(bought, FACT) == {code: code[0] for code in CODES}
    said = {"-6..16": "child", "18..28": "adult", "missing": "missing"}
    assert entries(bought, facts[1]) == said
    members = entries(bought, facts[2])
    assert members["C3"] == "missing" and members["A1"] == "false" and members["B0"] == "true"
    assert set(bought.check(table()).facts.values()) == {0}
    assert Schema.parse(bought.to_yaml()) == bought
    assert bought.columns == SCHEMA.columns and bought.label == "sold"


@pytest.mark.filterwarnings("ignore:Of the 4 values")  # no row has the group 'other'
def test_facts_that_build_on_each_other():
    schema = dataclasses.replace(SCHEMA, facts=[{FACT: {code: code[0] for code in CODES}}])
    bought = buy_lookups(table(), schema, "member determined by group", **BUDGET)
    assert [str(parse(fact)) for fact in bought.facts] == [FACT, "member determined by group"]
    assert entries(bought, "member determined by group")["A"] == "false"


def test_a_schema_file_will_do(tmp_path):
    SCHEMA.write(tmp_path / "s.yaml")
    assert buy_lookups(table(), tmp_path / "s.yaml", FACT, **BUDGET).releases


def test_bought_tables_compose_with_earlier_ones():
    once = buy_lookups(table(), SCHEMA, FACT, **BUDGET)
    twice = buy_lookups(table(), once, "stage determined by age", **BUDGET)
    assert twice.releases[0] == once.releases[0] and len(twice.releases) == 2
    assert [fact.bought for fact in twice.facts] == [1, 2]
    assert Schema.parse(twice.to_yaml()) == twice
    with pytest.raises(SchemaError, match="bought under add-remove"):
        buy_lookups(table(), once, "stage determined by age", adjacency="replace-one", **BUDGET)


def test_a_review_stays_on_record():
    reviewed = dataclasses.replace(SCHEMA, provenance="data", reviewed=True)
    bought = buy_lookups(table(), reviewed, FACT, **BUDGET)
    assert (bought.provenance, bought.reviewed, len(bought.releases)) == ("data", True, 1)
    assert bought.from_rows and Schema.parse(bought.to_yaml()) == bought
    with pytest.raises(SchemaError, match="number 1 of `releases`, is not there"):
        dataclasses.replace(bought, releases=())
    with pytest.raises(SchemaError, match="nobody has reviewed"):
        buy_lookups(table(), dataclasses.replace(reviewed, reviewed=False), FACT, **BUDGET)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (["grup determined by code"], "Did you mean 'group'"),
        (["sold determined by code"], "is the label"),
        ([FACT, "group determined by stage"], "already"),
        ([FACT, "code determined by group"], "in a circle"),
        ([FACT, FACT], "there twice|already"),
        (["code determined by code"], "follows from itself"),
        (["wage determined by code"], "has type real"),
        (["group determined by wage"], "ranges such as 18..64"),
        (["group = code"], "`group determined by code`"),
        ([{FACT: {"A1": "A"}}], "costs nothing"),
        ([], "No fact is given"),
    ],
)
def test_what_is_refused_before_a_row_is_read(facts, words):
    with pytest.raises(SchemaError, match=words):
        buy_lookups("there is no such file.csv", SCHEMA, facts, **BUDGET)


def test_columns_that_follow_from_others_already_are_refused():
    schema = dataclasses.replace(SCHEMA, facts=[{FACT: {code: code[0] for code in CODES}}])
    with pytest.raises(SchemaError, match="already"):
        buy_lookups("no file", schema, "group determined by stage", **BUDGET)


def test_long_tables_are_refused(monkeypatch):
    wide = {**SCHEMA.columns, "age": Integer(low=0, high=1000)}
    with pytest.raises(SchemaError, match="has 1,001 values"):
        buy_lookups("no file", Schema(wide), "group determined by age", **BUDGET)
    monkeypatch.setattr(lookups, "MOST_CELLS", 40)
    with pytest.raises(SchemaError, match="48 cells"):
        buy_lookups("no file", SCHEMA, FACT, **BUDGET)
    assert crossing.MOST_CELLS == 300_000


@pytest.mark.parametrize("budget", [{"epsilon": np.inf, "delta": 1e-6}, {"epsilon": 1, "delta": 0}])
def test_nothing_is_sold_without_noise(budget):
    with pytest.raises(ValueError):
        buy_lookups(table(), SCHEMA, FACT, **budget)


def test_what_was_counted_cannot_be_protected_later():
    bought = buy_lookups(table(), SCHEMA, FACT, **BUDGET)
    with pytest.raises(SchemaError, match="protect: the counts"):
        dataclasses.replace(bought, protect=["wage"])


def test_constraints_that_leave_no_group_are_refused_before_a_row_is_read():
    group = dataclasses.replace(SCHEMA.columns["group"], nullable=True)
    group = dataclasses.replace(group, values=(*group.values, "missing"))
    columns = {**SCHEMA.columns, "group": group}
    schema = Schema(columns, label="sold", constraints=["group is missing"])
    with pytest.raises(SchemaError, match="leave 'group' no value"):
        buy_lookups("there is no such file.csv", schema, FACT, **BUDGET)


def test_a_table_can_be_bought_again_and_both_count():
    once = buy_lookups(table(), SCHEMA, FACT, **BUDGET)
    again = buy_lookups(table(), dataclasses.replace(once, facts=()), FACT, **BUDGET)
    assert len(again.facts) == 1 and len(again.releases) == 2


def test_protected_columns_are_not_counted():
    schema = dataclasses.replace(SCHEMA, protect=["age+wage"])
    with pytest.raises(SchemaError, match="protects the distribution"):
        buy_lookups(table(), schema, FACT, **BUDGET)


@pytest.mark.filterwarnings("ignore:Of the 12 values")
def test_groups_that_constraints_exclude_are_not_in_the_table():
    schema = SCHEMA.with_constraints(["group in [A, B]"])
    bought = buy_lookups(table(), schema, FACT, **BUDGET)
    assert set(entries(bought, FACT).values()) <= {"A", "B"}


def test_a_contradiction_that_shows_late_hands_over_what_was_paid_for():
    # The second rule says nothing of 'group' until the table does.
    schema = SCHEMA.with_constraints(["code = B0", "wage < 3 if group = B", "wage > 5"])
    with pytest.raises(SchemaError, match="contradict") as caught:
        buy_lookups(table(), schema, FACT, **BUDGET)
    assert "B0: B" in str(caught.value) and "releases:" in str(caught.value)


def test_codes_that_noise_hides_are_counted_aloud():
    with pytest.warns(UserWarning, match=r"Of the 12 values of 'code', \d+ did not stand out"):
        buy_lookups(table(50), SCHEMA, FACT, epsilon=0.05, delta=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        buy_lookups(table(), SCHEMA, FACT, **BUDGET)


@pytest.mark.filterwarnings("ignore")
def test_every_synthetic_row_keeps_a_bought_table():
    bought = buy_lookups(table(), SCHEMA, [FACT, "stage determined by age"], **BUDGET)
    model = nacre.fit(table(), bought, epsilon=4, delta=1e-5)
    drawn = model.sample_arrow(500, seed=0)
    assert set(bought.check(drawn).facts.values()) == {0}


@pytest.mark.filterwarnings("ignore:Of the 6 values")  # no entry can say what a gap leads to
def test_names_that_could_be_something_else_are_read_as_written():
    codes = ["a,b", "1..3", "missing", "x y", "no", None]
    groups = ["u,v", "missing", "1", "null", "1", None]
    columns = {
        "my code": Categorical(values=codes[:-1], nullable=True),
        "the group": Categorical(values=["u,v", "missing", "1", "null"], nullable=True),
        "there": Boolean(),
    }
    rows = {"my code": codes * 300, "the group": groups * 300, "there": [True] * 1800}
    fact = "`the group` determined by `my code`"
    bought = buy_lookups(pa.table(rows), Schema(columns), fact, **BUDGET)
    assert entries(bought, fact) == dict(zip(codes[:-1], groups[:-1], strict=True))
    assert set(bought.check(pa.table(rows)).facts.values()) == {0}
    assert Schema.parse(bought.to_yaml()) == bought
    with pytest.raises(SchemaError, match="may be missing"):  # and no entry could say of it
        buy_lookups("no file", Schema(columns), "there determined by `my code`", **BUDGET)
