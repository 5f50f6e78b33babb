"""Rows of rare values that hold what never goes with them, by values, numbers and dates."""

import numpy as np
import pandas as pd
import pytest

from nacre.evaluate.findings import never
from nacre.evaluate.findings.impossible import impossible_findings
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.reading import read
from nacre.schema import Categorical, Datetime, Integer, Schema

N = 8000
SCHEMA = Schema(
    {
        "ticket": Categorical(values=["single", "return", "senior"]),
        "age": Integer(low=0, high=100, nullable=True),
        "desk": Categorical(values=["hall", "phone", "web"]),
        "bought": Datetime(low="2020-01-01", high="2029-12-31"),
    }
)


def draw(seed, wrong=0.0, column=""):
    """Seniors are 2% of the rows, from 65 on, never buy on the web, nor before 2024."""
    rng = np.random.default_rng(seed)
    ticket = rng.choice(["single", "return", "senior"], N, p=[0.6, 0.38, 0.02])
    senior = ticket == "senior"
    bad = {
        name: senior & (rng.random(N) < (wrong if name == column else 0)) for name in SCHEMA.names
    }
    older = rng.integers(65, 90, N)
    age = np.where(senior & ~bad["age"], older, rng.integers(16, 64, N)).astype(float)
    day = np.where(senior & ~bad["bought"], 1461, 0) + rng.integers(0, 360, N)
    elsewhere = rng.choice(["hall", "phone"], N)
    other = np.where(bad["desk"], "web", elsewhere)
    return pd.DataFrame(
        {
            "ticket": ticket,
            "age": np.where(rng.random(N) < 0.02, np.nan, age),
            "desk": np.where(senior, other, rng.choice(["hall", "phone", "web"], N)),
            "bought": np.datetime64("2020-01-01", "s") + day * 86400,
        }
    )


def found(synthetic):
    real, other = (read(frame, SCHEMA, "a table") for frame in (draw(0), synthetic))
    comparison = TableComparison(
        name="s", real=real, synthetic=other, train=real, test=real, label=None, models=()
    )
    return list(impossible_findings(comparison))


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("age", "of those with ticket = senior have age below 65"),
        ("desk", "of those with ticket = senior have desk = web"),
        ("bought", "of those with ticket = senior have bought before 2024-01-0"),
    ],
)
@pytest.mark.parametrize(("wrong", "level"), [(0.15, "care"), (0.4, "avoid")])
def test_rare_values_are_judged_by_their_own_rows(column, words, wrong, level):
    (told,) = found(draw(1, wrong, column))
    assert told.level == level
    assert words in told.text
    share = float(told.text.split(": ")[1].split("%")[0]) / 100
    assert share == pytest.approx(wrong, abs=0.08)


def test_fresh_rows_and_single_ones_are_not_told():
    for seed in range(1, 5):
        assert not found(draw(seed))
    assert not found(draw(5, 0.03, "age"))


def test_a_soft_border_is_no_rule():
    """Fresh rows lie beyond all real ones of a value, but few of them."""
    rng = np.random.default_rng(0)
    for seed in range(4):
        frames = [draw(seed), draw(seed + 10)]
        for frame in frames:
            senior = frame["ticket"] == "senior"
            soft = rng.normal(80, 4, N).round().clip(0, 100)
            frame["age"] = np.where(senior, soft, frame["age"])
        real, other = (read(frame, SCHEMA, "a table") for frame in frames)
        comparison = TableComparison(
            name="s", real=real, synthetic=other, train=real, test=real, label=None, models=()
        )
        assert not list(impossible_findings(comparison))


def test_all_rows_are_counted_where_a_sample_found_something(monkeypatch):
    monkeypatch.setattr(never, "ROWS", 5000)
    frame = draw(1, 0.4, "age")
    (told,) = found(frame)
    seniors = frame[(frame["ticket"] == "senior") & frame["age"].notna()]
    assert f"{(seniors['age'] < 65).mean():.0%} of those" in told.text
