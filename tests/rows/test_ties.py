"""What the layout says of distances: from what they are, where they end, and on which day."""

import jax
import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.embed.rounds import date_tick
from nacre.histograms.cells import table_columns
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.methods.mosaic.zeros import out_of_bounds
from nacre.rows import TableEncoder
from nacre.rows.source import open_source
from nacre.schema import Categorical, Datetime, Schema

BOUNDS = {"low": "2022-01-01", "high": "2024-09-26"}
MINUTES = {**BOUNDS, "step": "1min"}
COLUMNS = {
    "admitted": Datetime(low="2022-01-01T05:30", high="2024-09-26", step="1min"),
    "discharged": Datetime(**MINUTES, nullable=True),
    "booked": Datetime(**BOUNDS, nullable=True),
    "due": Datetime(**MINUTES, nullable=True),
    "paid": Datetime(**BOUNDS),
    "kind": Categorical(values=("a", "b")),
}
ORDERS = ["admitted <= discharged", "booked <= due", "booked < paid"]
SCHEMA = Schema(COLUMNS, constraints=ORDERS)
ENCODER = TableEncoder.of(SCHEMA)
DAY = 86_400_000_000
FIRST = 18_993  # 2022-01-01


def stays(n):
    rng = np.random.default_rng(0)
    minute, day = np.timedelta64(1, "m"), np.timedelta64(1, "D")
    admitted = np.datetime64("2022-01-01T06:00") + rng.integers(0, 1000 * 1440 - 400, n) * minute
    discharged = admitted + rng.gamma(1.5, 150 * 1440, n).astype(int) * minute
    booked = np.datetime64("2022-01-01") + rng.integers(0, 999, n) * day
    due = booked + rng.gamma(1.5, 120, n).astype(int) * day + rng.integers(480, 1000, n) * minute
    end = np.datetime64("2024-09-27T00:00")
    late = np.minimum(booked + rng.integers(1, 90, n) * day, np.datetime64("2024-09-26"))
    return pd.DataFrame(
        {
            "admitted": admitted,
            "discharged": pd.Series(discharged).where(discharged < end),
            "booked": pd.Series(booked).where(rng.random(n) > 0.1),
            "due": pd.Series(due).where(due < end),
            "paid": np.where(booked >= late, booked, late),
            "kind": rng.choice(["a", "b"], n),
        }
    )


@pytest.fixture(scope="module")
def rows():
    frame = stays(3000)
    (batch,) = open_source(frame, SCHEMA).batches()
    return frame, ENCODER.encode(batch).rows


def moments(frame, name):
    return frame[name].to_numpy("datetime64[us]").astype(np.int64)


def test_which_columns_are_distances_from_what():
    layout = ENCODER.layout
    found = {n.name: n.tie for n in layout.numbers if n.tie}
    anchors = {name: layout.numbers[tie.anchor].name for name, tie in found.items()}
    assert anchors == {"discharged": "admitted", "due": "booked", "booked": "paid"}
    assert layout.numbers[found["discharged"].time].name == "admitted, time of day"
    assert (found["discharged"].a_day, found["discharged"].late) == (1440, 330)
    days = {n.name: n.day for n in layout.numbers if n.day is not None}
    # A distance in minutes ends on no day that is counted, nor one of days after another distance.
    assert days == {"admitted": FIRST, "booked": FIRST, "paid": FIRST}


def test_distances_and_their_anchors_make_the_columns_again(rows):
    frame, row = rows
    layout, ends = ENCODER.layout, {}
    for name in ("discharged", "booked", "due"):  # each after its anchor
        place = layout.number(name)
        tie, own = layout.numbers[place].tie, row.numbers.astype(np.int64)
        time = 0 if tie.time is None else own[:, tie.time]
        anchor = tie.ticks(ends.get(tie.anchor, own[:, tie.anchor]), time)
        gone = np.zeros(len(frame), bool)
        if tie.missing is not None:
            gone = row.codes[:, tie.missing] == 1
        ends[place] = tie.line.start(anchor, gone) + tie.line.up * own[:, place]
        there = frame[name].notna().to_numpy()
        wanted = (moments(frame, name) - tie.line.first) // tie.line.step
        assert there.sum() > 1000 and (ends[place][there] == wanted[there]).all()


def test_a_distance_in_days_from_midnight_ends_on_a_day_that_is_counted():
    frame, schema = stays(3000), Schema(COLUMNS, constraints=["booked <= due"])
    encoder = TableEncoder.of(schema)
    (batch,) = open_source(frame, schema).batches()
    row, layout = encoder.encode(batch).rows, encoder.layout
    place = layout.number("due")
    assert layout.numbers[place].day == FIRST and layout.numbers[place].tie.line.step == DAY
    ticks = np.asarray(jax.vmap(lambda one: date_tick(one, layout, place))(row))
    there = frame["due"].notna().to_numpy()
    assert (FIRST + ticks[there] == moments(frame, "due")[there] // DAY).all()


def test_no_real_row_lies_in_a_zero(rows):
    _, row = rows
    columns = table_columns(ENCODER.layout, None, 256)
    found = out_of_bounds(ENCODER.layout, columns)
    assert found
    for (i, j), never in found.items():
        cells = []
        for column in (columns[i], columns[j]):
            cell = np.searchsorted(column.cells.low, row.numbers[:, column.number], "right") - 1
            if column.missing is not None:
                cell = np.where(row.codes[:, column.missing] == 1, column.cells.size, cell)
            cells.append(cell)
        assert never.any() and not never[cells[0], cells[1]].any()


def test_stays_by_the_minute_are_not_given_up_at_the_end_of_the_table():
    frame = stays(6000)
    method = Mosaic(fits=2, components=60, steps=300)
    for order, name in (("admitted <= discharged", "discharged"), ("booked <= due", "due")):
        schema = Schema(COLUMNS, constraints=[order])
        model = nacre.fit(frame, schema, method=method, epsilon=2.0, delta=1e-5, seed=0)
        drawing = model.rejection()
        list(drawing.batches(4000, np.random.default_rng(0)))
        assert drawing.rate > 0.99  # .96 to .98 where sums are drawn again as whole rows
        drawn = model.sample(4000, seed=0)
        assert drawn[name].isna().mean() == pytest.approx(frame[name].isna().mean(), abs=0.015)
