"""A numeric label: cut into classes privately, counted by class, drawn in order inside them."""

import dataclasses
import math

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from nacre.embed.marginals import cell_places, single_features
from nacre.errors import NacreError
from nacre.fit import fit
from nacre.histograms.weights import NORM, column_weights
from nacre.methods.mosaic.check import check
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.methods.mosaic.target import CLASSES, Target, within_classes
from nacre.rows import TableEncoder
from nacre.schema import Categorical, Integer, Real, Schema
from nacre.vault import Adjacency

QUICK = Mosaic(components=40, fits=1, steps=150)
TOWNS = tuple("abcdefgh")
SCHEMA = Schema(
    {
        "area": Integer(low=0, high=400),
        "price": Real(low=0, high=100, decimals=1, nullable=True),
        "town": Categorical(values=TOWNS),
    },
    label="price",
)


def homes(n=6000, seed=0):
    rng = np.random.default_rng(seed)
    town, area = rng.integers(0, 8, n), rng.gamma(8, 12, n).clip(0, 400).round()
    price = (0.25 * area + 3 * town + 2 * rng.normal(size=n)).clip(0, 100).round(1)
    price[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame(
        {"area": area.astype(int), "price": price, "town": np.array(list(TOWNS))[town]}
    )


@pytest.fixture(scope="module")
def model():
    return fit(homes(), SCHEMA, method=QUICK, epsilon=1, delta=1e-6, seed=0)


def test_the_label_is_released_first_and_costs_what_one_cell_costs():
    encoder = TableEncoder(SCHEMA)
    found = Mosaic().questions(encoder, Adjacency.ADD_REMOVE, None)
    assert [question.name for question in found[:2]] == ["cells of the label", "histograms"]
    assert sum(question.share for question in found) == pytest.approx(1)
    assert found[0].bound.sensitivity(Adjacency.REPLACE_ONE) == pytest.approx(math.sqrt(2))
    design = Mosaic().design(encoder)
    cells = sum(column.size for column in design.columns)
    assert design.classes == CLASSES + 1 and design.joined == 2
    # Splitting by class makes the vector longer and its norm no larger.
    assert found[1].bound.size == design.classes * cells
    assert found[1].bound.sensitivity(Adjacency.ADD_REMOVE) == NORM


def test_a_row_contributes_one_cell_of_each_column_to_its_own_class():
    encoder = TableEncoder(SCHEMA)
    columns = Mosaic().design(encoder).columns
    places, size = cell_places(encoder.layout, columns), sum(each.size for each in columns)
    group = np.minimum(np.arange(columns[1].size) // 60, 4)
    target = Target(1, group, np.zeros(len(group)), 1.0)
    rows = encoder.encode(pa.RecordBatch.from_pandas(homes(200))).rows
    plain, _ = jax.vmap(single_features(places))(rows)
    weights = column_weights(columns)
    split = target.split(single_features(places, weights), places, columns, size)
    indices, values = jax.vmap(split)(rows)
    assert (np.diff(indices, axis=1) > 0).all() and (values == weights).all()
    assert np.linalg.norm(values, axis=1) == pytest.approx(NORM, rel=1e-3)  # the bound is reached
    own = group[np.asarray(plain)[:, 1] - columns[0].size]
    assert np.array_equal(indices - plain, np.repeat(own[:, None] * size, 3, axis=1))


def test_columns_tell_the_label_as_in_the_table(model):
    real, drawn = homes(), model.sample(6000, seed=1)
    assert drawn["price"].isna().mean() == pytest.approx(real["price"].isna().mean(), abs=0.02)
    found, wanted = (t[["area", "price"]].corr(method="spearman").iloc[0, 1] for t in (drawn, real))
    assert found == pytest.approx(wanted, abs=0.1)
    medians, right = (t.groupby("town")["price"].median() for t in (drawn, real))
    assert np.abs(medians - right).max() < 4  # they differ by 21
    for part in (0.05, 0.5, 0.95):
        found, wanted = (t["price"].quantile(part) for t in (drawn, real))
        assert found == pytest.approx(wanted, abs=4)
    # Inside the upper class, too, larger homes cost more.
    high = drawn[drawn["price"] > real["price"].quantile(0.9)]
    assert high[["area", "price"]].corr(method="spearman").iloc[0, 1] > 0.05  # 0.28 +- 0.06


def test_its_tables_are_released_with_the_classes_of_the_label(model):
    by_town = model.answer("price by town")
    assert by_town.counts.shape == (CLASSES + 1, 8)
    assert by_town.counts.sum() == pytest.approx(6000, abs=6 * by_town.noise[0, 0] * math.sqrt(72))
    alone = model.answer("price")
    real = homes()["price"].isna().sum()
    assert alone.counts[-1] == pytest.approx(real, abs=6 * alone.noise[-1])
    measured = {each.column: each for each in model.generator.measured()}
    assert measured["price"].noise < measured["town"].noise  # it lies in one class only


def test_places_inside_a_class_are_even_and_follow_the_chances():
    rng = np.random.default_rng(0)
    lean = rng.normal(size=9000)
    chance = np.exp(np.outer(lean, [-1.0, 0.0, 1.0]))
    chance /= chance.sum(1, keepdims=True)
    label = np.array([rng.choice(3, p=row) for row in chance])
    found = within_classes(chance, label, chance.mean(0), 3, rng)
    for each in range(3):
        inside = np.sort(found[label == each])
        assert np.abs(inside - np.linspace(0, 1, len(inside))).max() < 0.01
        assert np.corrcoef(found[label == each], lean[label == each])[0, 1] > 0.15
    flat = np.full((9000, 3), 1 / 3)
    even = within_classes(flat, label, np.full(3, 1 / 3), 3, rng)
    assert abs(np.corrcoef(even[label == 1], lean[label == 1])[0, 1]) < 0.06


def test_a_number_with_few_values_has_a_class_for_each():
    rng = np.random.default_rng(1)
    stars = rng.integers(0, 4, 3000)
    table = pd.DataFrame({"x": (10 * stars + rng.integers(0, 10, 3000)), "stars": stars})
    columns = {"x": Integer(low=0, high=49), "stars": Integer(low=0, high=4)}
    made = fit(
        table, Schema(columns, label="stars"), method=QUICK, epsilon=1, delta=1e-6, seed=0
    ).sample(3000, seed=0)
    assert (made["x"] // 10 == made["stars"]).mean() > 0.9


def test_a_file_that_says_nonsense_about_the_label_is_refused(model):
    good = model.generator
    check(good)
    for wrong, what in (
        ({"target_classes": None}, "without its classes"),
        ({"target": 0}, "is no number, or"),
        ({"target": 7}, "is no number, or"),
        ({"target_classes": good.target_classes[::-1]}, "not in order"),
        ({"target_classes": np.zeros_like(good.target_classes)}, "other classes"),
    ):
        with pytest.raises(NacreError, match=what):
            check(dataclasses.replace(good, **wrong))
