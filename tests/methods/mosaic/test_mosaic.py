"""Mosaic: what it counts is public, and what it makes keeps what was counted."""

import dataclasses

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from nacre.fit import fit
from nacre.methods import choose
from nacre.methods.mosaic.mosaic import NORM, Mosaic
from nacre.plan import plan
from nacre.rows import Label, TableEncoder
from nacre.schema import Boolean, Categorical, Integer, Real, Schema
from nacre.vault import Adjacency

QUICK = Mosaic(components=40, fits=1, steps=200)


def schema(numbers=3, categories=2, classes=2, **columns):
    names = {f"x{i}": Integer(low=0, high=999) for i in range(numbers)}
    names |= {f"c{i}": Categorical(values=tuple("abcdef")) for i in range(categories)}
    label = {"y": Categorical(values=tuple(f"v{i}" for i in range(classes)))} if classes else {}
    return Schema(names | columns | label, label="y" if classes else None)


def design(table):
    return Mosaic().design(TableEncoder(table))


def questions(method, table):
    return method.questions(TableEncoder(table), Adjacency.ADD_REMOVE, None)


def size(method, table):
    classes = len(table.columns["y"].values) if table.label else 1
    return [q.bound.size * (1 if q.bound.by is None else classes) for q in questions(method, table)]


def test_a_narrow_table_is_counted_in_full():
    found = design(schema())
    assert found.by_class and found.joined == 5
    assert found.size == 3 * 24 * 24 + 6 * 24 * 6 + 36 + 3 * 24 + 2 * 6
    asked = questions(Mosaic(), schema())
    sizes, first, whole, single, heaps, pairs, again, finer, choices, chosen = asked
    assert sizes.bound.sensitivity(Adjacency.ADD_REMOVE) == 1
    assert sizes.bound.sensitivity(Adjacency.REPLACE_ONE) == pytest.approx(2**0.5)
    weighted = (first, whole, single, heaps, pairs, again, finer)
    assert {each.bound.segments[0].norm for each in weighted} == {NORM}
    assert again.bound == pairs.bound and again.share == pytest.approx(pairs.share)
    assert whole.bound.by is None and whole.bound.sensitivity(Adjacency.ADD_REMOVE) == NORM
    assert whole.share == pytest.approx(0.3 * (whole.share + first.share))
    assert choices.bound.block_change(Adjacency.ADD_REMOVE) == 1
    assert chosen.bound.sensitivity(Adjacency.ADD_REMOVE) == pytest.approx(2**0.5)
    assert sum(question.share for question in asked) == pytest.approx(1)
    assert len(questions(Mosaic(several=0, finer=0, again=0, whole=0), schema())) == 5
    assert len(questions(Mosaic(), schema(classes=0))) == 7


def test_pairs_by_many_classes_are_counted_again_over_all_of_them():
    """The noise of a sum of seven counts is that of one, 2.6 times."""
    named = {question.name: question for question in questions(Mosaic(), schema(classes=7))}
    first, again = named["pairs of columns"], named["pairs of columns again"]
    assert first.bound.by == Label("y", 7) and again.bound.by is None
    assert again.bound.segments == first.bound.segments
    assert again.share == pytest.approx(first.share / 3)
    assert sum(question.share for question in named.values()) == pytest.approx(1)


def test_small_tables_are_seen_through_fewer_cells():
    encoder = TableEncoder(schema())
    found = Mosaic().design(encoder)
    assert found.resolved(encoder, 10**6, 20.0).most == found.most
    small = found.resolved(encoder, 1000, 20.0)
    assert 16 <= small.most == int(1000 / (20 * 2**0.5)) < found.most
    assert sum(c.size for c in small.columns) < sum(c.size for c in found.columns)
    assert found.resolved(encoder, 1, 20.0).most == 16
    kept = "joined", "by_class", "size", "crossed", "classes"  # what the plan has said stays
    assert all(getattr(small, name) == getattr(found, name) for name in kept)
    few = Schema({"x": Integer(low=0, high=9), "z": Integer(low=0, high=12), "y": Boolean()})
    assert "number of rows" not in [q.name for q in questions(Mosaic(), few)]


def test_single_and_round_values_are_looked_for_only_where_cells_hold_several():
    short = schema(0, 2, 2, x=Integer(low=0, high=100), z=Real(low=0, high=1))
    names = [q.name for q in questions(Mosaic(), short)]
    histograms = ["histograms", "histograms of all rows"]
    assert names[:4] == ["number of rows", *histograms, "pairs of columns"]
    assert [q.name for q in questions(Mosaic(single=0, heaps=0), schema())] == names
    alone = questions(Mosaic(), schema(1, 0, 0))
    looks = ["values in heavy cells", "round values"]
    assert [q.name for q in alone] == ["number of rows", "histograms", *looks]
    assert sum(q.share for q in alone) == pytest.approx(1)


def test_wide_tables_have_fewer_cells_and_are_joined_in_part():
    some, many, most = (design(schema(n, 0, 2)) for n in (25, 50, 400))
    assert some.by_class and many.by_class and most.by_class
    assert (some.joined, many.joined, most.joined) == (25, 50, Mosaic().columns)
    assert most.most < many.most < some.most < design(schema()).most
    assert not design(schema(40, 0, 30)).by_class


@pytest.mark.parametrize("numbers, classes", [(13, 2), (50, 7), (200, 2), (617, 26), (1000, 0)])
def test_no_release_holds_many_more_values_than_allowed(numbers, classes):
    assert max(size(Mosaic(), schema(numbers, 0, classes))) <= 330_000


def test_one_column_needs_one_release():
    only = Schema({"x": Integer(low=0, high=9)})
    (question,) = questions(Mosaic(), only)
    assert question.share == 1
    labeled = Schema({"x": Integer(low=0, high=9), "y": Boolean()}, label="y")
    (question,) = questions(Mosaic(), labeled)
    assert question.bound.by == Label("y", 2)


def test_auto_is_mosaic_and_says_why():
    method, reason = choose("auto")
    assert isinstance(method, Mosaic)
    assert "Mosaic" in reason


@pytest.mark.parametrize(
    "wrong", [{"first": 0.0}, {"first": 1.0}, {"trust": 2.0}, {"components": 0}, {"bins": 1}]
)
def test_settings_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ValueError, match="must be a .*number from"):
        Mosaic(**wrong)


def spiky(n=6000, seed=0):
    """A spike at 40, a zero-inflated column, missing values, and a label that needs both."""
    rng = np.random.default_rng(seed)
    hours = np.where(rng.random(n) < 0.5, 40, rng.integers(1, 100, n))
    sex = rng.random(n) < 0.4
    gain = np.where(rng.random(n) < 0.9, 0, rng.integers(1, 99_999, n))
    wage = np.where(sex & (rng.random(n) < 0.6), np.nan, rng.gamma(3, 60, n).clip(0, 1000).round(2))
    chance = 1 / (1 + np.exp(-(hours - 45) / 8 - np.where(sex, 1.5, -1.5)))
    return pd.DataFrame(
        {"hours": hours, "sex": sex, "gain": gain, "wage": wage, "rich": rng.random(n) < chance}
    )


SPIKY = Schema(
    {
        "hours": Integer(low=1, high=99),
        "sex": Boolean(),
        "gain": Integer(low=0, high=99_999),
        "wage": Real(low=0, high=1000, decimals=2, nullable=True),
        "rich": Boolean(),
    },
    label="rich",
)


def test_spikes_zeros_missing_values_and_the_label_are_kept():
    real = spiky()
    model = fit(real, SPIKY, method=QUICK, epsilon=5, delta=1e-6, seed=0)
    drawn = model.sample(6000, seed=1)
    assert (drawn["hours"] == 40).mean() == pytest.approx((real["hours"] == 40).mean(), abs=0.03)
    assert drawn["hours"].isin([39, 41]).mean() < 0.05
    assert (drawn["gain"] == 0).mean() == pytest.approx(0.9, abs=0.03)
    for group in (True, False):
        a, b = (t.loc[t["sex"] == group, "wage"].isna().mean() for t in (drawn, real))
        assert a == pytest.approx(b, abs=0.05)
        for low, high in ((1, 30), (35, 45), (60, 99)):
            a, b = (
                t.loc[(t["sex"] == group) & t["hours"].between(low, high), "rich"].mean()
                for t in (drawn, real)
            )
            assert a == pytest.approx(b, abs=0.12)


@pytest.mark.filterwarnings("ignore:.*few for this budget")
def test_wide_tables_with_loose_columns_and_numeric_targets_work():
    rng = np.random.default_rng(0)
    table = schema(8, 0, 3)
    frame = pd.DataFrame({f"x{i}": rng.integers(0, 1000, 400) for i in range(8)})
    frame["y"] = rng.choice(["v0", "v1"], 400)  # v2 never occurs
    frame["x0"] = np.where(frame["y"] == "v0", 100, 900)
    method = dataclasses.replace(QUICK, values=2000, columns=4, components=10, steps=25)
    assert method.design(TableEncoder(table)).joined == 4
    model = fit(frame, table, method=method, epsilon=20, delta=1e-6, seed=0)
    drawn = model.sample(400, seed=1)
    high = drawn.groupby("y")["x0"].mean()
    assert high["v1"] - high["v0"] > 300
    target = model.sample(5, where={"y": "v1"})
    assert set(target["y"]) == {"v1"}
    regression = fit(frame, table, label="x3", method=method, epsilon=1, delta=1e-6, seed=0)
    assert len(regression.sample(7)) == 7


def test_hardly_any_rows_and_hardly_any_budget_still_give_a_table():
    with pytest.warns(UserWarning, match="few for this budget"):
        model = fit(spiky(20), SPIKY, method=QUICK, epsilon=0.01, delta=1e-6, seed=0)
    assert SPIKY.check(pa.Table.from_pandas(model.sample(50, seed=1))).ok


def test_amounts_far_below_a_generous_bound_keep_their_quantiles():
    rng = np.random.default_rng(4)
    group = rng.integers(0, 2, 20_000)
    cost = np.exp(rng.normal(7, 1, 20_000) + group).round(2)
    table = pd.DataFrame({"cost": cost, "group": group == 1})
    bounds = {"cost": Real(low=0, high=1_000_000, decimals=2), "group": Boolean()}
    model = fit(table, Schema(bounds), method=QUICK, epsilon=1, delta=1e-6, seed=0)
    found = model.sample(20_000, seed=0)
    for part in (0.1, 0.5, 0.9):
        assert found.cost.quantile(part) == pytest.approx(table.cost.quantile(part), rel=0.1)
    # Noise alone would make the mean three times as large; what it leaves doubles it once in 2,000
    # fits, by some 150 rows beyond all real ones.
    assert 0.8 < found.cost.mean() / table.cost.mean() < 2.5
    medians, wanted = (t.groupby("group").cost.median() for t in (found, table))
    assert medians.to_numpy() == pytest.approx(wanted.to_numpy(), rel=0.2)


def test_values_that_exclude_each_other_hardly_meet():
    rng = np.random.default_rng(5)
    code = rng.choice(6, 20_000, p=[0.4, 0.2, 0.15, 0.1, 0.1, 0.05])
    names = np.array(list("abcdef"))
    table = pd.DataFrame({"code": names[code], "name": names[::-1][code]})
    table["other"] = names[rng.integers(0, 6, 20_000)]
    columns = dict.fromkeys(table, Categorical(values=tuple("abcdef")))
    model = fit(table, Schema(columns), method=QUICK, epsilon=1, delta=1e-6, seed=0)
    found = model.sample(20_000, seed=0)
    assert (found.code.map(dict(zip(names, names[::-1], strict=True))) == found.name).mean() > 0.97
    for column in ("code", "name"):
        shares, wanted = (t[column].value_counts(normalize=True) for t in (found, table))
        assert shares.sub(wanted, fill_value=0).abs().max() < 0.02


def test_a_label_that_is_the_parity_of_three_columns_is_learned():
    rng = np.random.default_rng(0)
    bits = rng.random((8000, 5)) < 0.5
    frame = pd.DataFrame({f"b{k}": bits[:, k] for k in range(5)})
    frame["y"] = bits[:, 1:4].sum(1) % 2 == 1
    table = Schema({name: Boolean() for name in frame}, label="y")
    model = fit(frame, table, method=QUICK, epsilon=1, delta=1e-6, seed=0)
    drawn = model.sample(4000, seed=1)
    right = (drawn[["b1", "b2", "b3"]].sum(axis=1) % 2 == 1) == drawn["y"]
    assert right.mean() > 0.9


def test_few_rows_of_many_columns_are_warned_of():
    with pytest.warns(UserWarning, match="a column and the label that correlate by less than"):
        plan(schema(15, 5), method=Mosaic(), epsilon=1, delta=1e-6, rows=700)
    found = plan(schema(), method=Mosaic(), epsilon=1, delta=1e-6, rows=100_000)
    assert "Among 100,000 rows noise will hide the link of two columns" in str(found)


def test_categories_of_too_many_values_are_named():
    values = [str(1000 + code) for code in range(400)]
    long = Schema({"postcode": Categorical(values=values), "age": Integer(low=0, high=99)})
    assert "postcode" not in plan(long, epsilon=0.1, delta=1e-9, rows=10**7).outlook
    with pytest.warns(UserWarning, match=r"common in postcode \(400 values\): group them"):
        plan(long, epsilon=0.1, delta=1e-6, rows=12_000)
