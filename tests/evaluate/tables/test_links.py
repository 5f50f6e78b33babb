"""Links without what chance adds: columns that have none show none, and made-up ones are told."""

import numpy as np
import pandas as pd
import pytest

from nacre.evaluate import evaluate
from nacre.evaluate.tables.links import chance_v, corrected_v
from nacre.evaluate.tables.pairs import compare_pairs
from nacre.evaluate.tables.reading import read
from nacre.schema import Categorical, Integer, Schema

SHOPS, STREETS = ([f"{letter}{i}" for i in range(15)] for letter in "ab")
SCHEMA = Schema(
    {
        "shop": Categorical(values=SHOPS),
        "street": Categorical(values=STREETS),
        "paid": Integer(low=0, high=100),
        "weight": Integer(low=0, high=100),
    }
)


def draw(n, seed, linked=0.0):
    """Columns that have nothing to do with each other, but for some of the rows."""
    rng = np.random.default_rng(seed)
    shop, street = rng.integers(0, 15, (2, n))
    paid, weight = rng.integers(0, 101, (2, n))
    same = rng.random(n) < linked
    return pd.DataFrame(
        {
            "shop": np.array(SHOPS)[shop],
            "street": np.array(STREETS)[np.where(same, shop, street)],
            "paid": paid,
            "weight": np.where(same, paid, weight),
        }
    )


def told(real, synthetic):
    found = evaluate(real, synthetic, SCHEMA, metrics=["association"], jobs=1)
    return {f.topic: f for f in found.findings["synthetic"]}


def test_independent_columns_have_no_link_on_average():
    found = []
    for seed in range(20):
        rows = read(draw(1000, seed), SCHEMA, "a table")
        pairs = compare_pairs(rows, rows)
        found.append(pairs.real[0, 1])
        assert pairs.real[0, 1] < pairs.chance[0, 1]
    assert np.mean(found) < 0.03  # 0.12 if chance is not taken off
    assert np.sqrt(14 * 14 / 1000 / 14) == pytest.approx(0.118, abs=0.001)


def test_one_column_that_decides_another_is_a_link_of_one():
    for rows, size in ((20, 2), (200, 7), (1000, 30)):
        assert corrected_v(size - 1.0, size, size, rows) == pytest.approx(1)


def test_chance_is_exceeded_about_as_seldom_as_it_says():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 3, (2, 4000, 300))
    tables = np.stack([(3 * first + second == cell).sum(1) for cell in range(9)], 1) / 300
    joint = tables.reshape(-1, 3, 3)
    phi = (joint**2 / (joint.sum(2)[:, :, None] * joint.sum(1)[:, None])).sum((1, 2)) - 1
    beyond = corrected_v(phi, 3, 3, 300) > chance_v(np.array([3, 3]), 300)[0, 1]
    assert 0.005 < beyond.mean() < 0.02


def test_a_made_up_link_is_told_however_faint():
    found = told(draw(8000, 1), draw(8000, 2, linked=0.08))
    assert found["Made-up links"].level == "care"
    text = found["Made-up links"].text
    assert "shop with street (made up: 0.0" in text
    assert "paid with weight (made up: " in text
    assert "Pairs" not in found  # nothing is said to be fine


def test_a_strong_made_up_link_is_called_so():
    text = told(draw(3000, 1), draw(3000, 2, linked=0.5))["Pairs"].text
    assert text.startswith("Do not study") and "shop with street (made up: " in text
    assert "made up" not in told(draw(3000, 1, linked=0.5), draw(3000, 2))["Pairs"].text


@pytest.mark.parametrize("rows", [300, 3000])
def test_chance_makes_no_links(rows):
    for seed in range(4):
        found = told(draw(rows, seed), draw(rows, 50 + seed))
        assert "Made-up links" not in found
