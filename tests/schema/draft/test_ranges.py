"""Ranges of numbers in one group: offered where they are clearly narrower, and name nobody."""

import datetime

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.schema import Datetime, Integer, Real, Time
from nacre.schema.draft.outward import beyond

N = 3000


def visits(seed=0, **changed):
    """Counters are open from 8 to 18; web and phone never close."""
    rng = np.random.default_rng(seed)
    channel = rng.choice(["counter", "web", "phone"], N, p=[0.3, 0.4, 0.3])
    minute = np.where(channel == "counter", rng.integers(480, 1080, N), rng.integers(0, 1440, N))
    columns = {"channel": channel, "minute": minute, "code": rng.integers(0, 50, N)}
    return pd.DataFrame(columns | changed)


def offered(frame, **options):
    found = nacre.draft(frame, **options)
    return [each for each in found.suggested.constraints if " if " in each]


def test_a_narrower_range_is_offered_rounded_outward_and_holds():
    assert offered(visits()) == ["450 <= minute <= 1100 if channel = counter"]
    found = nacre.draft(visits())
    assert "#   - 450 <= minute <= 1100 if channel = counter" in found.to_yaml()
    schema = nacre.Schema(found.schema.columns, constraints=found.suggested.constraints)
    assert list(schema.check(visits().pipe(arrow)).constraints.values()) == [0]


def arrow(frame):
    import pyarrow as pa

    return pa.Table.from_pandas(frame)


def test_a_bound_that_many_rows_hold_is_said_as_it_is():
    frame = visits()
    counter = np.flatnonzero(frame["channel"] == "counter")
    frame.loc[counter[:12], "minute"] = 480
    assert offered(frame) == ["480 <= minute <= 1100 if channel = counter"]


def test_one_end_is_said_if_the_other_says_nothing():
    rng = np.random.default_rng(1)
    ticket = rng.choice(["adult", "senior"], N, p=[0.8, 0.2])
    age = np.where(ticket == "senior", rng.integers(65, 91, N), rng.integers(0, 91, N))
    assert offered(pd.DataFrame({"ticket": ticket, "age": age})) == ["age >= 65 if ticket = senior"]


def test_dates_and_times_of_day_are_offered_too():
    frame = visits()
    minute = frame["minute"]
    frame["at"] = [datetime.time(m // 60, m % 60) for m in minute]
    days = np.where(frame["channel"] == "phone", minute % 200, minute)
    frame["day"] = pd.Timestamp("2020-01-10") + pd.to_timedelta(days, "D")
    found = offered(frame.drop(columns="minute"))
    assert "07:30 <= at <= 18:00 if channel = counter" in found
    assert "day <= 2020-07-31 if channel = phone" in found


def test_what_is_only_a_little_narrower_or_luck_is_not_offered():
    frame = visits()
    wide = np.where(frame["channel"] == "counter", 300 + frame["code"] * 22, frame["minute"])
    assert not offered(visits(minute=wide))  # three quarters of the day
    few = frame["channel"].where(np.arange(N) >= 60, "fax")  # sixty rows of all kinds
    assert not offered(visits(channel=few, minute=np.random.default_rng(2).integers(0, 1440, N)))
    tail = np.random.default_rng(3).lognormal(5, 2, N).round().astype(int)
    assert not offered(visits(minute=tail))


def test_one_row_beside_it_is_enough_to_leave_it_out():
    frame = visits()
    frame.loc[frame.index[frame["channel"] == "counter"][0], "minute"] = 3
    assert not offered(frame)


def test_what_a_fact_says_is_not_offered_again():
    frame = visits(minute=visits()["minute"] // 10)
    frame["double"] = frame["minute"] * 2
    frame["half"] = np.where(frame["minute"] < 72, "morning", "evening")
    frame["same"] = frame["channel"]
    facts = nacre.draft(frame).suggested.facts
    assert "half determined by" in str(facts) and "double" in str(facts)
    found = offered(frame)
    assert len(found) == 1 and "minute" in found[0] and "= counter" in found[0]


def test_at_most_a_few_are_offered():
    rng = np.random.default_rng(0)
    band = rng.integers(0, 10, N)
    columns = {f"x{i}": band * 10_000 + rng.integers(0, 10_000, N) for i in range(8)}
    frame = pd.DataFrame({"band": [f"b{each}" for each in band], **columns})
    found = offered(frame)
    assert 6 < len(found) <= 12
    assert all(sum(f"x{i} " in each for each in found) <= 6 for i in range(8))


@pytest.mark.parametrize("rows", [9, 40])
def test_a_group_of_few_rows_is_never_named(rows):
    frame = visits()
    frame["channel"] = np.where(np.arange(N) < rows, "vip", frame["channel"])
    frame.loc[: rows - 1, "minute"] = 700 + np.arange(rows)
    assert not [each for each in offered(frame) if "vip" in each]


def test_no_bound_is_a_value_that_few_rows_hold():
    """Also where it is a round number already: it is moved to the next one."""
    frame = visits()
    counter = np.flatnonzero(frame["channel"] == "counter")
    frame["minute"] = np.where(
        frame["channel"] == "counter", frame["minute"].clip(501, 1049), frame["minute"]
    )
    scattered = 501 + np.arange(len(counter)) % 549
    frame.loc[counter, "minute"] = scattered
    frame.loc[counter[0], "minute"], frame.loc[counter[1], "minute"] = 500, 1050
    assert offered(frame) == ["450 <= minute <= 1100 if channel = counter"]


def test_hours_that_few_rows_hold_have_no_rounder_one_and_are_left_out():
    rng = np.random.default_rng(0)
    kind = np.where(np.arange(N) < 400, "rare", "other")
    hour = np.where(kind == "rare", 10 + np.arange(N) % 4, rng.integers(0, 24, N))
    frame = pd.DataFrame({"kind": kind, "hour": hour})
    assert offered(frame) == ["10 <= hour <= 13 if kind = rare"]  # a hundred rows each
    frame.loc[[0, 1], "hour"] = 9, 14
    assert not offered(frame)  # which one row each holds


def test_persons_count_and_not_rows():
    """A dozen rows at the bound are one person's, and so may a whole group be."""
    frame = visits()
    counter = np.flatnonzero(frame["channel"] == "counter")
    frame.loc[counter[:12], "minute"] = 480
    frame["who"] = np.arange(N)
    frame.loc[counter[:12], "who"] = counter[0]
    unit = {"column": "who", "rows": 5}
    assert offered(frame, unit=unit) == ["450 <= minute <= 1100 if channel = counter"]
    frame.loc[counter, "who"] = counter[0]
    assert not offered(frame, unit=unit)


def test_rows_without_a_number_leave_it_out():
    """Else those that have one could be one person's, of a group that many are in."""
    frame = visits()
    frame["minute"] = frame["minute"].astype(float)
    counter = np.flatnonzero(frame["channel"] == "counter")
    frame.loc[counter[60:], "minute"] = np.nan
    assert not offered(frame)


@pytest.mark.parametrize(
    ("column", "low", "high"),
    [
        (Integer(low=0, high=10**6), 1000, 500_000),
        (Real(low=0, high=10, decimals=2), 2.5, 7.5),
        (Time(), 8 * 3_600_000_000, 18 * 3_600_000_000),
        (Datetime(low="2000-01-01", high="2030-12-31"), 946_684_800_000_000, 1_577_836_800_000_000),
    ],
)
def test_a_rounded_bound_is_never_the_value_itself(column, low, high):
    first, last = (beyond(column, low, high, end, few=True) for end in ("low", "high"))
    assert first.value < low and last.value > high
    exact = [beyond(column, low, high, end, few=False).value for end in ("low", "high")]
    assert exact == [low, high]
