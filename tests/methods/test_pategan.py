"""PATE-GAN: what it asks, what a teacher learns of its part, and that votes move the generator."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest

import nacre
from nacre.methods.pategan.pategan import PATEGAN
from nacre.methods.pategan.school import School
from nacre.rows import Row, TableEncoder
from nacre.schema import Categorical, Integer, Schema
from nacre.vault import Adjacency

pytestmark = pytest.mark.filterwarnings("ignore:.*NOT PRIVATE")

SCHEMA = Schema(
    {
        "age": Integer(low=0, high=99),
        "job": Categorical(values=("a", "b", "c")),
        "rich": Categorical(values=("no", "some", "yes")),
    },
    label="rich",
)
ENCODER = TableEncoder(SCHEMA)
KEY = jax.random.key(0)


def test_all_votes_are_one_question_and_counts_are_bought_where_they_are_needed():
    method = PATEGAN(teachers=7, rounds=3, queries=5)

    def asked(label, rows):
        encoder = TableEncoder(SCHEMA.with_label(label))
        questions = method.questions(encoder, Adjacency.ADD_REMOVE, rows)
        assert sum(question.share for question in questions) == pytest.approx(1)
        return [question.name for question in questions], questions[-1]

    names, votes = asked("rich", 1000)
    assert names == ["counts", "histograms", "votes"]
    assert (votes.parts, votes.rounds, votes.queries, votes.classes) == (7, 3, 5, 2)
    assert asked("age", 1000)[0] == asked(None, 1000)[0] == ["histograms", "votes"]
    assert asked(None, None)[0] == ["counts", "histograms", "votes"]


def test_a_teacher_tells_its_rows_from_made_ones_and_survives_without_any():
    method = PATEGAN(teachers=2, teacher_steps=20, generator_batch=32)
    school = School(method, method.vector(ENCODER), np.full(3, 1 / 3), np.random.default_rng(0))
    teacher = school.teacher(16)
    first = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), teacher.state)
    rows = Row(jnp.full((16, 1), 90), jnp.tile(jnp.array([2, 1]), (16, 1)))
    # Age, jobs, labels: rows of class 1 are old and have job c; those that are made are anything.
    number, job = jax.random.uniform(KEY, (640, 1)), jax.random.randint(KEY, (640,), 0, 3)
    label = jnp.tile(jnp.array([0.0, 1.0, 0.0]), (640, 1))
    made = school._by_label(jnp.concatenate([number, jax.nn.one_hot(job, 3), label], axis=1))
    made = made.reshape(teacher.public.shape)
    alike, other = school._by_label(
        jnp.array([[0.9, 0, 0, 1, 0, 1, 0], [0.1, 1, 0, 0, 0, 1, 0]], jnp.float32)
    )
    learn = jax.jit(teacher.learn)
    state = learn(first, rows, jnp.arange(16) < 5, made, KEY)
    assert teacher.predict(state, alike) == 1
    assert teacher.predict(state, other) == 0
    empty = learn(first, rows, jnp.zeros(16, bool), made, KEY)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(empty))


def test_without_noise_the_generator_moves_to_the_data():
    rng = np.random.default_rng(3)
    rich = rng.integers(0, 3, 600)
    table = pa.table(
        {
            "age": np.clip(rich * 40 + rng.normal(10, 3, 600), 0, 99).astype(int),
            "job": np.array(["a", "b", "c"])[rich],
            "rich": np.array(["no", "some", "yes"])[rich],
        }
    )
    method = PATEGAN(
        teachers=20,
        rounds=120,
        queries=64,
        latent=8,
        hidden=16,
        student=32,
        student_rate=0.01,
        memory=3,
        generator_steps=5,
        generator_rate=0.003,
        generator_batch=64,
        averaging=0.97,
    )
    # Which teacher has which row is drawn by the operating system, and now and then such a game
    # ends on the wrong side, as GANs do: one fit of three must get there.
    for seed in range(3):
        model = nacre.fit(table, SCHEMA, method=method, epsilon=math.inf, rows=600, seed=seed)
        released = [release.name for release in model.guarantee.releases]
        assert released == ["counts", "histograms", "votes"]
        if _follows_the_label(model.sample(2000, seed=1).to_pandas()):
            return
    pytest.fail("the label decided about neither age nor job in three fits")


def _follows_the_label(drawn):
    by = drawn.groupby("rich")
    ages = by["age"].mean()
    jobs = by["job"].agg(lambda job: job.value_counts().index[0])
    return ages["yes"] > ages["no"] + 20 and jobs["yes"] == "c" and jobs["no"] == "a"
