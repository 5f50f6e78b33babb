"""What equal bins over wide bounds do not see: means, tails, and how far columns are apart."""

import numpy as np
import pandas as pd
import pytest

from nacre.evaluate import METRICS, evaluate
from nacre.evaluate.findings.amounts import Amount
from nacre.evaluate.findings.gaps import column_gaps
from nacre.evaluate.tables.shifts import FEWEST, ordered_pairs
from nacre.schema import Categorical, Datetime, Integer, Real, Schema

CHEAP = ["tv1", "tv1-quantiles", "association", "shifts"]


@pytest.fixture(scope="module")
def stays() -> Schema:
    return Schema(
        {
            "ward": Categorical(values=["ICU", "Surgery"]),
            "admitted": Datetime(low="2021-01-01", high="2023-12-31"),
            "discharged": Datetime(low="2021-01-01", high="2024-12-31", nullable=True),
            "cost": Real(low=0, high=1_000_000, decimals=2),
        },
        constraints=["admitted <= discharged"],
    )


def draw(n: int, seed: int) -> pd.DataFrame:
    """Stays of a few days that cost thousands, where millions are possible."""
    rng = np.random.default_rng(seed)
    ward = rng.choice(["ICU", "Surgery"], n)
    admitted = np.datetime64("2021-01-01") + rng.integers(0, 1000, n).astype("m8[D]")
    discharged = (admitted + rng.geometric(0.2, n).astype("m8[D]")).astype("M8[s]")
    discharged[rng.random(n) < 0.05] = np.datetime64("NaT")
    cost = np.exp(rng.normal(7.5, 1.0, n) + np.where(ward == "ICU", 1.0, 0.0))
    return pd.DataFrame(
        {
            "ward": ward,
            "admitted": admitted.astype("M8[s]"),
            "discharged": discharged,
            "cost": np.round(cost, 2),
        }
    )


@pytest.fixture(scope="module")
def real() -> pd.DataFrame:
    return draw(5000, 1)


def said(real, synthetic, schema) -> dict[str, str]:
    found = evaluate(real, synthetic, schema, metrics=CHEAP, jobs=1)
    return {f"{f.level}: {f.topic}": f.text for f in found.findings["synthetic"]}


def test_fresh_rows_are_fine(real, stays):
    for seed in range(2, 6):
        assert {words.split(":")[0] for words in said(real, draw(4000, seed), stays)} == {"good"}


def test_a_number_in_a_corner_of_its_bounds_is_judged(real, stays):
    # All of it is in the first of twenty equal bins.
    bad = draw(5000, 2).assign(cost=2176.0)
    found = evaluate(real, bad, stays, metrics=CHEAP, jobs=1)
    assert found.score("tv1", part="cost").value < 0.03
    assert found.score("tv1-quantiles", part="cost").value > 0.9
    assert next(iter(column_gaps(found.results, "synthetic"))) == "cost"
    text = {f.topic: f.text for f in found.findings["synthetic"] if f.level == "avoid"}
    assert "cost (9" in text["Columns"]
    assert "ward with cost" in text["Pairs"]


def test_means_and_tails_are_said_with_both_values(real, stays):
    cut = draw(5000, 2)
    cut["cost"] = cut["cost"].clip(upper=8000)
    text = said(real, cut, stays)["avoid: Numbers"]
    assert "highest 1% from 8,000 instead of" in text
    assert f"mean {cut['cost'].mean():,.0f} instead of {real['cost'].mean():,.0f}" in text


def test_a_low_tail_is_seen(stays):
    real, same = draw(5000, 1), draw(5000, 2)
    for frame in (real, same):
        frame["cost"] = 500_000 - frame["cost"]
    same["cost"] = same["cost"].clip(lower=490_000)
    assert "lowest 1% up to 490,000 instead of" in said(real, same, stays)["avoid: Numbers"]


def test_ordered_columns_that_are_too_far_apart(real, stays):
    bad = draw(5000, 2)
    bad["discharged"] += pd.Timedelta(days=30)
    found = evaluate(real, bad, stays, metrics=CHEAP, jobs=1)
    worst = found.findings["synthetic"][0]
    assert (worst.level, worst.topic) == ("avoid", "Differences")
    assert "discharged − admitted (median 34 days instead of 4 days;" in worst.text
    assert found.score("shifts", part="discharged − admitted: 50%").value > 5


def test_a_column_shared_by_few_rows_is_not_judged_by_its_tails(stays):
    few = draw(FEWEST - 10, 1)
    assert {s.part for s in evaluate(few, few, stays, metrics=["shifts"]).results} == {""}


def test_discrete_numbers_are_not_off_by_a_hair():
    # 1.2% of the real rows and 0.9% of the others are at 3: the quantile jumps, the rows do not.
    schema = Schema({"n": Integer(low=0, high=9)})
    frames = [pd.DataFrame({"n": [0] * 5000 + [2] * (5000 - k) + [3] * k}) for k in (120, 90)]
    assert all(s.value < 0.01 for s in evaluate(*frames, schema, metrics=["shifts"]).results)


def test_ordered_pairs_are_those_of_every_row():
    columns = {name: Integer(low=0, high=9) for name in "abcd"}
    rules = ["a < b", "d >= c if a = 1", "c > a and d != b", {"forbid": "b < d"}, "1 <= d"]
    assert ordered_pairs(Schema(columns, constraints=rules)) == [("a", "b"), ("a", "c")]


def test_bins_by_quantiles_hold_alike_and_leave_room(compare, real, stays):
    rows = compare(real, real, real, schema=stays).real
    edges = rows.quantile_edges("cost")
    codes, size = rows.bin_at("cost", edges)
    counts = np.bincount(codes, minlength=size)
    assert size == 22 and counts[0] == counts[-1] == 0
    assert counts[1:-1].min() == counts[1:-1].max() == 250


def test_a_frequent_value_has_a_bin_of_its_own(compare):
    schema = Schema({"gain": Integer(low=-10, high=10**6, nullable=True)})
    gain = np.concatenate([np.zeros(900), np.arange(1, 101) * 1000.0, np.full(50, np.nan)])
    rows = compare(*[pd.DataFrame({"gain": gain})] * 3, schema=schema).real
    codes, size = rows.bin_at("gain", rows.quantile_edges("gain"))
    counts = np.bincount(codes, minlength=size)
    assert counts[0] == 0 and counts[1] == 900 and counts[-1] == 50
    constant = pd.DataFrame({"gain": np.full(20, 7.0)})
    other = compare(constant, constant + 1, constant, schema=schema)
    assert next(iter(METRICS["tv1-quantiles"].compute(other))).value == 1.0


def test_a_column_without_any_value_is_no_problem(compare):
    schema = Schema({"gain": Integer(low=0, high=9, nullable=True)})
    empty = pd.DataFrame({"gain": np.full(300, np.nan)})
    comparison = compare(empty, empty, empty, schema=schema)
    assert next(iter(METRICS["tv1-quantiles"].compute(comparison))).value == 0
    assert comparison.shifts == ()


def test_times_of_day_are_written():
    column = Datetime(low="2020-01-01", high="2020-12-31", step="1h")
    assert Amount(column).text(18_262 * 86_400e6 + 3600e6 * 9) == "2020-01-01 09:00"
    assert Amount(column, difference=True).text(90 * 60e6) == "1.5 hours"


def test_few_rows_are_said_first(real, stays):
    found = evaluate(real.head(20), real, stays, metrics=CHEAP, jobs=1)
    worst = found.findings["synthetic"][0]
    assert (worst.level, worst.topic) == ("avoid", "Too few rows")
    assert "20 real rows" in worst.text


def test_averages_of_groups_that_are_all_alike(real, stays):
    bad = draw(5000, 2)
    bad["cost"] = np.random.default_rng(0).permutation(bad["cost"].to_numpy())
    found = evaluate(real, bad, stays, metrics=["group-medians"], jobs=1)
    worst = found.findings["synthetic"][0]
    assert (worst.level, worst.topic) == ("avoid", "Averages by group")
    medians = [
        frame.loc[frame["ward"] == "Surgery", "cost"]
        .sort_values()
        .iloc[lambda c: [(len(c) - 1) // 2]]
        for frame in (bad, real)
    ]
    said = "cost where ward = Surgery (median {:,.0f} instead of {:,.0f})"
    assert said.format(*(m.item() for m in medians)) in worst.text
    fine = evaluate(real, draw(5000, 2), stays, metrics=["group-medians"], jobs=1)
    assert [f.level for f in fine.findings["synthetic"]] == ["good"]
    assert fine.score("group-medians").value < 0.01


def test_small_groups_and_long_lists_have_no_averages(stays):
    few = draw(2 * FEWEST - 50, 1)
    assert {s.part for s in evaluate(few, few, stays, metrics=["group-medians"]).results} == {""}


def lags(n: int, seed: int, *, same: bool = False) -> pd.DataFrame:
    """Waits that are long in the north, or the `same` everywhere; single columns are right."""
    rng = np.random.default_rng(seed)
    place = rng.choice(["north", "south"], n)
    slow = (rng.permutation(place) if same else place) == "north"
    days = rng.gamma(4, np.where(slow, 9, 2))
    booked = np.datetime64("2021-01-01") + rng.integers(0, 900, n).astype("m8[D]")
    seen = booked + days.astype(int).astype("m8[D]")
    return pd.DataFrame({"place": place, "booked": booked, "seen": seen})


LAGS = {
    "place": Categorical(values=["north", "south"]),
    "booked": Datetime(low="2021-01-01", high="2023-12-31"),
    "seen": Datetime(low="2021-01-01", high="2024-12-31"),
}


@pytest.mark.parametrize("constraints", [["booked <= seen"], []])
def test_what_lies_between_two_dates_is_judged_by_group(constraints):
    schema = Schema(LAGS, constraints=constraints)
    real = lags(4000, 0)
    for synthetic, level in ((lags(4000, 1, same=True), "avoid"), (lags(4000, 2), "good")):
        found = evaluate(real, synthetic, schema, metrics=["group-medians"], jobs=1)
        (told,) = [f for f in found.findings["synthetic"] if f.topic == "Averages by group"]
        assert told.level == level
        waits = "seen − booked where place = north (median "
        assert (waits in told.text) is (level == "avoid")
        if level == "avoid":
            assert "days instead of 3" in told.text.partition(waits)[2][:30]


def test_a_difference_that_is_a_column_is_judged_as_one():
    rows = lags(1000, 0)
    rows["wait"] = (rows["seen"] - rows["booked"]).dt.days
    schema = Schema({**LAGS, "wait": Integer(low=0, high=200)}, facts=["seen = booked + wait"])
    found = evaluate(rows, rows, schema, metrics=["group-medians"], jobs=1)
    of = {str(score.part) for score in found.results}
    assert "wait where place = north" in of
    assert not any("−" in part for part in of)
