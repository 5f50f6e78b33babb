"""Times of day: read from every form, written as they came, ordered and compared as steps."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from nacre.rows import open_source
from nacre.rows.differences import Differences
from nacre.schema import Categorical, Datetime, Integer, Schema, SchemaError, Time
from nacre.schema.columns.column import NOT_A_TIME
from nacre.schema.columns.timed import UNITS
from nacre.schema.written import value_at

HALF_PAST_EIGHT = 510


def read(cells, column=None):
    """The ticks of cells that all fit."""
    reading = (column or Time()).read(cells if isinstance(cells, pa.Array) else pa.array(cells))
    assert not any(
        where.any() for part in (reading.refused, reading.changed) for where in part.values()
    )
    return reading.values.tolist()


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(["08:30", "8:30", " 08:30:00 ", "08:30:00.000000001"]),
        pa.array(["08:30"]).dictionary_encode(),
        pa.array(["08:30"], pa.large_string()),
        pa.array([b"08:30"]),
        pa.array([datetime.time(8, 30), datetime.time(8, 30, 59, 999_999)]),
        pa.array([HALF_PAST_EIGHT * 60], pa.time32("s")),
        pa.array([HALF_PAST_EIGHT * 60_000], pa.time32("ms")),
        pa.array([HALF_PAST_EIGHT * 60 * 10**9], pa.time64("ns")),
    ],
)
def test_every_form_is_read(cells):
    assert read(cells) == [HALF_PAST_EIGHT] * len(cells)


@pytest.mark.parametrize("cell", ["24:00", "8", "08:60", "2024-01-01 08:30", "08:30Z", "0830", "x"])
def test_what_is_no_time_of_day_does_not_fit(cell):
    schema = Schema({"at": Time(), "gap": Time(nullable=True)})
    found = schema.check(pa.table({"at": [cell], "gap": [cell]}))
    assert found.columns == {"at": {NOT_A_TIME: 1}, "gap": {NOT_A_TIME: 1}}
    assert "Write them as 08:30 or 08:30:00." in found.describe()
    encoded = schema.encode(pa.table({"at": ["08:30"], "gap": [cell]}))
    assert encoded.valid.all() and encoded.missing("gap").all()


def test_one_bad_cell_does_not_touch_the_others():
    reading = Time(low="08:00", nullable=True).read(pa.array(["08:30", "x", "", None, "07:00"]))
    assert reading.values.tolist() == [30, 0, 0, 0, 0]
    assert reading.missing.tolist() == [False, True, True, True, False]


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame, pl.DataFrame])
def test_frames_of_python_times_are_read(kind):
    schema = Schema({"at": Time(nullable=True)})
    cells = [datetime.time(8, 30), None, datetime.time(23, 59, 30)]
    (batch,) = open_source(kind({"at": cells}), schema).batches()
    assert schema.encode(batch).ticks[:, 0].tolist() == [HALF_PAST_EIGHT, 0, 1439]


def test_the_whole_day_is_the_default():
    assert (Time().low, Time().high, Time().ticks) == ("00:00", "23:59", 1439)
    assert Time(step="1s").high == "23:59:59"
    assert Time(low="00:30", step="1h").high == "23:30"
    assert Time() == Time(low=datetime.time(0), high="23:59", step="1min")


def test_decoded_times_are_those_that_were_encoded():
    columns = {
        "minute": Time(low="08:00", high="18:00"),
        "quarter": Time(step="15min", nullable=True),
        "second": Time(step="1s"),
        "fine": Time(low="00:00", high="00:01", step="250ms"),
        "long": Time(format="%H:%M:%S"),
        "coded": Time(missing=("never",)),
    }
    schema = Schema(columns)
    table = pa.table(
        {
            "minute": ["08:00", "18:00"],
            "quarter": ["23:45", None],
            "second": ["00:00:01", "23:59:59"],
            "fine": ["00:00:00.250", "00:01:00"],
            "long": ["08:30:00", "09:00:00"],
            "coded": ["08:30", "never"],
        }
    )
    assert schema.check(table).ok
    found = schema.decode(schema.encode(table))
    assert found.schema.types[:4] == [pa.time32("s")] * 3 + [pa.time64("us")]
    assert found["minute"].to_pylist() == [datetime.time(8), datetime.time(18)]
    assert found["quarter"].to_pylist() == [datetime.time(23, 45), None]
    assert found["fine"].to_pylist()[0] == datetime.time(microsecond=250_000)
    assert found["long"].to_pylist() == ["08:30:00", "09:00:00"]
    assert found["coded"].to_pylist() == ["08:30", "never"]
    assert schema.encode(found).ticks.tolist() == schema.encode(table).ticks.tolist()
    assert Schema.parse(schema.to_yaml()) == schema


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"low": "x"}, "low='x' must be a time of day such as 08:30"),
        ({"high": "24:00"}, "high='24:00' must be a time of day"),
        ({"low": datetime.time(8, tzinfo=datetime.UTC)}, "must be a time of day"),
        ({"step": "5"}, "step='5' must be a number and a unit, such as 1h, 15min"),
        ({"low": "22:00", "high": "06:00"}, "low=22:00 must be before high=06:00.*beyond midnight"),
        ({"low": "08:00", "high": "08:30", "step": "1h"}, "step=1h is longer than the time"),
        ({"format": "%H.%M"}, "format='%H.%M' must be %H:%M or %H:%M:%S"),
        ({"format": "%H:%M", "step": "1s"}, "format=%H:%M has no seconds"),
    ],
)
def test_problems_say_what_to_do(facts, message):
    with pytest.raises(SchemaError, match=message):
        Schema({"at": Time(**facts)})


def test_a_document_needs_no_quotes_and_no_bounds():
    text = "nacre: 1\ncolumns:\n  a: {type: time, low: 8:30, high: 18:30}\n  b: {type: time}"
    assert Schema.parse(text).columns == {"a": Time(low="08:30", high="18:30"), "b": Time()}


def test_constraints_compare_times_of_day():
    schema = Schema(
        {
            "opens": Time(),
            "closes": Time(step="15min", nullable=True),
            "kind": Categorical(values=("counter", "web")),
        },
        constraints=["opens <= closes", "08:00 <= opens < 18:00 if kind = counter"],
    )
    table = pa.table(
        {
            "opens": ["09:00", "07:59", "12:00", "18:00"],
            "closes": ["08:45", None, "12:00", "18:15"],
            "kind": ["web", "counter", "counter", "counter"],
        }
    )
    assert list(schema.check(table).constraints.values()) == [1, 2]
    assert Differences.of(schema).stated  # it is modeled as so long after it opens
    others = {**schema.columns, "day": Datetime(low="2024-01-01", high="2024-12-31")}
    with pytest.raises(SchemaError) as error:
        Schema(others, constraints=["opens < day", "opens > 25:00", "closes > 23:50"])
    first, second, third = error.value.problems
    assert "'opens' is time and 'day' is datetime, which cannot be compared" in first
    assert "'25:00' is not a time of day such as 08:30" in second
    assert "'closes' goes from 00:00 to 23:45" in third


def test_facts_count_in_the_unit_that_they_say():
    columns = {
        "opens": Time(low="00:00", high="12:00"),
        "closes": Time(),
        "stay": Integer(low=0, high=600),
        "day": Datetime(low="2024-01-01", high="2024-12-31"),
    }
    schema = Schema(columns, facts=["closes = opens + stay minutes"])
    rows = {"opens": ["08:30", "08:30"], "closes": ["10:00", "10:01"], "stay": [90, 90]}
    table = pa.table({**rows, "day": ["2024-01-01"] * 2})
    assert schema.check(table).facts == {"closes = opens + stay minutes": 1}
    for fact, message in {
        "closes = opens + stay": "say what `stay` counts: `stay minutes`",
        "stay = closes - opens": "say what `stay` counts: `stay minutes`",
        "stay minutes = closes - day": "'day' is a date and 'closes' a time of day",
        "closes = opens + opens": "'opens' is a time of day, and this adds up to neither",
        "closes = stay": "'closes' is a time of day, and this adds up to a number",
    }.items():
        with pytest.raises(SchemaError, match=message):
            Schema(columns, facts=[fact])


def test_round_times_and_names():
    assert Time(low="08:05", step="5min").rounds == ((3, 2), (6, 5), (12, 11))
    assert (60, 0) in Time().rounds and (15, 0) in Time().rounds
    assert Time().stretch == 30
    names = [value_at(column, 0.5) for column in (Time(high="12:00"), Time(step="1s"))]
    assert names == ["06:00", "12:00:00"]
    hours = Time(low="08:00", step="1h").moments(np.array([0, 1])) / UNITS["h"]
    assert hours.tolist() == [8, 9]
