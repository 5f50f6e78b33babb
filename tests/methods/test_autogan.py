"""DP-auto-GAN: gradients of one row, both phases in one budget, and that it learns."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest

import nacre
from nacre.methods.autogan.autogan import AutoGAN, row_vector
from nacre.methods.autogan.programs import critic_program
from nacre.rows import Row, TableEncoder
from nacre.schema import Categorical, Integer, Real, Schema
from nacre.vault import Adjacency, epsilon_of
from nacre.vault.loop import Loop, LoopStage

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SCHEMA = Schema(
    {
        "age": Integer(low=0, high=99),
        "height": Real(low=0, high=2, decimals=2, nullable=True),
        "job": Categorical(values=("a", "b", "c")),
        "rich": Categorical(values=("no", "yes")),
    },
    label="rich",
)
ENCODER = TableEncoder(SCHEMA)
VECTOR = row_vector(ENCODER)
KEY = jax.random.key(0)
PHASES = ("autoencoder", "critic")
FORMS = {
    "default": AutoGAN().small(),
    "published": AutoGAN.as_published().small(),
    "wide": AutoGAN.wide().small(),
    "random": AutoGAN(encoder="random").small(),
    "bare": dataclasses.replace(AutoGAN().small(), norm="none", hidden=0, decoder="fixed"),
}


def program(method, phase):
    """The program of a phase, the decoder being untrained."""
    rng = np.random.default_rng(0)
    first = method.autoencoder_program(VECTOR, 100, rng)
    if phase == "autoencoder":
        return first
    return critic_program(method, VECTOR, first.state["average"]["decoder"], 100, rng)


def questions(method, rows=1000):
    return dict(zip(PHASES, method.questions(ENCODER, Adjacency.ADD_REMOVE, rows), strict=True))


def released(program):
    """The shapes of what a step releases."""
    return jax.eval_shape(
        program.per_row[0], program.prepare(program.state, KEY), (), ENCODER.shape, KEY
    )


def some_rows(n, seed):
    rng = np.random.default_rng(seed)
    layout = ENCODER.layout
    most = [number.positions for number in layout.numbers]
    numbers = rng.integers(0, most, (n, len(most)), endpoint=True)
    codes = rng.integers(0, layout.sizes, (n, len(layout.sizes)))
    return Row(jnp.asarray(numbers, jnp.int32), jnp.asarray(codes, jnp.int32))


def without_noise(program, clip, *, update, state, steps=1):
    """A function of (rows, valid): the last state of a loop on all rows, without noise."""
    loop = Loop(
        prepare=lambda state, key: program.prepare(state[0], key),
        stages=(LoopStage(per_row=program.per_row[0], clip=clip),),
        update=update,
        threshold=2**32 - 1,
        multiplier=0.0,
        chunk=program.chunk,
    )
    run = loop.checked(state, ENCODER.shape, KEY).compiled()
    keys = jax.random.split(jax.random.key(1)), KEY, jnp.arange(steps, dtype=jnp.int32)
    return lambda rows, valid: run(state, rows, jnp.asarray(valid), *keys)


def flat(tree):
    return np.concatenate([np.asarray(leaf, np.float64).ravel() for leaf in jax.tree.leaves(tree)])


# -- privacy -----------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", PHASES)
def test_the_gradient_of_a_row_does_not_move_when_another_changes(phase):
    method = FORMS["default"]
    found, clip = program(method, phase), questions(method)[phase].stages[0].clip
    zeros = jax.tree.map(lambda shape: jnp.zeros(shape.shape), released(found))
    summed = without_noise(
        found,
        clip,
        update=lambda state, sums, key: (state[0], sums[0]),
        state=(found.state, zeros),
    )
    rows = some_rows(3, seed=1)
    mine, first, second = (
        flat(summed(rows, [place in kept for place in range(3)])[1])
        for kept in ((0,), (0, 1), (0, 2))
    )
    others = [flat(summed(rows, [place == other for place in range(3)])[1]) for other in (1, 2)]
    assert 0 < np.linalg.norm(mine) <= clip
    assert np.linalg.norm(others[0] - others[1]) > 0.01 * clip
    for both, other in zip((first, second), others, strict=True):
        np.testing.assert_allclose(both - other, mine, atol=1e-6 * clip)


@pytest.mark.parametrize("form", ["default", "random"])
def test_every_weight_that_moves_is_one_whose_gradient_is_released(form):
    found = program(FORMS[form], "autoencoder")
    same = jax.tree.map(lambda value: value.shape, found.state["weights"])
    assert jax.tree.map(lambda shape: shape.shape, released(found)) == same
    assert ("encoder" in found.state["weights"]) is (form != "random")


def test_the_autoencoder_depends_on_rows_through_released_sums_alone():
    found = program(FORMS["default"], "autoencoder")

    def after(program, seeds):
        update = lambda state, sums, key: (program.update(state[0], sums, key),)  # noqa: E731
        last = without_noise(program, 1.0, update=update, state=(program.state,), steps=3)
        return [last(some_rows(20, seed), np.ones(20, bool))[0]["average"] for seed in seeds]

    nothing = jax.tree.map(lambda shape: jnp.zeros(shape.shape), released(found))
    deaf = dataclasses.replace(found, per_row=(lambda shared, earlier, row, key: nothing,))
    one, other = after(deaf, (1, 2))
    np.testing.assert_array_equal(flat(one), flat(other))
    one, other = after(found, (1, 2))
    for part in one:
        assert np.abs(flat(one[part]) - flat(other[part])).max() > 0


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("form", FORMS)
def test_as_many_numbers_are_released_as_are_announced(form, phase):
    method = FORMS[form]
    sizes = [math.prod(shape.shape) for shape in jax.tree.leaves(released(program(method, phase)))]
    assert sum(sizes) == questions(method)[phase].size


def test_both_phases_cost_one_budget_and_more_steps_mean_more_noise():
    plans = [
        nacre.plan(SCHEMA, method=method, epsilon=1, delta=1e-5, rows=10_000)
        for method in (
            AutoGAN(autoencoder_steps=50, critic_steps=50),
            AutoGAN(autoencoder_steps=50, critic_steps=500),
            AutoGAN(autoencoder_steps=50, critic_steps=50, autoencoder_share=0.9),
        )
    ]
    for plan in plans:
        assert [release.name for release in plan.releases] == list(PHASES)
        assert 0.99 < epsilon_of(plan.releases, 1e-5) <= 1
    base, longer, shared = ([release.noise for release in plan.releases] for plan in plans)
    assert longer[1] > 1.5 * base[1]
    assert shared[0] < base[0] and shared[1] > base[1]


def test_a_private_number_of_rows_is_bought():
    asked = FORMS["default"].questions(ENCODER, Adjacency.ADD_REMOVE, None)
    assert [question.name for question in asked] == ["number of rows", *PHASES]
    assert sum(question.share for question in asked) == pytest.approx(1)


def test_an_empty_table_whose_size_is_public_stops_nothing():
    table = SCHEMA.decode(ENCODER.layout.encoded(np.zeros((0, 2)), np.zeros((0, 3))))
    cost = {"epsilon": 1, "delta": 1e-6, "adjacency": "replace-one"}
    model = nacre.fit(table, SCHEMA, method=FORMS["bare"], bad_rows="zero", **cost)
    assert SCHEMA.check(model.sample(5)).ok


# -- what is learnt ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clusters():
    """A model of two kinds of people, without noise: what is asked is whether it learns."""
    rng = np.random.default_rng(3)
    n = 2000
    rich = rng.random(n) < 0.4
    table = pa.table(
        {
            "age": np.clip(np.where(rich, 80, 20) + rng.normal(0, 3, n), 0, 99).astype(int),
            "height": np.where(rich, 0.4, 1.6).round(2),
            "job": np.where(rich, "c", "a"),
            "rich": np.where(rich, "yes", "no"),
        }
    )
    method = AutoGAN(
        hidden=16,
        code=4,
        latent=8,
        critic=16,
        autoencoder_steps=150,
        autoencoder_batch=128,
        autoencoder_rate=0.02,
        autoencoder_clip=1.0,
        critic_steps=400,
        critic_batch=128,
        critic_clip=1.0,
        critic_rate=0.005,
        generator_every=2,
    )
    return nacre.fit(table, SCHEMA, method=method, epsilon=math.inf, rows=n, seed=0)


def test_it_learns_two_clusters(clusters):
    drawn = clusters.sample(2000, seed=1).to_pandas()
    rich = drawn["rich"] == "yes"
    assert 0.1 < rich.mean() < 0.8
    assert (drawn["job"][rich] == "c").mean() > (drawn["job"][~rich] == "c").mean() + 0.4
    assert drawn["age"][rich].mean() > drawn["age"][~rich].mean() + 15


def test_its_file_brings_the_same_rows(clusters, tmp_path):
    path = tmp_path / "model.nacre"
    clusters.save(path)
    assert nacre.load(path).sample(50, seed=2).equals(clusters.sample(50, seed=2))


def test_learning_rates_that_are_far_too_large_stop_nothing(clusters):
    method = dataclasses.replace(FORMS["wide"], autoencoder_rate=1.0, generator_rate=1.0)
    table = clusters.sample(100, seed=3)
    model = nacre.fit(table, SCHEMA, method=method, epsilon=1, delta=1e-6, rows=100)
    assert SCHEMA.check(model.sample(20)).ok
