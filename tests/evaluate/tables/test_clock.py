"""Hours and days of the week that a chart of the year hides are found, said and drawn."""

import numpy as np
import pandas as pd
import pytest

from nacre.evaluate import evaluate
from nacre.schema import Boolean, Datetime, Schema

SCHEMA = Schema(
    {
        "seen": Datetime(low="2024-01-01", high="2024-12-31", step="1min", nullable=True),
        "born": Datetime(low="1950-01-01", high="2000-12-31"),
        "flag": Boolean(),
    }
)


def draw(n: int, seed: int, *, flat: bool) -> pd.DataFrame:
    """Visits by day and from Monday to Friday, or at any time."""
    rng = np.random.default_rng(seed)
    day = np.arange("2024-01-01", "2024-12-28", dtype="datetime64[D]")
    day = day if flat else day[(day.astype(int) + 3) % 7 < 5]
    minute = rng.integers(0, 1440, n) if flat else rng.integers(480, 1080, n)
    seen = rng.choice(day, n).astype("datetime64[m]") + minute.astype("timedelta64[m]")
    born = np.datetime64("1950-01-01") + rng.integers(0, 18_000, n).astype("timedelta64[D]")
    return pd.DataFrame(
        {
            "seen": pd.Series(seen.astype("M8[s]")).where(rng.random(n) < 0.9),
            "born": born.astype("M8[s]"),
            "flag": rng.random(n) < 0.5,
        }
    )


@pytest.fixture(scope="module")
def evaluation():
    tables = {"flat": draw(3000, 1, flat=True), "right": draw(3000, 2, flat=False)}
    return evaluate(draw(3000, 0, flat=False), tables, schema=SCHEMA, metrics=["tv1"])


def test_what_the_clock_shows_is_said_of_the_table_that_has_it_wrong(evaluation):
    by = {(c.column, c.by): c for c in evaluation.comparisons["flat"].clocks}
    assert set(by) == {
        ("seen", "hour of the day"),
        ("seen", "day of the week"),
        ("born", "day of the week"),
    }
    assert by["seen", "hour of the day"].excess == pytest.approx(14 / 24, abs=0.08)
    assert by["seen", "day of the week"].excess == pytest.approx(2 / 7, abs=0.08)
    assert abs(by["born", "day of the week"].excess) < 0.03
    said = [f.text for f in evaluation.findings["flat"] if f.topic == "Times"]
    assert len(said) == 1 and "hour of the day of seen" in said[0]
    assert not [f for f in evaluation.findings["right"] if f.topic == "Times"]


def test_the_report_draws_hours_and_days(evaluation):
    page = evaluation.to_html()
    assert "By the clock and the week" in page and "seen by hour of the day" in page
