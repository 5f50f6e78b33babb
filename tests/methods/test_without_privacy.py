"""Methods that are not private: they say so, are refused with an epsilon, and fit."""

import dataclasses
import math

import numpy as np
import pyarrow as pa
import pytest

import nacre
from nacre.methods import METHODS, find
from nacre.schema import Boolean, Categorical, Datetime, Integer, Real, Schema

pytestmark = pytest.mark.filterwarnings("ignore:.*NOT PRIVATE")

NAMES = [name for name in METHODS if not find(name).private]
SCHEMA = Schema(
    {
        "age": Integer(low=0, high=99),
        "job": Categorical(values=("a", "b", "c"), other=True, nullable=True),
        "rich": Boolean(),
        "wage": Real(low=0, high=1000, decimals=2, nullable=True),
        "seen": Datetime(low="2000-01-01", high="2024-12-31"),
    },
    label="rich",
)
# Few steps that are large, of all rows, so that little is left to chance.
QUICK = {
    "latent": 8,
    "hidden": 16,
    "code": 8,
    "critic": 32,
    "critic_steps": 300,
    "critic_batch": 128,
    "batch": 128,
    "autoencoder_steps": 200,
    "autoencoder_rate": 0.01,
    "critic_rate": 0.005,
    "generator_every": 1,
    "generator_rate": 0.005,
}


def quick(name):
    kind = find(name)
    names = {field.name for field in dataclasses.fields(kind)}
    return kind(**{key: value for key, value in QUICK.items() if key in names})


def people(n=128):
    """Two kinds of people, and four rows that are none."""
    rng = np.random.default_rng(3)
    rich = np.arange(n) < 0.4 * n
    age = np.clip(np.where(rich, 85, 15) + rng.normal(0, 3, n), 0, 99)
    age[:4] = [np.nan, np.inf, 1e308, -1]
    job = np.where(rich, "c", "a").astype(object)
    job[-4:] = [None, None, "<script>", "<script>"]
    return pa.table(
        {
            "age": age.round(),
            "job": job,
            "rich": rich,
            "wage": pa.array(np.where(rich, 900.0, 100.0), mask=rng.random(n) < 0.2),
            "seen": np.datetime64("2001-01-01") + rng.integers(0, 5000, n),
        }
    )


def test_there_are_some():
    assert set(NAMES) >= {"wgan", "energygan", "steingan", "medgan"}


@pytest.mark.parametrize("name", NAMES)
def test_no_epsilon_that_is_a_number_is_taken_and_nothing_is_read(name):
    cost = {"epsilon": 1.0, "delta": 1e-6, "method": name}
    with pytest.raises(nacre.NacreError, match=r"is not private.*--not-private"):
        nacre.plan(SCHEMA, **cost)
    with pytest.raises(nacre.NacreError, match="is not private"):
        nacre.fit("no such file", SCHEMA, **cost)
    assert "not private" in find(name).summary and "not private" in find(name).proof


@pytest.mark.parametrize("name", NAMES)
def test_it_fits_any_column_says_so_and_a_file_keeps_it(name, tmp_path):
    cost = {"epsilon": math.inf, "rows": 128, "bad_rows": "zero"}
    model = nacre.fit(people(), SCHEMA, method=quick(name), seed=0, **cost)
    assert str(model.guarantee).startswith("NOT PRIVATE")
    assert all(release.noise == 0 for release in model.guarantee.releases)
    drawn = model.sample(2000, seed=1)
    assert SCHEMA.check(drawn).ok
    if name in ("wgan", "medgan"):  # energies collapse on tables, as PPEM's paper reports, too
        rows = drawn.to_pandas()
        like = (rows["rich"] == (rows["job"] == "c")) & (rows["rich"] == (rows["age"] > 50))
        assert like.mean() > 0.6, "of rows at random a quarter would"
    model.save(tmp_path / "people.nacre")
    again = nacre.load(tmp_path / "people.nacre")
    assert again.sample(50, seed=2).equals(model.sample(50, seed=2))
    assert len(again.sample(0)) == 0
