"""Networks: the same under JAX and NumPy, saved as plain data, and strangers' files refused."""

import copy
import dataclasses
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.nets.layers import (
    BatchNorm,
    LayerNorm,
    LeakyReLU,
    Linear,
    Residual,
    Tanh,
    from_json,
    mlp,
    run,
    to_json,
    widths,
)
from nacre.nets.network import NetworkGenerator, latent_inputs
from nacre.nets.trained import Network, finished, paper_layers, table_network
from nacre.nets.vector import RowVector
from nacre.rows import Row
from nacre.schema import Code, Layout, Number

LAYOUT = Layout(
    numbers=(Number("a", 9), Number("b", 2**40)),
    codes=(Code("c", 3), Code("y", 2), Code("d", 2)),
)
ENCODER = types.SimpleNamespace(layout=LAYOUT)
EVERY = (
    Linear(5, 8),
    BatchNorm(8),
    LeakyReLU(0.2),
    Residual((Linear(8, 8, bias=False), LayerNorm(8), Tanh())),
    Residual((Linear(8, 8), BatchNorm(8), LeakyReLU(0.0))),
    Linear(8, 7),
)


@pytest.fixture(scope="module")
def generator():
    rng = np.random.default_rng(0)
    vector = RowVector(LAYOUT, label=1)
    model = table_network(vector, paper_layers(vector, 4), 4, rng)
    return finished(model, np.array([0.25, 0.75]), rng)


def test_jax_and_numpy_agree_once_the_batch_norms_are_frozen():
    rng = np.random.default_rng(1)
    vector = RowVector(LAYOUT, label=1)
    model = table_network(vector, EVERY, 3, rng)
    assert widths(EVERY, 5) == vector.width
    frozen = finished(model, np.ones(2), np.random.default_rng(3))
    # The statistics are those of the very batch that `finished` draws.
    again = np.random.default_rng(3)
    inputs = latent_inputs(np.arange(1 << 13) % 2, 2, 3, again)
    under_jax = model.network(jnp.asarray(inputs))
    under_numpy = run(frozen.layers, frozen.arrays, inputs, np)
    np.testing.assert_allclose(under_jax, under_numpy, atol=2e-4)


def test_an_architecture_survives_json():
    assert from_json(to_json(EVERY)) == EVERY
    assert widths(mlp(5, 8, 7, batch_norm=True), 5) == 7


def test_a_network_is_saved_and_restored(generator):
    config, arrays = generator.state()
    again = NetworkGenerator.restore(config, arrays, ENCODER)
    drawn, others = (g.sample(500, np.random.default_rng(0)) for g in (generator, again))
    assert (drawn.ticks == others.ticks).all() and (drawn.codes == others.codes).all()


def test_rows_lie_within_the_layout_and_classes_have_their_shares(generator):
    drawn = generator.sample(1000, np.random.default_rng(0))
    assert (drawn.ticks >= 0).all() and (drawn.ticks <= LAYOUT.limits).all()
    assert (drawn.codes >= 0).all() and (drawn.codes < LAYOUT.sizes).all()
    assert abs(int((drawn.codes[:, 1] == 1).sum()) - 750) <= 1
    assert len(generator.sample(0, np.random.default_rng(0))) == 0


def test_the_label_is_conditioned_on_and_other_codes_are_left_to_rejection(generator):
    given = generator.given({1: 0, 0: 2})
    assert (given.sample(50, np.random.default_rng(0)).codes[:, 1] == 0).all()
    assert generator.given({0: 2}) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda config, arrays: config.update(label=7),
        lambda config, arrays: config.update(label=0),
        lambda config, arrays: config.update(latent=0),
        lambda config, arrays: config.update(latent=5),
        lambda config, arrays: config.update(sampled="yes"),
        lambda config, arrays: config["layers"].pop(),
        lambda config, arrays: config["layers"][0].update(outputs=-1),
        lambda config, arrays: config["layers"][0].update(outputs=2**40),
        lambda config, arrays: config["layers"][0].update(bias="no"),
        lambda config, arrays: config["layers"][2].update(slope=float("nan")),
        lambda config, arrays: config["layers"][0].update(kind="eval"),
        lambda config, arrays: config["layers"][0].update(inside=1),
        lambda config, arrays: config.update(layers=config["layers"] * 100),
        lambda config, arrays: arrays.pop("0.weight"),
        lambda config, arrays: arrays.update({"0.weight": arrays["0.weight"].T}),
        lambda config, arrays: arrays.update({"0.bias": arrays["0.bias"] * np.nan}),
        lambda config, arrays: arrays.update({"1.variance": -arrays["1.variance"] - 1}),
        lambda config, arrays: arrays.update(weights=np.array([0.0, 0.0])),
        lambda config, arrays: arrays.update(weights=np.ones(3)),
        lambda config, arrays: arrays.update(scale=np.ones((1, 2))),
        lambda config, arrays: arrays.update(scale=np.zeros((2, 2))),
    ],
)
def test_a_damaged_file_is_refused(generator, damage):
    config, arrays = copy.deepcopy(generator.state())
    damage(config, arrays)
    with pytest.raises((ValueError, KeyError, TypeError)):
        NetworkGenerator.restore(config, arrays, ENCODER)


@pytest.mark.parametrize("single", [False, True])
def test_a_row_becomes_a_vector_and_comes_back(single):
    vector = RowVector(LAYOUT, label=1, single=single)
    row = Row(np.array([3, LAYOUT.numbers[1].positions], np.int32), np.array([2, 1, 1], np.int32))
    found = np.asarray(vector.of(jax.tree.map(jnp.asarray, row)))
    ends = [1.0] if single else [0.0, 1.0]
    np.testing.assert_allclose(found, [3 / 9, 1.0, 0.0, 0.0, 1.0, *ends])
    # Outputs far out on either side draw just that row again.
    logits = np.where(found > 0.5, 40.0, -40.0)[None].astype(np.float32)
    logits[0, 0] = np.log(3 / 6)
    ticks, codes = vector.draw(logits, np.random.default_rng(0))
    assert ticks.tolist() == [[3, 2**40]]
    assert codes.tolist() == [[2, 0, 1]]


@pytest.mark.parametrize("single", [False, True])
def test_generated_rows_are_hard_and_their_gradient_is_that_of_the_chances(single):
    vector = RowVector(LAYOUT, label=1, single=single)
    outputs = jax.random.normal(jax.random.key(1), (4000, vector.width)) * 0 + 0.7
    rows = np.asarray(jax.jit(vector.rows)(outputs, jax.random.key(0)))
    codes = rows[:, vector.numbers :]
    np.testing.assert_allclose(codes, codes.round(), atol=1e-6)
    np.testing.assert_allclose(rows.mean(0), jax.jit(vector.chances)(outputs[0]), atol=0.05)

    def hard(x):
        return vector.rows(x, jax.random.key(2))[:, 2].sum()

    def soft(x):
        return vector.chances(x)[:, 2].sum()

    some = jax.random.normal(jax.random.key(3), (5, vector.width))
    slopes = (jax.jit(jax.grad(f))(some) for f in (hard, soft))
    np.testing.assert_allclose(*slopes, atol=1e-6)


def test_layers_that_do_not_fit_together_are_refused():
    with pytest.raises(ValueError, match="follows"):
        widths((Linear(3, 4), Linear(5, 6)), 3)
    with pytest.raises(ValueError, match="as wide"):
        widths((Residual((Linear(3, 4),)),), 3)
    assert dataclasses.replace(Linear(3, 4), bias=False).shapes() == {"weight": (3, 4)}
    assert Network((Linear(3, 4),), np.random.default_rng(0))(jnp.ones((2, 3))).shape == (2, 4)


@pytest.mark.parametrize("single", [False, True])
def test_expected_waves_are_the_mean_over_drawn_rows_and_slope_to_other_categories(single):
    vector = RowVector(LAYOUT, label=1, single=single)
    frequencies = jax.random.normal(jax.random.key(0), (5, vector.width)) * 3
    outputs = jax.random.normal(jax.random.key(1), (1, vector.width))
    real, imaginary = jax.jit(lambda x: vector.waves(frequencies, vector.chances(x)))(outputs)
    rows = np.asarray(jax.jit(vector.rows)(np.repeat(outputs, 200_000, 0), jax.random.key(2)))
    phases = np.asarray(rows @ np.asarray(frequencies.T), np.float64)
    np.testing.assert_allclose(real[0], np.cos(phases).mean(0), atol=0.02)
    np.testing.assert_allclose(imaginary[0], np.sin(phases).mean(0), atol=0.02)
    # At a one-hot row they are the row's own, and the slope is the change to another value.
    row = rows[0].round(6)
    other = row.copy()
    other[2:5] = np.roll(row[2:5], 1)
    ends = [
        np.concatenate([np.cos(x @ frequencies.T), np.sin(x @ frequencies.T)]) for x in (row, other)
    ]

    def waves(x):
        return jnp.concatenate(vector.waves(frequencies, x))

    found, slopes = jax.jit(lambda x: (waves(x), jax.jacrev(waves)(x)))(row)
    slope = np.asarray(slopes) @ (other - row)
    np.testing.assert_allclose(found, ends[0], atol=1e-4)
    np.testing.assert_allclose(slope, ends[1] - ends[0], atol=1e-4)
