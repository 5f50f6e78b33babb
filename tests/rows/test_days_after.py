"""Days from a date on that a fact adds up: where they end, and on which day of the week."""

import jax
import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.embed.rounds import date_tick
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.rows import TableEncoder
from nacre.rows.source import open_source
from nacre.schema import Categorical, Datetime, Integer, Schema

BOUNDS = {"low": "2022-01-01", "high": "2024-09-26"}
LATE = {"low": "2021-12-01", "high": "2024-12-31"}
COLUMNS = {
    "booked": Datetime(**BOUNDS),
    "wait": Integer(low=2, high=60),
    "seen": Datetime(**LATE),
    "kind": Categorical(values=("a", "b")),
}
SCHEMA = Schema(COLUMNS, facts=["seen = booked + wait"])
BACK = Schema(COLUMNS, facts=["booked = seen - wait"])
FIRST = 18_993  # 2022-01-01
DAY = np.timedelta64(1, "D")


def visits(n, seed=0):
    """Seen on working days only."""
    rng = np.random.default_rng(seed)
    booked = np.datetime64("2022-01-01") + rng.integers(0, 900, n) * DAY
    wait = 2 + rng.integers(0, 50, n)
    seen = booked + wait * DAY
    wait = wait + np.array([0, 0, 0, 0, 0, 2, 1])[(seen.astype(int) + 3) % 7]
    kind = np.where(rng.random(n) < 0.5, "a", "b")
    return pd.DataFrame({"booked": booked, "wait": wait, "seen": booked + wait * DAY, "kind": kind})


@pytest.mark.parametrize(("schema", "end"), [(SCHEMA, "seen"), (BACK, "booked")])
def test_days_from_a_date_on_end_at_the_computed_date(schema, end):
    frame, encoder = visits(500), TableEncoder.of(schema)
    (batch,) = open_source(frame, schema).batches()
    row, layout = encoder.encode(batch).rows, encoder.layout
    place = layout.number("wait")
    own = layout.numbers[place]
    assert layout.numbers[own.tie.anchor].name == ("booked" if end == "seen" else "seen")
    numbers = np.asarray(row.numbers, np.int64)
    line = own.tie.line
    start = line.start(numbers[:, own.tie.anchor], np.zeros(len(frame), bool))
    days = own.day + start + line.up * numbers[:, place]
    assert (days == frame[end].to_numpy("datetime64[D]").astype(int)).all()
    # What the vault counts of a row is of the same date.
    ends = jax.vmap(lambda each: date_tick(each, layout, place))(row)
    assert (own.day + np.asarray(ends) == days).all()
    low, high = line.reach(start)
    assert ((low <= numbers[:, place]) & (numbers[:, place] <= high)).all()


GAPS = {
    **COLUMNS,
    "booked": Datetime(**BOUNDS, nullable=True),
    "seen": Datetime(**LATE, nullable=True),
}
HOURLY = {**COLUMNS, "seen": Datetime(**LATE, step="1h")}


@pytest.mark.parametrize(
    "more",
    [
        {"columns": GAPS},
        {"label": "wait"},
        {"columns": HOURLY, "facts": ["seen = booked + wait hours"]},
        {"constraints": ["asked <= booked"], "columns": {**COLUMNS, "asked": Datetime(**BOUNDS)}},
        {"facts": []},
    ],
)
def test_other_sums_are_as_they_were(more):
    schema = Schema(**({"columns": COLUMNS, "facts": ["seen = booked + wait"]} | more))
    ties = {n.name: n.tie for n in TableEncoder.of(schema).layout.numbers if n.tie}
    assert "wait" not in ties


def test_a_computed_date_keeps_its_days_of_the_week():
    table, method = visits(6000), Mosaic(fits=2, components=60, steps=300)
    model = nacre.fit(table, SCHEMA, method=method, epsilon=3, delta=1e-5, seed=0)
    drawn = model.sample(6000, seed=0)
    seen = pd.to_datetime(drawn["seen"])
    assert (seen - pd.to_datetime(drawn["booked"])).dt.days.equals(drawn["wait"].astype("int64"))
    assert (seen.dt.day_of_week > 4).mean() < 0.06, "two in seven before"
    assert drawn["wait"].median() == pytest.approx(table["wait"].median(), abs=3)
    assert ((drawn["wait"] >= 2) & (drawn["wait"] <= 60)).all()
