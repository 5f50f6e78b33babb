"""One contract for every method: any columns, ledger, files, any n, hostile rows."""

import dataclasses
import datetime
import functools
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nacre
from nacre.fit import fit
from nacre.ledger import Ledger
from nacre.methods import METHODS, find
from nacre.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real, Schema
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
    "merf-minibatch": ("merf", {"release": "minibatch", "sample": 50}),
    "functional-features": ("functional", {}),
    "functional-exact": ("functional", {"release": "exact"}),
    "ppem-protected": ("ppem", {"protect": (("age", "sex"),)}),
}
STEPWISE = (
    "autogan",
    "dpgan",
    "dpcgan",
    "ppem",
    "ppem-protected",
    "merf-autoencoder",
    "merf-minibatch",
    "functional-features",
    "functional-exact",
    "toy-steps",
)
TABLES = [name for name in METHODS if "table" in find(name).data]
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
    "income": Categorical(values=("<=50K", ">50K")),
}
SCHEMA = Schema(COLUMNS, label="income")
# So much budget that gaps, a fifth of one column, surely come through the noise of one release.
SEED = 7
EPSILON = dict.fromkeys(METHODS, 100.0) | dict.fromkeys((*VARIANTS, *STEPWISE), 2.0)


def small(name: str):
    """A method with settings that make it quick."""
    if name in VARIANTS:
        method, more = VARIANTS[name]
        return dataclasses.replace(find(method).as_published(), **more).small()
    return find(name)().small()


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
    "categories": (["sex", "member"], None),
    "category": (["income"], None),
    "number": (["age"], None),
}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory, toys):
    """One fit of all columns for each method, charged to a ledger; shared by all tests."""

    @functools.cache
    def once(name):
        ledger = Ledger(tmp_path_factory.mktemp("ledger") / "budget.db")
        ledger.open("people", epsilon=1.5 * EPSILON[name], delta=1e-5)
        return run(name, people(), ledger=ledger, dataset="people"), ledger

    return once


@pytest.fixture(scope="module")
def narrow(toys):
    """One fit of few columns for each method and choice of columns, shared by all tests.

    The regression is fitted to hostile rows, under the other adjacency.  For the others the number
    of rows is public, so that a second fit has the same rates, and compiles nothing.
    """

    @functools.cache
    def once(name, few):
        if few != "regression":
            return run(name, people(), few, rows=200, seed=SEED)
        return run(name, hostile(), few, adjacency="replace-one", bad_rows="zero")

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
    assert "".join(dtype.kind for dtype in drawn.dtypes) == "iffOOObMO"
    assert len(drawn) == 333
    assert SCHEMA.check(pa.Table.from_pandas(drawn)).ok
    if EPSILON[name] == 100:
        assert drawn["wage"].isna().any()


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("name", NAMES)
def test_the_guarantee_holds_and_a_file_keeps_the_model(name, adjacency, fitted, narrow, tmp_path):
    model = either(name, adjacency, fitted, narrow)
    assert model.guarantee.adjacency is adjacency
    assert model.guarantee.epsilon <= EPSILON[name]
    assert model.guarantee.recompute() == pytest.approx(model.guarantee.epsilon)

    path = tmp_path / "people.nacre"
    model.save(path)
    again = nacre.load(path)
    assert again.guarantee == model.guarantee
    assert again.schema == model.schema
    pd.testing.assert_frame_equal(again.sample(50, seed=2), again.sample(50, seed=2))
    assert again.certificate() == model.certificate()


def either(name, adjacency, fitted, narrow):
    """The fit that was made under this adjacency."""
    if adjacency is Adjacency.ADD_REMOVE:
        return fitted(name)[0]
    return narrow(name, "regression")


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("few", FEW)
def test_tables_of_few_columns_with_a_regression_target_or_no_label(name, few, narrow):
    columns, label = FEW[few]
    model = narrow(name, few)
    assert list(model.sample(5).columns) == columns
    assert model.schema.label == label


@pytest.mark.parametrize("name", NAMES)
def test_any_number_of_rows_and_values_can_be_asked_for(name, fitted):
    model, _ = fitted(name)
    assert len(model.sample(0)) == 0
    assert list(model.sample(0).columns) == list(COLUMNS)
    assert len(model.sample(1)) == 1
    given = model.sample(60, where={"sex": "Female", "income": ">50K", "member": True})
    assert set(given["sex"]) == {"Female"}
    assert set(given["income"]) == {">50K"}
    assert set(given["member"]) == {True}
    with pytest.raises(ValueError, match="not among the schema's values"):
        model.sample(1, where={"sex": "Martian"})
    with pytest.raises(ValueError, match="use a range"):
        model.sample(1, where={"height": 2})
    with pytest.raises(ValueError, match="not negative"):
        model.sample(-1)


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
def test_hostile_rows_count_as_zero_and_stop_nothing(name, narrow):
    with pytest.raises(nacre.SchemaError, match="nothing was spent") as caught:
        run(name, hostile())
    assert "<script>" not in str(caught.value)
    model = narrow(name, "regression")
    assert np.isfinite(model.sample(100)["age"]).all()
    assert not model.guarantee.checked


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("name", NAMES)
def test_the_questions_are_known_before_and_are_what_is_asked(name, adjacency, fitted, narrow):
    model = either(name, adjacency, fitted, narrow)
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


@pytest.mark.parametrize("name", TABLES)
def test_the_seed_decides_public_randomness_only(name, narrow):
    model = narrow(name, "categories")
    again = run(name, people(), "categories", rows=200, seed=SEED)
    (_, arrays), (_, others) = model.generator.state(), again.generator.state()
    same = [np.array_equal(arrays[key], others[key]) for key in arrays.keys() & others.keys()]
    assert not all(same), "noise must not follow from the seed"


@pytest.mark.parametrize("name", TABLES)
def test_without_noise_it_fits_and_promises_nothing(name, tmp_path):
    columns = ["age", "sex", "income"]
    frame, schema = people()[columns], SCHEMA.select(columns)
    model = fit(frame, schema, method=small(name), epsilon=math.inf, seed=SEED)
    assert str(model.guarantee).startswith("NOT PRIVATE")
    assert all(release.noise == 0 for release in model.guarantee.releases)
    path = tmp_path / "people.nacre"
    model.save(path)
    with pytest.warns(UserWarning, match="NOT PRIVATE"):
        again = nacre.load(path)
    assert again.certificate() == model.certificate()
    drawn = again.sample(400, seed=1)
    assert SCHEMA.select(columns).check(pa.Table.from_pandas(drawn)).ok
    # The label's share, where it is released, is as exact as its counts.
    assert (
        name in STEPWISE
        or abs((drawn["income"] == ">50K").mean() - (frame["income"] == ">50K").mean()) < 0.2
    )


def test_polars_and_arrow_come_back_as_they_went_in():
    frame = people()[["age", "income"]]
    schema = SCHEMA.select(["age", "income"])
    for table, kind in (
        (pl.from_pandas(frame), pl.DataFrame),
        (pa.Table.from_pandas(frame, preserve_index=False), pa.Table),
    ):
        model = fit(table, schema, method=small("mosaic"), epsilon=1, delta=1e-6)
        assert isinstance(model.sample(7), kind)
