"""Rows as vectors: made-up ones are of the kind that tables have, and what cross-entropy means."""

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
