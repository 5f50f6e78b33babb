"""Facts that add days to dates and take dates from dates: exact, and refused with what to do."""

import datetime
import re

import numpy as np
import pyarrow as pa
import pytest

from nacre.rows.completion import Completion
from nacre.schema import Schema, SchemaError
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
