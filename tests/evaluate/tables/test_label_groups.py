"""Shares of the label by group: what is made up or lost is seen, and chance is not."""

import numpy as np
import pandas as pd
import pytest

from nacre.evaluate.findings.labels import label_findings
from nacre.evaluate.tables.grouping import group_rows
from nacre.evaluate.tables.label_groups import find_label_groups
from nacre.evaluate.tables.reading import read
from nacre.schema import Categorical, Datetime, Integer, Schema

AGENTS = [f"A{i}" for i in range(20)]
SCHEMA = Schema(
    {
        "agent": Categorical(values=AGENTS),
        "fare": Integer(low=0, high=500, nullable=True),
        "seats": Integer(low=1, high=4),
        "opened": Datetime(low="2020-01-01", high="2029-12-31"),
        "refunded": Categorical(values=["no", "yes"]),
    },
    label="refunded",
)


def draw(n, seed, rate=lambda frame: 0.08):
    rng = np.random.default_rng(seed)
    fare = rng.gamma(2, 30, n).round().clip(0, 500)
    frame = pd.DataFrame(
        {
            "agent": rng.choice(AGENTS, n),
            "fare": np.where(rng.random(n) < 0.05, np.nan, fare),
            "seats": rng.integers(1, 5, n),
            "opened": np.datetime64("2022-01-01", "s") + rng.integers(0, 730, n) * 86400,
        }
    )
    return frame.assign(refunded=np.where(rng.random(n) < rate(frame), "yes", "no"))


def by_agent(frame):
    return np.linspace(0.02, 0.20, len(AGENTS))[frame["agent"].str[1:].astype(int)]


def found(real, synthetic, label="refunded", schema=SCHEMA):
    tables = [read(frame, schema, "a table") for frame in (real, synthetic)]
    return {groups.by: groups for groups in find_label_groups(*tables, label)}


def said(groups, label="refunded"):
    return [(f.level, f.text) for f in label_findings(list(groups.values()), label, SCHEMA)]


def test_made_up_rates_are_told_with_the_worst_groups():
    groups = found(draw(6000, 1), draw(6000, 2, by_agent))
    assert [by for by, each in groups.items() if each.gap] == ["agent"]
    ((level, text),) = said(groups)
    assert level == "avoid"
    assert "refunded = yes by agent (" in text and "where agent = A1" in text
    assert "no by agent" not in text


def test_lost_rates_are_told_too():
    groups = found(draw(6000, 1, by_agent), draw(6000, 2, lambda frame: 0.11))
    assert said(groups)[0][0] == "avoid"


def test_chance_and_a_label_that_is_off_as_a_whole_are_not_told():
    for seed in range(5):
        groups = found(draw(2000, seed), draw(3000, 90 + seed))
        assert said(groups)[0][0] == "good"
    off = found(draw(6000, 1), draw(6000, 2, lambda frame: 0.16))
    assert max(each.gap for each in off.values()) < 0.06


@pytest.mark.parametrize(
    ("column", "rate", "words"),
    [
        ("opened", lambda f: np.where(f["opened"].dt.year == 2022, 0.02, 0.14), "opened in 202"),
        ("fare", lambda f: np.where(f["fare"] > 80, 0.2, 0.04), "fare from "),
        ("fare", lambda f: np.where(f["fare"].isna(), 0.6, 0.05), "fare is missing"),
        ("seats", lambda f: np.where(f["seats"] == 4, 0.2, 0.04), "seats = 4"),
    ],
)
def test_numbers_and_dates_make_groups(column, rate, words):
    groups = found(draw(6000, 1), draw(6000, 2, rate))
    assert [by for by, each in groups.items() if each.gap] == [column]
    assert words in said(groups)[0][1]


def test_the_gap_is_the_error_of_the_shares_by_hand():
    """With rows enough for chance to be small, it is the weighted root mean square."""
    schema = Schema({"g": Categorical(values=["x", "y"]), "c": Categorical(values=["n", "p"])})

    def table(first, second):
        yes = [first, 20_000 - first, second, 20_000 - second]
        return pd.DataFrame({"g": ["x"] * 20_000 + ["y"] * 20_000, "c": np.repeat([*"pnpn"], yes)})

    (each,) = found(table(4000, 4000), table(2000, 6000), "c", schema).values()
    assert each.gap == pytest.approx(0.1 / 0.4, rel=0.01)
    assert {(r.group, r.real, r.synthetic) for r in each.rates} == {
        ("g = x", 0.2, 0.1),
        ("g = y", 0.2, 0.3),
    }


def test_the_mean_of_a_numeric_label():
    real, other = draw(6000, 1), draw(6000, 2)
    other["fare"] += np.where(other["agent"] == "A3", 60, 0)
    groups = found(real, other.assign(fare=other["fare"].clip(upper=500)), "fare")
    assert [by for by, each in groups.items() if each.gap] == ["agent"]
    ((level, text),) = said(groups, "fare")
    assert level == "avoid"
    assert "mean fare by agent (" in text and "where agent = A3" in text
    assert said(found(real, draw(6000, 3), "fare"), "fare")[0][0] == "good"


def test_periods_follow_the_length_of_the_time():
    rows = [read(draw(500, seed), SCHEMA, "a table") for seed in (1, 2)]
    assert "opened in 2022-01" in group_rows(*rows, "opened").names
    long = draw(500, 3)
    long["opened"] = pd.to_datetime(np.where(np.arange(500) % 2, "2020-02-01", "2025-08-01"))
    names = group_rows(read(long, SCHEMA, "a table"), rows[0], "opened").names
    assert names[0] == "opened in 2020 Q1" and "opened in 2025 Q3" in names
