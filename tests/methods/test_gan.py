"""DPGAN and DP-CGAN: what they ask, what a row's gradient is made of, and that they learn."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest

import nacre
from nacre.methods.gan import DPCGAN, DPGAN
from nacre.nets.layers import BatchNorm
from nacre.rows import ImageEncoder, Row, TableEncoder
from nacre.schema import Categorical, ImageSchema, Integer, Schema
from nacre.vault import Adjacency

pytestmark = pytest.mark.filterwarnings("ignore:.*NOT PRIVATE")

SCHEMA = Schema(
    {
        "age": Integer(low=0, high=99),
        "job": Categorical(values=("a", "b", "c")),
        "rich": Categorical(values=("no", "yes")),
    },
    label="rich",
)
ENCODERS = {
    "table": TableEncoder(SCHEMA),
    "regression": TableEncoder(SCHEMA.with_label("age")),
    "image": ImageEncoder(ImageSchema(height=8, width=7, classes=3)),
    "unlabeled": ImageEncoder(ImageSchema(height=8, width=7, classes=3).with_label(None)),
}
METHODS = {
    "dpgan": DPGAN().small(),
    "dpcgan": DPCGAN().small(),
    "convolutions": DPCGAN(layers="convolutions").small(),
}
KEY = jax.random.key(0)


def made(method, encoder):
    """The program, with all classes equally likely."""
    vector = method.vector(encoder)
    shares = np.full(vector.classes, 1 / vector.classes)
    return method.program(encoder, vector, shares, 100, np.random.default_rng(0))


@pytest.mark.parametrize("data", ENCODERS)
@pytest.mark.parametrize("name", METHODS)
def test_as_many_numbers_are_released_as_are_announced(name, data):
    method, encoder = METHODS[name], ENCODERS[data]
    program = made(method, encoder)
    shared = program.prepare(program.state, KEY)
    released = jax.eval_shape(program.per_row[0], shared, (), encoder.shape, KEY)
    *_, training = method.questions(encoder, Adjacency.ADD_REMOVE, 1000)
    sizes = [math.prod(leaf.shape) for leaf in jax.tree.leaves(released)]
    assert sum(sizes) == training.size
    # The critic, which alone sees rows, couples none of them; the generator fits its state.
    assert not any(isinstance(x, BatchNorm) for x in method.critic_layers(method.vector(encoder)))
    after = jax.eval_shape(program.update, program.state, (released,), KEY)
    shapes = [leaf.shape for leaf in jax.tree.leaves(program.state)]
    assert [leaf.shape for leaf in jax.tree.leaves(after)] == shapes


def test_the_label_is_given_to_the_critic_of_dp_cgan_and_a_column_to_that_of_dpgan():
    encoder = ENCODERS["table"]
    rows = [Row(jnp.array([50]), jnp.array([1, rich])) for rich in (0, 1)]
    for name, width in (("dpgan", 1 + 3 + 1), ("dpcgan", 1 + 3 + 2)):
        program = made(METHODS[name], encoder)
        first, second = (
            program.per_row[0](program.state["critic"], (), row, KEY)[0]["weight"] for row in rows
        )
        assert first.shape[0] == width
        # What differs between the two rows is all in the label's own places, which come last.
        places = np.flatnonzero(np.any((first != 0) != (second != 0), axis=1))
        assert set(places) == set(range(4, width))


def test_counts_and_the_scale_are_bought_where_they_are_needed():
    def asked(method, data, rows):
        questions = method.questions(ENCODERS[data], Adjacency.ADD_REMOVE, rows)
        assert sum(question.share for question in questions) == pytest.approx(1)
        return [question.name for question in questions]

    assert asked(DPGAN(), "table", 1000) == ["histograms", "critic"]
    assert asked(DPGAN(scale="schema"), "table", 1000) == ["critic"]
    assert asked(DPGAN(), "image", None) == ["counts", "critic"]
    assert asked(DPCGAN(), "table", 1000) == ["counts", "histograms", "critic"]
    assert asked(DPCGAN(), "unlabeled", 1000) == ["critic"]
    by = DPCGAN().questions(ENCODERS["image"], Adjacency.ADD_REMOVE, 1000)[0].bound.by
    assert by.classes == 3
    assert DPGAN().questions(ENCODERS["image"], Adjacency.ADD_REMOVE, None)[0].bound.by is None


@pytest.mark.parametrize("kind", [DPGAN, DPCGAN])
def test_without_noise_the_generator_moves_to_the_data(kind):
    rng = np.random.default_rng(3)
    rich = np.arange(128) < 51
    table = pa.table(
        {
            "age": np.clip(np.where(rich, 85, 15) + rng.normal(0, 3, 128), 0, 99).astype(int),
            "job": np.where(rich, "c", "a"),
            "rich": np.where(rich, "yes", "no"),
        }
    )
    method = kind(
        latent=8,
        hidden=16,
        critic=32,
        critic_steps=600,
        critic_batch=128,  # all rows, so that nothing is left to chance
        critic_clip=1.0,
        # Without noise a cross-entropy needs no clamp, and learns faster without.
        critic_clamp=0.1 if kind is DPGAN else 100.0,
        critic_rate=0.005,
        generator_rate=0.005,
    )
    model = nacre.fit(table, SCHEMA, method=method, epsilon=math.inf, rows=128, seed=0)
    ages = table["age"].to_numpy() / 99
    assert model.generator.vector.scale[0] == pytest.approx((ages.mean(), ages.std()), rel=0.01)
    drawn = model.sample(2000, seed=1).to_pandas()
    found = drawn["rich"] == "yes"
    assert 0.15 < found.mean() < 0.7
    assert (drawn["job"][found] == "c").mean() > (drawn["job"][~found] == "c").mean() + 0.5
    assert drawn["age"][found].mean() > drawn["age"][~found].mean() + 25
