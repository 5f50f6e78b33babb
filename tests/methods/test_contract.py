"""One contract for every method: any columns, ledger, files, any n, hostile rows."""

import dataclasses
import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nacre
from nacre.fit import fit
from nacre.ledger import Ledger
from nacre.methods import METHODS
from nacre.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real, Schema
from nacre.vault import Adjacency

SMALL = {"frequencies": 40, "components": 6, "steps": 12, "rounds": 1, "each_column": 0.5}
# Each method with its defaults, and variants that go another way.
# Two hundred rows are few, and fit says so; what is asked here does not depend on it.
pytestmark = pytest.mark.filterwarnings("ignore:.*few for this budget")

NAMES = (*METHODS, "marginals-mst")
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


def small(name: str):
    """A method with settings that make it quick, whichever of them it has."""
    method, _, algorithm = name.partition("-")
    kind = METHODS[method]
    fields = {field.name for field in dataclasses.fields(kind)}
    more = {"algorithm": algorithm} if algorithm else {}
    return kind(**{key: value for key, value in SMALL.items() if key in fields}, **more)


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


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("name", NAMES)
def test_fits_every_kind_of_column_and_keeps_the_schema(name, adjacency, tmp_path):
    frame = people()
    # So much budget that gaps, a fifth of one column, surely come through the noise.
    model = fit(frame, SCHEMA, method=small(name), epsilon=100, delta=1e-6, adjacency=adjacency)
    drawn = model.sample(333, seed=1)
    assert isinstance(drawn, pd.DataFrame)
    assert list(drawn.columns) == list(frame.columns)
    assert "".join(dtype.kind for dtype in drawn.dtypes) == "iffOOObMO"
    assert len(drawn) == 333
    assert SCHEMA.check(pa.Table.from_pandas(drawn)).ok
    assert drawn["wage"].isna().any()
    assert model.guarantee.adjacency is adjacency
    assert model.guarantee.epsilon <= 100
    assert model.guarantee.recompute() == pytest.approx(model.guarantee.epsilon)

    path = tmp_path / "people.nacre"
    model.save(path)
    again = nacre.load(path)
    assert again.guarantee == model.guarantee
    assert again.schema == model.schema
    pd.testing.assert_frame_equal(again.sample(50, seed=2), again.sample(50, seed=2))
    assert again.certificate() == model.certificate()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("label", ["age", None])
def test_regression_targets_and_unlabeled_tables(name, label):
    model = fit(people(), SCHEMA, method=small(name), epsilon=1, delta=1e-6, label=label)
    assert len(model.sample(10)) == 10
    assert model.schema.label == label


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "columns", [["age", "height"], ["sex", "member"], ["income"], ["age"]], ids="-".join
)
def test_tables_of_one_kind_of_column(name, columns):
    schema = SCHEMA.select(columns).with_label(None)
    model = fit(people()[columns], schema, method=small(name), epsilon=1, delta=1e-6)
    assert list(model.sample(5).columns) == columns


@pytest.mark.parametrize("name", NAMES)
def test_any_number_of_rows_and_values_can_be_asked_for(name):
    model = fit(people(), SCHEMA, method=small(name), epsilon=1, delta=1e-6, seed=3)
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
def test_charges_the_ledger_and_stops_at_its_budget(name, tmp_path):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=1.5, delta=1e-5)
    model = fit(
        people(),
        SCHEMA,
        method=small(name),
        epsilon=1,
        delta=1e-6,
        ledger=ledger,
        dataset="people",
    )
    (entry,) = ledger.history("people")
    assert entry.status == "finished"
    assert entry.epsilon == 1
    assert len(entry.releases) == len(model.guarantee.releases)
    assert model.ledger == {"dataset": "people", "entry": entry.id}
    with pytest.raises(nacre.BudgetExceeded):
        fit(
            people(),
            SCHEMA,
            method=small(name),
            epsilon=1,
            delta=1e-6,
            ledger=ledger,
            dataset="people",
        )
    assert len(ledger.history("people")) == 1


@pytest.mark.parametrize("name", NAMES)
def test_hostile_rows_count_as_zero_and_stop_nothing(name):
    frame = people()
    frame["age"] = frame["age"].astype(float)
    frame.loc[0, "age"] = np.nan
    frame.loc[1, "age"] = np.inf
    frame.loc[2, "age"] = 1e308
    frame.loc[3, "sex"] = "<script>"
    with pytest.raises(nacre.SchemaError, match="nothing was spent") as caught:
        fit(frame, SCHEMA, method=small(name), epsilon=1, delta=1e-6)
    assert "<script>" not in str(caught.value)
    model = fit(frame, SCHEMA, method=small(name), epsilon=1, delta=1e-6, bad_rows="zero")
    assert np.isfinite(model.sample(100)["age"]).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_questions_are_known_before_and_are_what_is_asked(name):
    method = small(name)
    planned = nacre.plan(SCHEMA, method=method, epsilon=1, delta=1e-6)
    model = fit(people(), SCHEMA, method=method, epsilon=1, delta=1e-6)
    assert tuple(p.release for p in planned.releases) == model.guarantee.releases
    assert math.isclose(sum(p.share for p in planned.releases), 1)


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides_public_randomness_only(name):
    models = [
        fit(people(), SCHEMA, method=small(name), epsilon=1, delta=1e-6, seed=7) for _ in range(2)
    ]
    draws = [model.sample(200, seed=1) for model in models]
    assert not draws[0].equals(draws[1]), "noise must not follow from the seed"


def test_polars_and_arrow_come_back_as_they_went_in():
    frame = people()[["age", "sex", "income"]]
    schema = SCHEMA.select(["age", "sex", "income"])
    for table, kind in (
        (pl.from_pandas(frame), pl.DataFrame),
        (pa.Table.from_pandas(frame, preserve_index=False), pa.Table),
    ):
        model = fit(table, schema, method=small("pearl"), epsilon=1, delta=1e-6)
        drawn = model.sample(7)
        assert isinstance(drawn, kind)
        assert drawn.schema == table.schema or drawn.schema.equals(table.schema)
