"""Times of day in columns of their own: exact, row by row, and found from public facts alone."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import NacreError
from nacre.rows import TableEncoder
from nacre.rows.times import Times, find_times, part_of
from nacre.schema import Boolean, Datetime, Integer, Schema
from nacre.schema.constraints.statement import Word

SEEN = Datetime(low="2024-01-01T08:30", high="2024-12-30T17:00", step="1min", nullable=True)


def table(*seen):
    return pa.record_batch({"seen": pa.array(seen)})


def test_a_time_is_its_day_and_its_time_of_day():
    encoder = TableEncoder.of(Schema({"seen": SEEN}))
    day, time = encoder.layout.numbers
    assert (day.name, day.ticks, time.name, time.ticks) == (
        "seen",
        364,
        "seen, time of day",
        1439,
    )
    found = encoder.encode(table("2024-01-01 08:30", "2024-02-01 00:01", None)).rows
    assert found.numbers.tolist() == [[0, 510], [31, 1], [0, 0]]
    assert found.codes.tolist() == [[0, 0], [0, 0], [1, 1]]  # both are missing, and say so


@given(
    st.integers(0, 86_399),
    st.sampled_from(["1s", "1min", "7min", "90min", "1h", "12h"]),
    st.integers(10, 800),
    st.integers(0, 2**32 - 1),
)
def test_what_is_split_is_joined_again(late, step, days, seed):
    low = np.datetime64("2023-03-01T00:00:00") + np.timedelta64(late, "s")
    high = low + np.timedelta64(days + 1, "D")
    column = Datetime(low=str(low), high=str(high), step=step, nullable=True)
    schema, rng = Schema({"a": Boolean(), "t": column}), np.random.default_rng(seed)
    if not find_times(schema):
        assert step == "7min"  # a day is no whole number of them
        return
    ticks = rng.integers(0, column.ticks, (50, 1), endpoint=True)
    codes = rng.integers(0, 2, (50, 2))
    ticks[codes[:, 1] == 1] = 0
    rows, times = schema.layout.encoded(ticks, codes), Times(schema, ("t",))
    split = times.split(rows)
    assert (split.ticks <= split.layout.limits).all()
    back = times.join(split, rng)
    assert np.array_equal(back.ticks, rows.ticks)
    assert np.array_equal(back.codes, rows.codes)


def test_whatever_is_drawn_lies_within_the_bounds():
    schema = Schema({"seen": SEEN})
    times, rng = Times(schema, ("seen",)), np.random.default_rng(0)
    layout = times.modeled.layout
    ticks = rng.integers(0, layout.limits, (5000, 2), endpoint=True)
    ticks[:2000, 0] = np.repeat([0, layout.limits[0]], 1000)
    codes = np.stack([np.zeros(5000), rng.random(5000) < 0.3], axis=1)  # days without a time
    found = times.join(layout.encoded(ticks, codes), rng)
    assert found.ticks.min() >= 0
    assert found.ticks.max() <= schema.layout.limits[0]
    there = codes[:, 1] == 0
    _, time = times._lines["seen"].split(found.ticks[:, 0])
    assert np.array_equal(time[there], ticks[there, 1])  # a day may move, a time does not
    assert set(time[~there]) <= set(ticks[there, 1])


@pytest.mark.parametrize(
    ("column", "split"),
    [
        (SEEN, True),
        (Datetime(low="2024-01-01", high="2024-12-31"), False),  # days
        (Datetime(low="2024-01-01", high="2024-01-05", step="1min"), False),  # a few of them
        (Datetime(low="2024-01-01", high="2024-12-31", step="7h"), False),  # another time each day
        (Integer(low=0, high=10**6), False),
    ],
)
def test_which_columns_are_split_follows_from_the_schema(column, split):
    columns = {"a": Boolean(), "t": column}
    assert find_times(Schema(columns)) == (("t",) if split else ())
    assert find_times(Schema(columns, label="t")) == ()
    assert find_times(Schema(columns, protect=["t"])) == ()
    assert find_times(Schema({**columns, part_of("t"): Boolean()})) == ()


def test_a_file_cannot_split_what_has_no_times():
    said = TableEncoder.of(Schema({"seen": SEEN, "n": Integer(low=0, high=9)})).to_dict()
    assert TableEncoder.from_dict(said).times == ("seen",)
    assert TableEncoder.from_dict({**said, "times": []}).layout.numbers[0].ticks > 500_000
    with pytest.raises(NacreError, match="'n' has no times of day"):
        TableEncoder.from_dict({**said, "times": ["n"]})
    for times in ("seen", None, {"seen": 1}, ["seen", "seen"]):
        with pytest.raises(NacreError):
            TableEncoder.from_dict({**said, "times": times})


def test_a_night_is_no_column_of_days():
    """Less than a day, across midnight: days and times of it cannot be put together at will."""
    night = Datetime(low="2024-01-01T22:00", high="2024-01-02T06:00", step="1min")
    said = TableEncoder.of(Schema({"seen": night, "a": Boolean()})).to_dict()
    with pytest.raises(NacreError, match="'seen' has no times of day"):
        TableEncoder.from_dict({**said, "times": ["seen"]})


def test_a_part_has_no_name_that_is_taken():
    """By a column that facts determine, too, which methods do not see."""
    schema = Schema(
        {"seen": SEEN, "a": Boolean(), part_of("seen"): Boolean()},
        facts=[
            {
                f"{Word.of_column(part_of('seen'))} determined by a": {
                    "true": "false",
                    "false": "true",
                }
            }
        ],
    )
    assert TableEncoder.of(schema).times == ()


VISITS = Schema(
    {
        "booked": Datetime(low="2024-01-01", high="2024-12-30", nullable=True),
        "arrival": Datetime(low="2024-01-01", high="2025-12-30", step="1min", nullable=True),
    },
    constraints=["booked <= arrival"],
)


def test_a_time_after_a_date_is_so_many_days_and_its_time_of_day():
    encoder = TableEncoder.of(VISITS)
    assert [str(each) for each in encoder.differences] == ["arrival >= booked"]
    assert encoder.times == ("arrival",)
    _, days, time = encoder.layout.numbers
    assert (days.name, time.name, time.ticks) == ("arrival", "arrival, time of day", 1439)
    assert days.zero == 0  # as of any number that counts: cells are finer where waits are short
    rows = pa.record_batch(
        {
            "booked": pa.array(["2024-02-01", "2024-02-01", None, "2024-03-01"]),
            "arrival": pa.array(["2024-02-01 08:30", "2024-02-11 23:59", "2024-01-03 00:01", None]),
        }
    )
    found = encoder.encode(rows).rows
    assert found.numbers.tolist()[:3] == [[31, 0, 510], [31, 10, 1439], [0, 2, 1]]
    drawn = encoder.layout.encoded(found.numbers, found.codes)
    back = encoder.decode(encoder.settle(drawn, np.random.default_rng(0))).to_pylist()
    assert [str(row["arrival"]) for row in back] == [
        "2024-02-01 08:30:00",
        "2024-02-11 23:59:00",
        "2024-01-03 00:01:00",
        "None",
    ]
    again = TableEncoder.from_dict(encoder.to_dict())
    assert again == encoder and again.layout == encoder.layout


@pytest.mark.parametrize(
    ("booked", "constraint"),
    [
        ({"step": "1min"}, "booked <= arrival"),  # from a time on, minutes tell no time of day
        ({"low": "2024-01-01T06:00"}, "booked <= arrival"),
        ({}, "booked < arrival"),  # counted from a minute after midnight
    ],
)
def test_a_distance_from_no_midnight_tells_no_time_of_day(booked, constraint):
    anchor = Datetime(**{"low": "2024-01-01", "high": "2024-12-30T06:00", **booked})
    if not booked:
        anchor = Datetime(low="2024-01-01", high="2024-12-30")
    schema = Schema(
        {"booked": anchor, "arrival": VISITS.columns["arrival"]}, constraints=[constraint]
    )
    encoder = TableEncoder.of(schema)
    assert [each.column for each in encoder.differences] == ["arrival"]
    assert "arrival" not in encoder.times


@pytest.mark.parametrize("nullable", [True, False])
def test_times_before_a_date_are_split_unless_it_may_be_missing(nullable):
    # Beside a missing date they would be counted back from the last moment, which is no midnight.
    due = Datetime(low="2024-01-01", high="2024-12-30", nullable=nullable)
    last = "2024-12-30T17:00"
    arrival = Datetime(low="2024-01-01", high=last, step="1min", nullable=nullable)
    schema = Schema({"due": due, "arrival": arrival}, constraints=["arrival <= due"])
    encoder = TableEncoder.of(schema)
    assert [str(each) for each in encoder.differences] == ["arrival <= due"]
    assert encoder.times == (() if nullable else ("arrival",))
