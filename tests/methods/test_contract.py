"""One contract for every method: any columns, ledger, files, any n, hostile rows.

Most of a small fit is tracing and compiling, so that tests share fits.  Of each method and variant
there are two (`fitted`):

- all columns under add-remove, the number of rows private, charged to a ledger;
- three columns under replace-one, a number as the label, hostile rows that count as zero.

Of each method in the registry there is a third, of one category and without noise; of those that
ask for all their noise at once a fourth, with a label and without noise (`noiseless`).  A single
number, an empty table and random schemas are for test_any_schema.py.  A method that joins the
registry gets all of it by being there; a test that needs one more fit of every method must be worth
some seconds for each of them.
"""

import dataclasses
import datetime
import functools
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.methods.stepwise import asks_for_steps

import nacre
from nacre.fit import fit
from nacre.ledger import Ledger
from nacre.methods import METHODS, find
from nacre.rebuilt import compare
from nacre.rows import TableEncoder
from nacre.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real, Schema, Time
from nacre.vault import Adjacency, epsilon_of

# Two hundred rows are few, and fit says so; what is asked here does not depend on it.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*few for this budget"),
    pytest.mark.usefixtures("toys"),
]

# The papers' own forms of some methods, and what their names here stand for.
VARIANTS = {
    "pearl-network": ("pearl", {"projection": "random", "dimensions": 4}),
    "merf-network": ("merf", {"constant": 0.5, "modes": 3}),
    "merf-autoencoder": ("merf", {"projection": "autoencoder", "dimensions": 3}),
    "merf-minibatch": ("merf", {"release": "minibatch", "sample": 50, "recall": 5}),
    "functional-features": ("functional", {"recall": 5}),
    "functional-exact": ("functional", {"release": "exact"}),
    "ppem-protected": ("ppem", {"protect": (("age", "sex"),), "condition": "sampled"}),
}
# Those that are not private are in test_without_privacy.py.
TABLES = [name for name in METHODS if "table" in find(name).data and find(name).private]
NAMES = (*TABLES, *VARIANTS, "toy-steps")
COLUMNS = {
    "age": Integer(low=0, high=99),
    "wage": Real(low=0, high=1000, decimals=2, nullable=True),
    "height": Real(low=1.2, high=2.2),
    "sex": Categorical(values=("Female", "Male")),
    "job": Categorical(values=("a", "b", "c"), other=True, nullable=True),
    "degree": Ordinal(values=("low", "mid", "high")),
    "member": Boolean(),
    "seen": Datetime(low="2000-01-01", high="2024-12-31", step="1d"),
    "at": Time(low="06:00", step="15min", nullable=True),
    "income": Categorical(values=("<=50K", ">50K")),
}
SCHEMA = Schema(COLUMNS, label="income")
ENCODER = TableEncoder(SCHEMA)


def small(name: str):
    """A method with settings that make it quick."""
    if name in VARIANTS:
        method, more = VARIANTS[name]
        return dataclasses.replace(find(method).as_published(), **more).small()
    return find(name)().small()


STEPWISE = ("toy-steps", *(n for n in NAMES[:-1] if asks_for_steps(small(n), ENCODER)))
SEED = 7
# So much budget that gaps, a fifth of one column, surely come through the noise of one release; but
# the privacy-loss distribution of many steps with little noise takes seconds.
EPSILON = dict.fromkeys(METHODS, 100.0) | dict.fromkeys((*VARIANTS, *STEPWISE), 1.0)


def people(n: int = 200, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 100, n),
            "wage": np.where(rng.random(n) < 0.2, np.nan, rng.random(n).round(2) * 900),
            "height": rng.uniform(1.2, 2.2, n),
            "sex": rng.choice(["Female", "Male"], n),
            "job": rng.choice(np.array(["a", "b", "c", "zzz", None], object), n),
            "degree": rng.choice(["low", "mid", "high"], n),
            "member": rng.random(n) < 0.5,
            "seen": [
                datetime.date(2001, 1, 1) + datetime.timedelta(days=int(d))
                for d in rng.integers(0, 5000, n)
            ],
            "income": rng.choice(["<=50K", ">50K"], n, p=[0.7, 0.3]),
            "at": [
                datetime.time(6 + m // 4, m % 4 * 15) if m < 68 else None
                for m in rng.integers(0, 72, n).tolist()
            ],
        }
    )


def hostile() -> pd.DataFrame:
    """People, four of whom are none."""
    frame = people()
    frame["age"] = frame["age"].astype(float)
    frame.loc[0, "age"] = np.nan
    frame.loc[1, "age"] = np.inf
    frame.loc[2, "age"] = 1e308
    frame.loc[3, "sex"] = "<script>"
    return frame


FEW = {
    "regression": (["age", "sex", "wage"], "age"),
    "category": (["sex"], None),
    "labeled": (["age", "sex", "income"], "income"),
}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory, toys):
    """For each method and adjacency one fit, and its ledger if it has one; for all tests."""

    @functools.cache
    def once(name, adjacency):
        if adjacency is Adjacency.REPLACE_ONE:
            return run(name, hostile(), "regression", adjacency=adjacency, bad_rows="zero"), None
        ledger = Ledger(tmp_path_factory.mktemp("ledger") / "budget.db")
        ledger.open("people", epsilon=1.5 * EPSILON[name], delta=1e-5)
        return run(name, people(), ledger=ledger, dataset="people"), ledger

    return lambda name, adjacency=Adjacency.ADD_REMOVE: once(name, adjacency)


@pytest.fixture(scope="module")
def noiseless(toys):
    """For each method one fit without noise of a category, or of some columns with a label."""

    @functools.cache
    def once(name, few):
        return run(name, people(), few, epsilon=math.inf, delta=None, rows=200, seed=SEED)

    return once


def run(name, table, few=None, **more):
    columns, label = FEW.get(few, (list(COLUMNS), "income"))
    schema = SCHEMA.select(columns).with_label(label)
    settings = {"epsilon": EPSILON[name], "delta": 1e-6, **more}
    return fit(table[columns], schema, method=small(name), **settings)


@pytest.mark.parametrize("name", NAMES)
def test_fits_every_kind_of_column_and_keeps_the_schema(name, fitted):
    model, _ = fitted(name)
    drawn = model.sample(333, seed=1)
    assert isinstance(drawn, pd.DataFrame)
    assert list(drawn.columns) == list(COLUMNS)
    assert "".join(dtype.kind for dtype in drawn.dtypes) == "iffOOObMOO"
    # A network that has learned next to nothing may draw gaps only.
    assert {type(each) for each in drawn["at"].dropna()} <= {datetime.time}
    assert len(drawn) == 333
    assert SCHEMA.check(pa.Table.from_pandas(drawn)).ok
    if EPSILON[name] == 100:
        assert drawn["wage"].isna().any()


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("name", NAMES)
def test_the_guarantee_holds_and_a_file_keeps_the_model(name, adjacency, fitted, tmp_path):
    model, _ = fitted(name, adjacency)
    assert model.guarantee.adjacency is adjacency
    assert model.guarantee.epsilon <= EPSILON[name]
    assert model.guarantee.recompute() == pytest.approx(model.guarantee.epsilon)

    path = tmp_path / "people.nacre"
    model.save(path)
    model.save(path)  # the same bytes: nothing is lost
    with pytest.raises(nacre.NacreError, match="replace=True"):
        dataclasses.replace(model, method="another").save(path)
    again = nacre.load(path)
    assert again.guarantee == model.guarantee
    assert again.schema == model.schema
    pd.testing.assert_frame_equal(again.sample(50, seed=2), model.sample(50, seed=2))
    assert again.certificate() == model.certificate()
    the_list_is_the_plans(again)


def the_list_is_the_plans(model):
    """What `nacre show --verify` compares: any release that is dropped or edited is noticed."""
    same = compare(model)
    assert not same.differences and not same.elsewhere
    releases = model.guarantee.releases
    for place, release in enumerate(releases):
        others = [*releases[:place], *releases[place + 1 :]]
        edits = [others, [*others, dataclasses.replace(release, name="another")]]
        if release.noise and not release.epsilon:  # otherwise it followed from a noisy count
            edits.append([*others, dataclasses.replace(release, noise=release.noise * (1 + 1e-6))])
        for edited in edits:
            changed = dataclasses.replace(model.guarantee, releases=tuple(edited))
            assert compare(dataclasses.replace(model, guarantee=changed)).refused
    follows = [release.name for release in releases if release.epsilon]
    assert [name for name in follows if name in str(same)] == follows


@pytest.mark.parametrize("name", NAMES)
def test_a_number_can_be_the_label(name, fitted):
    columns, label = FEW["regression"]
    model, _ = fitted(name, Adjacency.REPLACE_ONE)
    assert list(model.sample(5).columns) == columns
    assert model.schema.label == label


@pytest.mark.parametrize("name", NAMES)
def test_any_number_of_rows_and_values_can_be_asked_for(name, fitted):
    model, _ = fitted(name)
    assert len(model.sample(0)) == 0
    assert list(model.sample(0).columns) == list(COLUMNS)
    assert len(model.sample(1)) == 1
    try:
        given = model.sample(60, where={"sex": "Female", "income": ">50K", "member": True})
        assert set(given["sex"]) == {"Female"}
        assert set(given["income"]) == {">50K"}
        assert set(given["member"]) == {True}
    except nacre.NacreError as error:  # after a few noisy steps there may be no such rows
        assert name in STEPWISE, error
        assert "hardly ever makes such rows" in str(error)
    with pytest.raises(ValueError, match="not among the schema's values"):
        model.sample(1, where={"sex": "Martian"})
    with pytest.raises(ValueError, match="use a range"):
        model.sample(1, where={"height": 2})
    with pytest.raises(ValueError, match="not negative"):
        model.sample(-1)


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_drawn_under_constraints(name, fitted):
    model, _ = fitted(name)
    bound = model.with_constraints(["age <= 60 if sex = Female", "height > 1.3 if member = true"])
    try:
        drawn = bound.sample(60, seed=3)
    except nacre.NacreError as error:  # after a few noisy steps there may be no such rows
        assert name in STEPWISE, error
        assert "hardly ever makes such rows" in str(error)
        return
    assert len(drawn) == 60 and SCHEMA.check(pa.Table.from_pandas(drawn)).ok
    assert (drawn["age"][drawn["sex"] == "Female"] <= 60).all()
    assert (drawn["height"][drawn["member"]] > 1.3).all()


@pytest.mark.parametrize("name", NAMES)
def test_charges_the_ledger_and_stops_at_its_budget(name, fitted):
    model, ledger = fitted(name)
    (entry,) = ledger.history("people")
    assert entry.status == "finished"
    assert entry.epsilon == EPSILON[name]
    assert len(entry.releases) == len(model.guarantee.releases)
    assert model.ledger == {"dataset": "people", "entry": entry.id}
    with pytest.raises(nacre.BudgetExceeded):
        run(name, people(), ledger=ledger, dataset="people")
    assert len(ledger.history("people")) == 1


@pytest.mark.parametrize("name", NAMES)
def test_hostile_rows_count_as_zero_and_stop_nothing(name, fitted):
    with pytest.raises(nacre.SchemaError, match="nothing was spent") as caught:
        run(name, hostile())
    assert "<script>" not in str(caught.value)
    model, _ = fitted(name, Adjacency.REPLACE_ONE)
    assert np.isfinite(model.sample(100)["age"]).all()
    assert not model.guarantee.checked


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("name", NAMES)
def test_the_questions_are_known_before_and_are_what_is_asked(name, adjacency, fitted):
    model, _ = fitted(name, adjacency)
    rows = 200 if adjacency is Adjacency.REPLACE_ONE else None
    cost = {"epsilon": EPSILON[name], "delta": 1e-6, "adjacency": adjacency}
    planned = nacre.plan(model.schema, method=small(name), rows=rows, **cost)
    assert sum(p.question.share for p in planned.asked) == pytest.approx(1)
    for before, after in zip(planned.releases, model.guarantee.releases, strict=True):
        if before.mechanism != "approximate":
            assert before == after
            continue
        # Its rate followed from the count; what it costs was fixed before.
        assert before.name == after.name and before.delta == after.delta
        assert epsilon_of([after], after.delta, adjacency) <= before.epsilon


# The noise of each door is the vault's: one method for each.
@pytest.mark.parametrize("name", ["mosaic", "aim", "toy-steps"])
def test_the_seed_decides_public_randomness_only(name):
    # The number of rows is public, so that the second fit has the same rates, and compiles nothing.
    first, second = (
        run(name, people(), "labeled", rows=200, seed=SEED).generator.state()[1] for _ in range(2)
    )
    same = [np.array_equal(first[key], second[key]) for key in first.keys() & second.keys()]
    assert not all(same), "noise must not follow from the seed"


@pytest.mark.parametrize("name", TABLES)
def test_without_noise_it_fits_a_single_category_and_promises_nothing(name, noiseless, tmp_path):
    model = noiseless(name, "category")
    assert str(model.guarantee).startswith("NOT PRIVATE")
    assert all(release.noise == 0 for release in model.guarantee.releases)
    path = tmp_path / "people.nacre"
    model.save(path)
    with pytest.warns(UserWarning, match="NOT PRIVATE"):
        again = nacre.load(path)
    assert again.certificate() == model.certificate()
    assert not compare(again).differences
    assert again.schema.label is None
    assert model.schema.check(pa.Table.from_pandas(again.sample(400, seed=1))).ok


@pytest.mark.parametrize("name", [name for name in TABLES if name not in STEPWISE])
def test_without_noise_the_labels_share_is_as_exact_as_its_counts(name, noiseless):
    drawn = noiseless(name, "labeled").sample(400, seed=1)
    share = (people()["income"] == ">50K").mean()
    assert (drawn["income"] == ">50K").mean() == pytest.approx(share, abs=0.2)


def test_polars_and_arrow_come_back_as_they_went_in():
    frame = people()[["age", "income"]]
    schema = SCHEMA.select(["age", "income"])
    for table, kind in (
        (pl.from_pandas(frame), pl.DataFrame),
        (pa.Table.from_pandas(frame, preserve_index=False), pa.Table),
    ):
        model = fit(table, schema, method=small("mosaic"), epsilon=1, delta=1e-6)
        assert isinstance(model.sample(7), kind)
