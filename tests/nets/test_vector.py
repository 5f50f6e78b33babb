"""Rows as vectors: made-up ones are of the kind that tables have, and what cross-entropy means."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.nets.vector import RowVector
from nacre.schema import Categorical, Real, Schema

SCHEMA = Schema(
    {
        "x": Real(low=0, high=1),
        "sex": Categorical(values=("f", "m")),
        "color": Categorical(values=("red", "green", "blue")),
    }
)


@pytest.mark.parametrize("single", [False, True])
def test_made_up_rows_are_such_as_a_table_could_have(single):
    vector = RowVector(SCHEMA.layout, single=single)
    rows = vector.made_up(500, np.random.default_rng(0))
    assert rows.shape == (500, vector.width)
    assert 0 <= rows[:, 0].min() < 0.1 and 0.9 < rows[:, 0].max() <= 1
    for _, at, width in vector.blocks:
        block = rows[:, at : at + width]
        assert set(np.unique(block)) == {0, 1}
        assert (block.mean(axis=0) > 0.2).all()
        if width > 1:
            assert (block.sum(axis=1) == 1).all()


def test_cross_entropy_of_numbers_single_places_and_blocks():
    vector = RowVector(SCHEMA.layout, single=True)  # x, sex, then three places of color
    outputs, x = jnp.array([1.0, -2.0, 0.5, 0.0, -1.0]), jnp.array([0.3, 1.0, 0.0, 1.0, 0.0])
    chances = np.asarray(vector.chances(outputs), np.float64)
    number = 0.3 * np.log(chances[0]) + 0.7 * np.log(1 - chances[0])
    expected = -(number + np.log(chances[1]) + np.log(chances[3])) / 5
    assert vector.cross_entropy(outputs, x) == pytest.approx(expected, rel=1e-5)


def test_places_of_one_column_each_that_follow_each_other_are_one_run():
    yes, more = Categorical(values=("n", "y")), Categorical(values=("a", "b", "c"))
    columns = {"a": yes, "b": yes, "c": more, "d": yes, "label": yes, "e": yes, "f": yes}
    layout = Schema({"x": Real(low=0, high=1)} | columns).layout
    vector = RowVector(layout, label=4, single=True)
    # No run goes over the label, whose code is not of the vector.
    assert vector.runs == ((0, 1, 1, 2), (2, 3, 3, 1), (3, 6, 1, 1), (5, 7, 1, 2))
    codes = jnp.array([1, 0, 2, 1, 1, 0, 1])
    found = vector.of(SimpleNamespace(numbers=jnp.array([0]), codes=codes))
    np.testing.assert_array_equal(found, [0, 1, 0, 0, 0, 1, 1, 0, 1])
    outputs = jnp.linspace(-2, 2, vector.width)
    chances = np.asarray(vector.chances(outputs))
    np.testing.assert_allclose(chances[[1, 8]], 1 / (1 + np.exp(-outputs[jnp.array([1, 8])])), 1e-5)
    assert chances[3:6].sum() == pytest.approx(1, rel=1e-5)
    drawn = vector.rows(jnp.tile(outputs, (4000, 1)), jax.random.key(0))
    np.testing.assert_allclose(drawn.mean(0), chances, atol=0.04)
