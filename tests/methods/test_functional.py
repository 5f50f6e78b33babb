"""The functional mechanism: its two forms agree, noise is in the gradient, and what is refused."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.vaults import open_vault

import nacre
from nacre.embed.kernel import GaussianKernels
from nacre.embed.spectrum import RowSpectrum
from nacre.errors import NacreError
from nacre.methods.functional.exact import exact_program
from nacre.methods.minibatch.features import FreshWaves, features_program
from nacre.nets.vector import RowVector
from nacre.rows import Row, TableEncoder
from nacre.schema import Categorical, Code, Integer, Layout, Number, Schema
from nacre.vault import Adjacency

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

LAYOUT = Layout(numbers=(Number("a", 100), Number("b", 100)), codes=(Code("y", 2),))
VECTOR = RowVector(LAYOUT, label=0)
KERNELS = GaussianKernels((0.5, 0.2))
SPECTRUM = RowSpectrum(2, KERNELS.bandwidths)
rng = np.random.default_rng(0)
ROWS = Row(rng.integers(0, 101, (40, 2)).astype(np.int32), rng.integers(0, 2, (40, 1)))
POINTS = jnp.asarray(rng.random((2, 5, 2)), jnp.float32)
EXPECTED = np.array([20.0, 20.0])


class Asked(NamedTuple):
    """A state of which only the question matters."""

    arrays: Any
    asked: Any


class Points:
    """A generator whose arrays are its rows, and whose step is to return the gradient."""

    vector, each = VECTOR, 5

    def rows(self, arrays, key):
        return arrays

    chances = rows  # there is nothing to draw

    def start(self, ask, key):
        return Asked(POINTS, ask(POINTS, key))

    def descend(self, state, loss, ask, key):
        return jax.grad(lambda arrays: jnp.sum(loss(arrays)))(state.arrays)


def exact():
    return exact_program(Points(), KERNELS, EXPECTED, key=jax.random.key(1))


def features(count):
    return features_program(Points(), FreshWaves(SPECTRUM, count), EXPECTED, key=jax.random.key(1))


def contributions(program, rows=ROWS):
    shared = program.prepare(program.state, jax.random.key(2))
    one = lambda row: program.per_row[0](shared, (), row, jax.random.key(3))  # noqa: E731
    return jax.jit(jax.vmap(one))(rows)


def gradient(program, sums):
    # Compiled as a whole: operation by operation takes longer.
    return jax.jit(lambda sums: program.update(program.state, (sums,), jax.random.key(4)))(sums)


def test_without_noise_both_forms_have_the_gradient_of_the_kernel_distance():
    def distance(points):
        x = jnp.asarray(ROWS.numbers, jnp.float32) / 100
        k = jax.vmap(jax.vmap(KERNELS, (None, 0)), (0, None))
        total = 0.0
        for place in range(2):
            own = (ROWS.codes[:, 0] == place)[:, None]
            pairs = k(points[place], points[place]) * (1 - jnp.eye(5))
            total += pairs.sum() / 20 - 2 * (own * k(x, points[place])).sum() / 20 / 5
        return total

    wanted = jax.jit(jax.grad(distance))(POINTS)
    by_points = gradient(exact(), contributions(exact()).sum(0))
    np.testing.assert_allclose(by_points, wanted, atol=2e-4)
    many = features(20_000)
    by_waves = gradient(many, contributions(many).sum(0))
    np.testing.assert_allclose(by_waves, wanted, atol=0.06)
    assert np.abs(wanted).max() > 0.3


@pytest.mark.parametrize("form", ["exact", "features"])
def test_noise_reaches_the_gradient_with_the_kernels_covariance(form):
    """As published the direction of the gradient has none (cosine 1 for every noise)."""
    program = exact() if form == "exact" else features(2000)
    shape = contributions(program).shape[1:]

    def moved(sums):
        return program.update(program.state, (sums,), jax.random.key(4))[0].ravel()

    # It moves in proportion, so that its covariance follows from the slopes, without drawing.
    nothing, noise = np.zeros(shape), np.random.default_rng(5).normal(size=shape)
    slopes = np.asarray(jax.jit(jax.jacrev(moved))(nothing)).reshape(10, -1)
    still, after = (np.asarray(jax.jit(moved)(sums)) for sums in (nothing, noise))
    np.testing.assert_allclose(after - still, slopes @ noise.ravel(), atol=1e-5)
    gram = np.asarray(jax.jit(KERNELS.gram)(POINTS[0]))[5:, 5:]
    wanted = gram / KERNELS.unit**2 * (2 / 5 / 20) ** 2
    assert np.abs(slopes @ slopes.T - wanted).max() < 0.1 * wanted.max()


@pytest.mark.parametrize("form", ["exact", "features"])
def test_a_row_contributes_at_most_one_and_only_to_its_class(form):
    program = exact() if form == "exact" else features(50)
    corners = np.array([[0, 0], [100, 0], [100, 100], [2**31 - 1, 0]], np.int32)
    near = np.rint(100 * np.asarray(POINTS[1])).astype(np.int32)
    numbers = np.concatenate([corners, near])
    found = contributions(program, Row(numbers, np.ones((len(numbers), 1), np.int32)))
    norms = np.linalg.norm(found, axis=(1, 2))
    assert norms.max() <= 1 + 1e-4
    assert norms.max() >= 0.99, "the bound is reached"
    assert not found[:, 0].any()
    if form == "features":
        np.testing.assert_allclose(norms, 1, atol=1e-5)


COLUMNS = {"a": Integer(low=0, high=100), "b": Integer(low=0, high=100)}
SCHEMA = Schema(COLUMNS | {"y": Categorical(values=("n", "p"))}, label="y")


def table(n=300):
    """Class n in one corner, class p in the other."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    spread = rng.normal(0, 5, (n, 2))
    ticks = np.clip(np.rint(25 + 50 * y[:, None] + spread), 0, 100)
    return SCHEMA.decode(SCHEMA.layout.encoded(ticks, y[:, None]))


def test_networks_by_class_are_trained_and_come_back_from_plain_data():
    method = nacre.Functional(
        release="features", parallel=True, steps=2, sample=50, frequencies=8, blocks=1, batch=16
    )
    encoder = TableEncoder.of(SCHEMA)
    questions = method.questions(encoder, Adjacency.ADD_REMOVE, 300)
    vault = open_vault(table(), SCHEMA, *questions, epsilon=1e6, scale=1.0)
    plan = dataclasses.replace(vault.plan, rows=300)
    generator = method.learn(vault, plan, key=jax.random.key(0))
    assert len(generator.parts) == 2
    again = type(generator).restore(*generator.state(), encoder)
    drawn, same = (g.sample(40, np.random.default_rng(1)) for g in (generator, again))
    np.testing.assert_array_equal(drawn.ticks, same.ticks)
    assert 5 < drawn.codes.sum() < 35


def test_what_cannot_be_served_is_refused_before_a_row_is_read():
    cost = {"epsilon": 1.0, "delta": 1e-6}
    wide = Schema({f"c{i}": Categorical(values=tuple("abcdefgh")) for i in range(30)})
    with pytest.raises(NacreError, match="Choose fewer points, or release='features'"):
        nacre.plan(wide, method=nacre.Functional(release="exact"), **cost)
    by_class = nacre.Functional(release="features", parallel=True, steps=3)
    with pytest.raises(NacreError, match="may leave one class and enter another"):
        nacre.plan(SCHEMA, method=by_class, adjacency="replace-one", rows=300, **cost)
    with pytest.raises(NacreError, match="parallel must be false"):
        nacre.Functional(parallel=True)
    with pytest.raises(NacreError, match="release=.one-shot."):
        nacre.Functional(release="exact", bandwidth=0.1)


def test_the_papers_schedules():
    one, many = nacre.Functional.as_published(), nacre.Functional.as_published_by_class()
    assert (one.sample / 60_000, one.steps) == (0.001, 200_000)
    assert (many.sample / 60_000, many.steps, many.parallel) == (0.01, 20_000, True)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_plan_names_what_a_step_reads(adjacency):
    small = nacre.Functional(release="exact", points=4, steps=3, sample=50)
    plan = nacre.plan(SCHEMA, method=small, epsilon=1, delta=1e-6, rows=300, adjacency=adjacency)
    assert [release.name for release in plan.releases] == ["counts", "training"]
    assert plan.releases[1].size == 2 * 4 * 3
    same = dataclasses.replace(small, release="features", frequencies=12, blocks=1)
    assert same.questions(TableEncoder.of(SCHEMA), plan.adjacency, 300)[1].size == 2 * 2 * 12
