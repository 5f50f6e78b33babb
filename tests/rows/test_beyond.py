"""Sums beyond a bound are told as what they are, and not as a group that rules empty."""

import numpy as np
import pytest

from nacre.model import Model
from nacre.rejection import Rejection
from nacre.rows import TableEncoder
from nacre.schema import Categorical, Datetime, Integer, Schema
from nacre.vault import Adjacency, Guarantee

pytestmark = pytest.mark.filterwarnings("ignore:.*NOT PRIVATE")
DAYS = {"low": "2021-01-01", "high": "2022-12-31"}


class Apart:
    """A generator that knows nothing of bounds: distances of up to a tenth from every date."""

    def __init__(self, layout):
        self.layout = layout

    def sample(self, n, rng):
        most = self.layout.limits
        ticks = rng.integers(0, most, (n, len(most)), endpoint=True)
        ticks[:, 1] //= 10
        codes = [rng.integers(0, size, n) for size in self.layout.sizes]
        return self.layout.encoded(ticks, np.stack(codes, axis=1))

    def given(self, fixed):
        return None


def drawn(*constraints, facts=(), **columns) -> Rejection:
    schema = Schema(columns, constraints=constraints, facts=facts)
    encoder = TableEncoder.of(schema)
    made = Model(
        encoder=encoder,
        generator=Apart(encoder.layout),
        guarantee=Guarantee(epsilon=float("inf"), delta=1, adjacency=Adjacency.ADD_REMOVE),
        method="Apart",
        settings={},
        kind="arrow",
    )
    drawing = made.rejection()
    list(drawing.batches(8000, np.random.default_rng(0)))
    return drawing


KIND = Categorical(values=["a", "b"])


def test_dates_after_the_last_day_are_no_group():
    drawing = drawn("start <= end", start=Datetime(**DAYS), end=Datetime(**DAYS), kind=KIND)
    (each,) = drawing.weights.beyond
    assert (each.column, each.end, each.bound) == ("end", "high", "2022-12-31")
    assert each.share == pytest.approx(1 - drawing.inside / drawing.drawn, abs=0.01)
    said = drawing.describe()
    assert "candidates 'end', a sum of another column and the distance from it, lay above" in said
    assert "its bound 2022-12-31. These are no group of rows: they are drawn again." in said
    assert "Raise `high`, and fit again, if rows may lie there" in said
    assert "Nothing is left" not in said and "leave it out" not in said
    assert not any(move.group.startswith("end >= 2022-12-31") for move in drawing.moved)


def test_numbers_below_the_lowest_are_no_group_either():
    columns = {"pay": Integer(low=0, high=4000), "tax": Integer(low=0, high=4100)}
    drawing = drawn("tax <= pay", **columns, kind=KIND)
    assert [each.column for each in drawing.encoder.differences] == ["tax"]  # as pay - distance
    (each,) = drawing.weights.beyond
    assert (each.column, each.end, each.bound) == ("tax", "low", "0")
    assert "lay below its bound 0." in drawing.describe()
    assert "Lower `low`, and fit again" in drawing.describe()


def test_groups_that_rules_empty_are_still_told():
    rules = ("start <= end", "kind = a if long = yes", "kind = b if long = yes")
    dates = {"start": Datetime(**DAYS), "end": Datetime(**DAYS)}
    drawing = drawn(*rules, **dates, kind=KIND, long=Categorical(values=["yes", "no"]))
    assert "Nothing is left of long = yes: no such candidate" in drawing.describe()
    assert [each.column for each in drawing.weights.beyond] == ["end"]


def test_a_sum_that_is_a_fact_names_its_bounds():
    days = {"start": Datetime(**DAYS), "stay": Integer(low=0, high=3000), "end": Datetime(**DAYS)}
    drawing = drawn(facts=["end = start + stay"], **days, kind=KIND)
    assert 0.5 < drawing.rate < 0.9
    assert "The rarest is the bounds of 'end', with" in drawing.describe()
