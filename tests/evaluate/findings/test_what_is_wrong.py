"""Spikes, pairs that never occur, groups by codes, what tells rows apart: named, not made up."""

import re

import numpy as np
import pandas as pd
import pytest

from nacre.evaluate.findings.detection import detection_findings
from nacre.evaluate.findings.impossible import impossible_findings
from nacre.evaluate.findings.spikes import spike_findings
from nacre.evaluate.findings.words import percent
from nacre.evaluate.metrics import detection
from nacre.evaluate.report.figures.columns import _edges
from nacre.evaluate.report.figures.pairs import _shown
from nacre.evaluate.scores.score import Score
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.pairs import compare_pairs
from nacre.evaluate.tables.reading import read
from nacre.schema import Categorical, Integer, Ordinal, Schema

N = 3000
CODES = [f"{group}{i}" for group in "AB" for i in range(25)]
LEVELS = [f"{i}" for i in range(12)]
SCHEMA = Schema(
    {
        "code": Categorical(values=CODES),
        "group": Categorical(values=["A", "B"]),
        "income": Integer(low=-2000, high=10_000, nullable=True),
        "ward": Integer(low=0, high=5),
        "cost": Integer(low=0, high=1000),
        "level": Ordinal(values=LEVELS),
    }
)


def people(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    code = rng.choice(CODES, N)
    either = np.isin(code, ["A0", "A1", "B0", "B1"])  # codes do not quite tell the group
    any_group = np.random.default_rng(seed + 9).choice(["A", "B"], N)
    ward = rng.integers(0, 6, N)
    income = np.where(rng.random(N) < 0.11, 0, rng.normal(3000, 800, N).round())
    return pd.DataFrame(
        {
            "code": code,
            "group": np.where(either, any_group, [each[0] for each in code]),
            "income": np.where(rng.random(N) < 0.1, np.nan, income),
            "ward": ward,
            "cost": rng.normal(100 + 50 * ward, 10).round(),
            "level": rng.choice(LEVELS, N),
        }
    )


def comparison(synthetic: pd.DataFrame) -> TableComparison:
    real, other = (read(frame, SCHEMA, "a table") for frame in (people(0), synthetic))
    return TableComparison(
        name="s", real=real, synthetic=other, train=real, test=real, label=None, models=()
    )


@pytest.fixture(scope="module")
def good() -> TableComparison:
    return comparison(people(1))


@pytest.fixture(scope="module")
def bad() -> TableComparison:
    rng = np.random.default_rng(2)
    frame = people(1)
    frame["group"] = rng.permutation(frame["group"])
    frame["cost"] = rng.permutation(frame["cost"])
    spread = rng.normal(3000, 800, N).round()
    frame["income"] = np.where(frame["income"] == 0, spread, frame["income"])
    return comparison(frame)


def test_a_lost_spike_is_told_with_both_shares(good, bad):
    (found,) = spike_findings(bad)
    assert found.level == "avoid"
    assert "income = 0 (10% of the real rows, 0% here)" in found.text
    assert not list(spike_findings(good))


def test_a_column_of_which_only_spikes_are_left_is_told(good):
    frame = people(1)
    frame["income"] = np.where(frame["income"] == 0, 0, frame["income"].median())
    (found,) = spike_findings(comparison(frame))
    assert "income = " in found.text and "90% here" in found.text


def test_pairs_that_never_occur_are_counted(good, bad):
    (found,) = impossible_findings(bad)
    assert found.level == "avoid"
    share = float(found.text.split("%")[0])
    assert 40 < share < 60
    assert "code = " in found.text and "with group = " in found.text
    assert not list(impossible_findings(good))


def test_the_worst_impossible_pair_has_its_own_share(bad):
    (found,) = impossible_findings(bad)
    frame, worst = (
        bad.synthetic,
        re.search(r"most often code = (\w+) with group = (\w)", found.text),
    )
    code, group = worst.groups()
    of_pair = (frame.bin("code").codes == CODES.index(code)) & (
        frame.bin("group").codes == "AB".index(group)
    )
    assert f"group = {group} ({percent(of_pair.mean())})" in found.text
    assert re.search(r"\d+ pairs of code and group \(4\d%|5\d%\)", found.text)


def test_the_strength_of_a_link_does_not_hang_on_single_rows():
    """Two values of three rows each that meet in one row are no link."""
    schema = Schema({"a": Categorical(values=["x", "y"]), "b": Categorical(values=["u", "v"])})
    apart = pd.DataFrame({"a": ["y"] * 3 + ["x"] * 1997, "b": ["u"] * 1997 + ["v"] * 3})
    met = apart.assign(b=["v"] + ["u"] * 1997 + ["v"] * 2)
    tables = [read(frame, schema, "a table") for frame in (apart, met)]
    pairs = compare_pairs(*tables)
    assert abs(pairs.real[0, 1] - pairs.synthetic[0, 1]) < 0.01
    frequent = pd.DataFrame({"a": ["y"] * 60 + ["x"] * 1940, "b": ["v"] * 60 + ["u"] * 1940})
    pairs = compare_pairs(read(frequent, schema, "a table"), tables[0])
    assert pairs.real[0, 1] == pytest.approx(1)  # a link of sixty rows is one


def test_groups_by_codes_and_by_many_values(good, bad):
    wrong = {shift.of.by for shift in bad.group_shifts if shift.gap > 0.5}
    assert "ward" in wrong
    assert not [shift for shift in good.group_shifts if shift.gap > 0.25]


def scores(table: TableComparison) -> list[Score]:
    return [
        Score(
            table="s",
            metric="detection",
            part=value.part,
            value=value.value,
            error=value.error,
            reference=None,
            goal="lower",
        )
        for value in detection.compute(table)
    ]


def test_a_classifier_says_what_gives_rows_away(good, bad):
    (found,) = detection_findings(scores(bad))
    assert found.level == "note"
    assert "without it)" in found.text
    told = scores(bad)
    assert told[0].value > 0.85
    assert {score.part for score in told[1:]} >= {"cost", "ward"}
    assert all(score.value < told[0].value for score in told[1:])
    (fine,) = detection_findings(scores(good))
    assert fine.level == "good"
    assert abs(scores(good)[0].value - 0.5) < 0.05


def test_figures_leave_nothing_out(bad):
    places = {name: place for place, name in enumerate(bad.real.names)}
    bins = _shown(bad, places["income"], 8)
    inner = bins[:-1]  # the last one is for missing values
    assert (np.diff(inner) == 1).all() and len(inner) > 8
    assert (np.diff(_shown(bad, places["level"], 8)) > 0).all()
    # What a small table has in a few rows was cut off beside a large one.
    large, small = np.full(200_000, 0.5), np.append(np.full(95, 0.5), np.full(5, 0.1))
    assert _edges([large, small], 100)[0] < 0.11
