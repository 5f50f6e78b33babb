"""Pairs of values: what is believed of their counts, and that values stay together."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.methods.mosaic.finer import _believed, finer_question, fitted
from nacre.rows import TableEncoder
from nacre.schema import Categorical, Integer, Schema

CODES, GROUPS = 30, 6
SCHEMA = Schema(
    {
        "code": Categorical(values=tuple(f"c{k:02}" for k in range(CODES))),
        "group": Categorical(values=tuple("abcdef")),
        "age": Integer(low=0, high=60),
        "paid": Categorical(values=("no", "yes")),
    },
    label="paid",
)


def coded(rows: int) -> pd.DataFrame:
    """A code of a few common and many rare values, each of one group."""
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, CODES + 1)
    code = rng.choice(CODES, rows, p=share / share.sum())
    age = rng.integers(0, 61, rows)
    return pd.DataFrame(
        {
            "code": [f"c{k:02}" for k in code],
            "group": np.array(list("abcdef"))[code % GROUPS],
            "age": age,
            "paid": np.where(age + rng.normal(0, 15, rows) > 30, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def models():
    method = nacre.Mosaic(fits=1, components=60, steps=200)
    table = coded(12_000)
    return [
        nacre.fit(table, SCHEMA, method=dataclasses.replace(method, finer=f), epsilon=2, delta=1e-5)
        for f in (0.0, 0.04)
    ]


def wrong(rows: pd.DataFrame) -> float:
    number = rows["code"].str[1:].astype(int)
    return float((np.array(list("abcdef"))[number % GROUPS] != rows["group"]).mean())


def test_a_code_and_its_group_stay_together(models):
    without, finer = models
    names = [release.name for release in finer.guarantee.releases]
    assert "pairs of values" in names
    assert "pairs of values" not in [release.name for release in without.guarantee.releases]
    apart = [wrong(model.sample(6000, seed=1)) for model in models]
    assert apart[1] < 0.6 * apart[0]


def test_conditions_and_columns_are_kept(models):
    model = models[1]
    rows = model.sample(3000, seed=2, where={"code": "c08"})
    assert set(rows["code"]) == {"c08"}
    assert (rows["group"] == "c").mean() > 0.5  # 8 = 2 mod 6; by chance it is .18
    codes = coded(12_000)["code"].value_counts(normalize=True)
    drawn = model.sample(12_000, seed=3)["code"].value_counts(normalize=True)
    assert codes.sub(drawn, fill_value=0).abs().sum() / 2 < 0.08


def test_a_file_with_tables_of_other_columns_is_refused(models):
    generator, encoder = models[1].generator, models[1].encoder
    config, arrays = generator.state()
    for change in ({"finer_shares": arrays["finer_shares"][1:]}, {"finer": arrays["finer"] * 0}):
        with pytest.raises(ValueError, match="pairs of values"):
            type(generator).restore(config, {**arrays, **change}, encoder)


def test_it_is_asked_even_where_there_is_nothing_to_link():
    rng = np.random.default_rng(4)
    table = coded(400).assign(group=rng.choice(list("abcdef"), 400))
    method = nacre.Mosaic(fits=1, components=6, steps=10)
    model = nacre.fit(table, SCHEMA, method=method, epsilon=0.5, delta=1e-5)
    assert not len(model.generator.finer)
    assert "pairs of values" in [release.name for release in model.guarantee.releases]
    assert len(model.sample(10, seed=0)) == 10


def test_what_is_asked_is_public_and_bounded():
    columns = design_columns()
    question = finer_question(columns, 3, 4096, 0.04)
    assert question is not None and question.bound.segments[0].norm == 4096
    assert finer_question(columns, 1, 4096, 0.04) is None
    assert finer_question(columns[:1], 3, 4096, 0.04) is None
    assert finer_question(columns, 3, 4096, 0.0) is None


def design_columns():
    return nacre.Mosaic().design(TableEncoder(SCHEMA)).columns


def test_noise_is_not_believed_and_sure_counts_are():
    expected = np.full((4, 4), 1 / 16)
    error = np.full((4, 4), 0.01)
    noise = np.random.default_rng(1).normal(0, 0.005, (4, 4))
    assert _believed(expected + noise, error, expected) == pytest.approx(expected)
    seen = np.diag(np.full(4, 0.25)) + noise / 10
    found = fitted(_believed(seen, error, expected), np.full(4, 0.25), np.full(4, 0.25))
    assert found.sum(0) == pytest.approx(np.full(4, 0.25))
    assert found.sum(1) == pytest.approx(np.full(4, 0.25), rel=1e-4)
    assert np.trace(found) > 0.95
