"""Facts that add days to dates and take dates from dates: exact, and refused with what to do."""

import dataclasses
import datetime
import re

import numpy as np
import pyarrow as pa
import pytest

from nacre.rows.completion import Completion
from nacre.schema import Categorical, Datetime, Integer, Ordinal, Real, Schema, SchemaError
from nacre.schema.constraints.condition import ColumnValues

TEXT = """
nacre: 1
columns:
  arrival: {type: datetime, low: 2024-01-01, high: 2024-12-31, nullable: true}
  nights: {type: integer, low: 0, high: 30}
  departure: {type: datetime, low: 2024-01-01, high: 2025-01-10, nullable: true}
  stay: {type: integer, low: 0, high: 40, nullable: true}
  start: {type: datetime, low: 2400-01-01T00:00, high: 2400-01-02T23:45, step: 15min}
  end: {type: datetime, low: 2400-01-01T00:00, high: 2400-01-04T00:00, step: 15min}
  hours: {type: real, low: -50, high: 100, decimals: 2}
  about: {type: integer, low: -2, high: 4}
facts:
  - departure = arrival + nights
  - stay = departure - arrival
  - hours = 24 * end - 24 * start
  - about = end - start within 1
"""
GOOD = {
    "arrival": datetime.date(2024, 2, 28),
    "nights": 2,
    "departure": datetime.date(2024, 3, 1),
    "stay": 2,
    "start": datetime.datetime(2400, 1, 1, 10),
    "end": datetime.datetime(2400, 1, 2, 12, 15),
    "hours": 26.25,
    "about": 2,
}


@pytest.fixture(scope="module")
def schema():
    return Schema.parse(TEXT)


def table(schema, *changes):
    rows = [GOOD | change for change in changes]
    return pa.table({name: pa.array([row[name] for row in rows]) for name in schema.names})


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({}, set()),
        ({"arrival": None, "departure": None, "stay": None}, set()),
        ({"nights": 3}, {"departure = arrival + nights"}),
        ({"departure": None, "stay": None}, {"departure = arrival + nights"}),
        ({"stay": 1}, {"stay = departure - arrival"}),
        ({"hours": 26.24}, {"hours = 24 * end - 24 * start"}),
        ({"about": 3}, {"about = end - start within 1"}),
    ],
)
def test_rows_that_keep_and_break_them(schema, change, broken):
    found = schema.check(table(schema, change))
    assert found.ok
    assert {text for text, count in found.facts.items() if count} == broken


def test_what_follows_is_left_out_and_computed_again(schema):
    completion = Completion(schema)
    assert completion.modeled.names == ("arrival", "nights", "start", "end")
    late = {"arrival": datetime.date(2024, 12, 31), "nights": 11, "departure": None, "stay": None}
    gone = {"arrival": None, "departure": None, "stay": None}
    rows = schema.encode(table(schema, {}, gone, late))
    found = completion.complete(
        completion.drop(rows), lambda each: each, np.random.default_rng(0), None
    )
    assert found.valid.tolist() == [True, True, False]  # 2025-01-11 is beyond its bounds
    again = schema.decode(found).slice(0, 2).to_pylist()
    assert [row["departure"] for row in again] == [GOOD["departure"], None]
    assert [row["stay"] for row in again] == [2, None]
    assert [row["hours"] for row in again] == [26.25, 26.25]
    view = ColumnValues.of(schema.columns, found)
    assert all(fact.holds(view)[:2].all() for fact in schema.bound_facts)


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        (
            "departure = arrival + start",
            "'arrival', 'start' are dates, and this adds up to neither",
        ),
        ("nights = departure * arrival", "a date is not multiplied by a column"),
        ("nights = arrival + 3", "'nights' is integer, and this adds up to a date"),
        ("departure = nights + 3", "'departure' is a date, and this adds up to a number"),
        ("departure = arrival - start + nights", "'departure' is a date, and this adds up to a"),
        ("departure = arrival + nights within 2%", "within 1`, in days"),
        ("about = end - start", "may lie between two values of 'about'"),
        ("departure = arrival + 0.5", "may lie between two values of 'departure'"),
        ("nights = end - departure", "set `nullable: true`"),
        ("departure = arrival + 1000", "never lies within the bounds of 'departure'"),
    ],
)
def test_what_is_wrong_is_said(schema, fact, said):
    with pytest.raises(SchemaError) as error:
        Schema(schema.columns, facts=[fact])
    assert said in str(error.value)
    assert "Use a constraint" not in str(error.value)


def test_a_contradiction_with_a_constraint_is_told(schema):
    with pytest.raises(SchemaError, match="contradict each other"):
        Schema(
            {
                **schema.columns,
                "arrival": schema.columns["start"],
                "departure": schema.columns["end"],
            },
            facts=["departure = arrival + nights"],
            constraints=["departure < arrival"],
        )


def test_the_tolerance_that_an_error_proposes_is_taken():
    text = """
    nacre: 1
    columns:
      a: {type: datetime, low: 2024-01-01T00:00, high: 2024-01-09T00:00, step: 1h}
      b: {type: datetime, low: 2024-01-01T00:00, high: 2024-01-12T00:00, step: 1h}
      n: {type: real, low: 0, high: 2, decimals: 3}
    facts: [%s]
    """
    with pytest.raises(SchemaError, match="which rounds it") as refused:
        Schema.parse(text % "b = a + n").require_usable()
    within = re.search("`(within [^`]*)`, which rounds it", str(refused.value)).group(1)
    Schema.parse(text % f"b = a + n {within}").require_usable()


@pytest.mark.parametrize("century", [1600, 1900])
def test_rows_a_second_beyond_a_tolerance_break_a_fact_of_dates(century):
    half = 0.5 / 86_400
    schema = Schema.parse(f"""
    nacre: 1
    columns:
      a: {{type: datetime, low: {century}-01-01T00:00, high: {century + 90}-01-01T00:00, step: 1s}}
      b: {{type: datetime, low: {century}-01-01T00:00, high: {century + 99}-01-01T00:00, step: 1s}}
      n: {{type: real, low: 0, high: 1, decimals: 5}}
    facts: [b = a + n within {half}]
    """)
    (fact,) = schema.bound_facts
    days, rng = np.arange(0, 90 * 365, 7), np.random.default_rng(0)
    start = np.datetime64(f"{century}-01-01T00:00:00", "s")
    begin = start + (days * 86_400 + rng.integers(0, 86_400, len(days))).astype("timedelta64[s]")
    later = np.rint(rng.random(len(days)) * 1e5) / 1e5
    seconds = np.rint(later * 86_400).astype("timedelta64[s]")

    def view(off):
        table = {"a": begin, "b": begin + seconds + np.timedelta64(off, "s"), "n": later}
        return ColumnValues.of(schema.columns, schema.encode(pa.table(table)))

    assert fact.holds(view(0)).all()
    assert not fact.holds(view(2)).any()
    assert fact.compute(view(0), rng).possible.all()


# ----- units

MINUTE = {"low": "2024-01-01", "step": "1min"}
VISITS = {
    "arrival": Datetime(high="2024-12-31", **MINUTE),
    "stay": Integer(low=0, high=1400),
    "discharge": Datetime(high="2025-01-02", **MINUTE),
    "hours": Real(low=0, high=24, decimals=1),
    "fee": Ordinal(values=["120", "200", "350"]),
    "lab": Categorical(values=["0", "85"]),
    "cost": Real(low=0, high=4000, decimals=2),
}
UNITS = [
    "discharge = arrival + stay minutes",
    "hours hours = discharge - arrival within 3 minutes",
    "cost = fee + 1.75 * stay + lab",  # numbers of a list add up, too
]


def test_numbers_count_the_unit_behind_them():
    schema = Schema(VISITS, facts=UNITS)
    assert Schema.parse(schema.to_yaml()) == schema
    assert [str(fact) for fact in schema.facts] == UNITS
    rows = {
        "arrival": ["2024-02-28 23:30", "2024-02-28 23:30", "2024-01-01 00:00"],
        "stay": [45, 46, 90],
        "discharge": ["2024-02-29 00:15", "2024-02-29 00:15", "2024-01-01 01:30"],
        "hours": [0.8, 0.8, 1.6],
        "fee": ["350", "350", "120"],
        "lab": ["85", "0", "0"],
        "cost": [513.75, 430.51, 277.5],
    }
    assert list(schema.check(pa.table(rows)).facts.values()) == [1, 1, 1]
    completion, rng = Completion(schema), np.random.default_rng(0)
    assert completion.modeled.names == ("arrival", "stay", "fee", "lab")
    again = completion.complete(
        completion.drop(schema.encode(pa.table(rows))), lambda each: each, rng, None
    )
    found = schema.decode(again).to_pydict()
    assert found["discharge"][1] == datetime.datetime(2024, 2, 29, 0, 16)
    assert found["cost"] == [513.75, 430.5, 277.5]
    assert found["hours"][2] == 1.5


@pytest.mark.parametrize(
    ("fact", "same"),
    [
        ("discharge = arrival + stay min", "discharge = arrival + stay minutes"),
        ("discharge = arrival + 1 Hour", "discharge = arrival + 1 hours"),
        ("stay minutes = discharge - arrival", "stay minutes = discharge - arrival"),
        ("discharge = arrival + stay days", "discharge = arrival + stay days"),
    ],
)
def test_a_unit_has_one_spelling(fact, same):
    assert str(Schema(VISITS, facts=[fact]).facts[0]) == same


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("discharge = arrival + stay mins", "write `minutes` instead of `mins`"),
        ("discharge = arrival + stay minuts", "Did you mean 'minutes'?"),
        ("discharge = arrival + stay months", "a month has no fixed length"),
        ("discharge = arrival + stay / 1440", "there is no `/`"),
        ("discharge = arrival + stay/1440", "there is no `/`"),
        ("discharge = arrival + 1 minute * stay", "a unit stands behind the whole product"),
        ("discharge = arrival + minutes(stay)", "discharge = arrival + stay minutes"),
        ("discharge = arrival + 0.0007 * stay", "if it counts something else, say so behind it"),
        ("discharge = arrival + stay minutes + 1", "say what `1` counts, too: `1 days`"),
        ("discharge minutes = arrival + stay", "'discharge' is a date, and a unit stands behind"),
        ("stay = discharge - arrival minutes", "`stay minutes = ...`"),
        ("stay = discharge - arrival in minutes", "`stay minutes = end - start`"),
        ("hours hours = stay", "say what `stay` counts, too"),
        ("hours = stay minutes", "say what 'hours' counts, too"),
        ("cost = fee + 1.75 stay", "`stay` cannot stand there"),
        ("lab = cost - fee", "'lab' is categorical"),
    ],
)
def test_other_spellings_are_told_apart(fact, said):
    with pytest.raises(SchemaError) as error:
        Schema(VISITS, facts=[fact])
    assert said in str(error.value)
    assert "Put a value" not in str(error.value)


def test_a_check_asks_whether_days_are_meant():
    schema = Schema({name: VISITS[name] for name in ("arrival", "stay", "discharge")})
    rows = pa.table(
        {"arrival": ["2024-02-28 23:30"], "stay": [45], "discharge": ["2024-02-29 00:15"]}
    )
    asked = "`stay` counts days there; if it counts something else"
    for fact, hint in (("stay", True), ("stay minutes", False), ("stay hours", False)):
        stated = dataclasses.replace(schema, facts=[f"discharge = arrival + {fact}"])
        assert (asked in stated.check(rows).describe()) == hint
