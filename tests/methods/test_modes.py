"""Private mixtures of single columns, and the encoding that they give."""

import jax
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.vaults import open_vault

from nacre.methods.modes import (
    GRID,
    better_modes,
    find_modes,
    mode_features,
    mode_questions,
)
from nacre.nets.modes import Modes, ModeSplit
from nacre.rows import Row
from nacre.schema import Code, Integer, Layout, Number, Real, Schema

SCHEMA = Schema({"x": Real(low=0, high=1), "few": Integer(low=0, high=5)})
CENTERS = np.array([0.05, 0.2, 0.45, 0.7, 0.93])
SHARES = np.array([0.3, 0.1, 0.25, 0.15, 0.2])


def five_modes(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.choice(CENTERS, n, p=SHARES) + rng.normal(0, 0.015, n)
    return pa.table({"x": np.clip(x, 0, 1), "few": rng.integers(0, 6, n)})


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_finds_the_modes_of_a_column_at_a_small_epsilon(adjacency):
    layout = SCHEMA.layout
    questions = mode_questions(layout, size=5, iterations=12, share=1.0)
    settings = {"epsilon": 0.1, "delta": 1e-6, "adjacency": adjacency}
    vault = open_vault(five_modes(200_000), SCHEMA, *questions, **settings)
    modes = find_modes(vault, questions, layout, 5)
    assert modes.places == (0,)  # six values are too few to be split
    np.testing.assert_allclose(np.sort(modes.means[0]), CENTERS, atol=0.01)
    order = np.argsort(modes.means[0])
    np.testing.assert_allclose(modes.weights[0, order], SHARES, atol=0.03)


@settings(deadline=None, max_examples=25)
@given(st.integers(-(2**31), 2**31 - 1), st.integers(0, 10_000))
def test_no_row_exceeds_its_bound(position, seed):
    rng = np.random.default_rng(seed)
    layout = Layout(numbers=(Number("a", 99), Number("b", 2**40)), codes=())
    modes = Modes(
        (0, 1), rng.dirichlet(np.ones(4), 2), rng.random((2, 4)), rng.uniform(0.002, 0.5, (2, 4))
    )
    (question,) = mode_questions(layout, size=4, iterations=1, share=1.0)
    with jax.enable_x64(True):
        row = Row(np.full(2, position, np.int32), np.zeros(0, np.int32))
        values = np.asarray(mode_features(layout, modes)(row), np.float64)
    assert values.shape == (question.bound.size,)
    for part in np.split(values, 3):
        assert np.linalg.norm(part) <= question.bound.segments[0].norm


def test_the_bound_is_that_of_the_analysis_and_is_reached():
    layout = SCHEMA.select(["x"]).layout
    (question,) = mode_questions(layout, size=2, iterations=1, share=1.0)
    one = 1 << GRID
    assert question.bound.sensitivity("add-remove") == pytest.approx(one * np.sqrt(3))
    assert question.bound.sensitivity("replace-one") == pytest.approx(one * np.sqrt(8))
    # Modes far apart, and a row 2.5 deviations from one: each part has all of its norm.
    far = Modes((0,), np.full((1, 2), 0.5), np.array([[0.0, 0.9]]), np.full((1, 2), 0.04))
    most = [number.positions for number in layout.numbers]
    with jax.enable_x64(True):
        row = Row(np.array(most, np.int32), np.zeros(0, np.int32))
        values = np.asarray(mode_features(layout, far)(row), np.float64)
    assert np.linalg.norm(values) == pytest.approx(one * np.sqrt(3), rel=1e-3)


@pytest.mark.parametrize("noise", [0.0, 1e3, 1e6, -1e6])
def test_whatever_the_noise_says_modes_stay_modes(noise):
    rng = np.random.default_rng(0)
    modes = Modes.grid((0,), 5)
    for _ in range(5):
        modes = better_modes(modes, noise * rng.normal(size=(15,)))
    assert (modes.weights > 0).all() and modes.weights.sum() == pytest.approx(1)
    assert np.isfinite(modes.chances(np.linspace(0, 1, 50))).all()


def test_a_row_is_split_and_put_together_again():
    layout = Layout(numbers=(Number("a", 1000), Number("b", 5)), codes=(Code("c", 2),))
    modes = Modes((0,), np.array([[0.5, 0.5]]), np.array([[0.2, 0.8]]), np.array([[0.05, 0.1]]))
    split = ModeSplit(layout, modes)
    assert [number.ticks for number in split.layout.numbers] == [4096, 5]
    assert [code.size for code in split.layout.codes] == [2, 2]
    rows = Row(np.array([[220, 3], [950, 4], [999, 5]], np.int32), np.array([[1], [0], [1]]))
    with jax.enable_x64(True):
        found = jax.vmap(split.forward)(jax.tree.map(jax.numpy.asarray, rows))
    codes = np.asarray(found.codes)
    assert codes[:, 1].tolist() == [0, 1, 1] and codes[:, 0].tolist() == [1, 0, 1]
    back = split.backward(split.layout.encoded(np.asarray(found.numbers), codes))
    np.testing.assert_allclose(back.ticks, rows.numbers, atol=1)
    said, array = split.state()
    again = ModeSplit.restore(said, {"modes": array}, layout)
    assert (
        again.backward(split.layout.encoded(np.asarray(found.numbers), codes)).ticks == back.ticks
    ).all()


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ([2], np.ones((3, 1, 2))),
        ([0, 0], np.ones((3, 2, 2))),
        ([], np.ones((3, 0, 2))),
        ([0], np.ones((2, 1, 2))),
        ([0], np.zeros((3, 1, 2))),
        ([0], np.full((3, 1, 2), np.nan)),
        (["0"], np.ones((3, 1, 2))),
    ],
)
def test_damaged_modes_are_refused(said, values):
    layout = Layout(numbers=(Number("a", 1000), Number("b", 5)), codes=())
    with pytest.raises(ValueError):
        ModeSplit.restore(said, {"modes": values}, layout)
