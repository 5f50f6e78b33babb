"""Rows as vectors: made-up ones are of the kind that tables have, and what cross-entropy means."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.nets.vector import RowVector
from nacre.rows import Row
from nacre.schema import Boolean, Categorical, Real, Schema

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


def test_neighbors_of_two_values_are_one_run_and_come_out_where_they_went_in():
    wide = Schema({"x": Real(low=0, high=1), **{f"c{i}": Boolean() for i in range(5)}})
    wide = Schema({**wide.columns, "color": SCHEMA.columns["color"], "last": Boolean()})
    vector = RowVector(wide.layout, single=True)
    assert [(places, width) for places, _, width in vector.runs] == [
        ((0, 1, 2, 3, 4), 1),
        ((5,), 3),
        ((6,), 1),
    ]
    limit = wide.layout.numbers[0].positions
    row = Row(jnp.array([limit]), jnp.array([0, 1, 0, 1, 1, 2, 1]))
    expected = [1, 0, 1, 0, 1, 1, 0, 0, 1, 1]
    assert vector.of(row).tolist() == expected
    sure = 40 * (np.array([expected] * 3, np.float32) - 0.5)
    assert vector.rows(jnp.asarray(sure), jax.random.key(0)).tolist() == [expected] * 3
    _, codes = vector.draw(sure, np.random.default_rng(0))
    assert codes.tolist() == [[0, 1, 0, 1, 1, 2, 1]] * 3


def test_standardized_numbers_have_mean_zero_and_come_back():
    layout = SCHEMA.layout
    vector = RowVector(layout, single=True, scale=((0.01, 0.002),))
    limit = layout.numbers[0].positions
    row = Row(jnp.array([round(0.014 * limit)]), jnp.array([1, 0]))
    seen = np.asarray(vector.of(row))
    assert seen[0] == pytest.approx(2, abs=1e-3)
    ticks, _ = vector.draw(40 * seen[None], np.random.default_rng(0))  # beyond the farthest
    assert ticks[0, 0] / layout.limits[0] == pytest.approx(0.03, abs=1e-4)
    ticks, _ = vector.draw(seen[None], np.random.default_rng(0))
    assert ticks[0, 0] / layout.limits[0] == pytest.approx(0.014, abs=1e-4)
    far = Row(jnp.array([limit]), row.codes)  # an amount of a hundred deviations
    assert vector.of(far)[0] == 10
