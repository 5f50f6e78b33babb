"""Votes: one row reaches one teacher, no pair of neighbors beats the bound, and some reach it."""

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from jax.custom_batching import custom_vmap
from jax.experimental import io_callback
from tests.vaults import open_vault

from nacre.rows import Block, Row
from nacre.schema import Integer, Schema
from nacre.vault import Adjacency, Teacher, Votes
from nacre.vault.doors import votes as votes_door
from nacre.vault.teachers import Teachers
from nacre.vault.tracing import RefusedFunction

PARTS, QUERIES, CLASSES, WIDTH, CAPACITY, ROUNDS = 5, 6, 3, 7, 16, 2
SCHEMA = Schema({f"a{i}": Integer(low=0, high=1000) for i in range(WIDTH)})
SHAPE = Row(jax.ShapeDtypeStruct((WIDTH,), jnp.int32), jax.ShapeDtypeStruct((0,), jnp.int32))
KEY = jax.random.key(1)
RNG = np.random.default_rng(0)
PUBLIC = RNG.normal(size=(WIDTH, CLASSES)).astype(np.float32)
ASKED = RNG.normal(size=(QUERIES, WIDTH)).astype(np.float32)
QUESTION = Votes(
    name="votes", share=1.0, queries=QUERIES, parts=PARTS, classes=CLASSES, rounds=ROUNDS
)


def learn(state, rows, valid, public, key):
    """A chaotic function of the part: products, sums in floats, a batch norm, random numbers."""
    x = jnp.where(valid[:, None], rows.numbers / 1000.0, 0.0)
    x = (x - x.mean(0)) / (x.std(0) + 0.1)
    for _ in range(3):
        state = state + jnp.tanh(x.T @ (x @ (state + public))) * 7
    return state + 0.1 * jax.random.normal(key, state.shape)


def predict(state, query):
    return jnp.argmax(jnp.sin(50 * (query @ state)))


def one_sided(state, rows, valid, public, key):
    """Keep the largest number of the part, beside what the first state says."""
    return state.at[0, 0].set(jnp.max(jnp.where(valid, rows.numbers[:, 0], 0)))


def largest(state, query):
    """Class 2 where there is a large number; teachers with a negative sign say the opposite."""
    return jnp.where((state[0, 0] > 500) == (state[1, 0] > 0), 2, 0)


def teacher(learn=learn, predict=predict, capacity=CAPACITY):
    first = np.random.default_rng(2).normal(size=(PARTS, WIDTH, CLASSES))
    first[:, 1, 0] = np.where(np.arange(PARTS) % 2, -1, 1)
    return Teacher(
        state=jnp.asarray(first, jnp.float32),
        learn=learn,
        predict=predict,
        public=PUBLIC,
        query=ASKED[0],
        capacity=capacity,
    )


@pytest.fixture(scope="module")
def schools():
    """One compiled program for all tables of a kind of teacher."""
    return {
        "chaotic": Teachers(teacher(), PARTS, SHAPE, KEY),
        "one-sided": Teachers(teacher(one_sided, largest), PARTS, SHAPE, KEY),
        "full": Teachers(teacher(capacity=2), PARTS, SHAPE, KEY),
    }


def held(school, numbers, parts, monkeypatch):
    """States and votes of two rounds, of rows that sit in these parts."""
    monkeypatch.setattr("nacre.vault.teachers.draw_parts", lambda rows, number: parts)
    first = jax.tree.leaves(teacher().state)
    school._state = first
    codes = np.zeros((len(numbers), 0), np.int32)
    school.admit(Block(Row(numbers.astype(np.int32), codes), np.ones(len(numbers), np.bool_)))
    votes = [school.votes(ASKED, PUBLIC, number) for number in range(ROUNDS)]
    return np.asarray(school._state[0]), np.concatenate(votes, axis=1)


def neighbors(adjacency, rng):
    """Two tables, the parts of their rows, and the parts that may differ."""
    rows = int(rng.integers(2, 40))
    numbers, parts = rng.integers(0, 1001, (rows, WIDTH)), rng.integers(0, PARTS, rows)
    place, row = int(rng.integers(0, rows)), rng.choice([0, 500, 1000], WIDTH)
    if adjacency is Adjacency.ADD_REMOVE:
        # All rows behind it move on by a place; their parts move with them.
        new = int(rng.integers(0, PARTS))
        return (
            (numbers, parts),
            (np.insert(numbers, place, row, axis=0), np.insert(parts, place, new)),
            {new},
        )
    others, drawn = numbers.copy(), parts.copy()
    others[place], drawn[place] = row, rng.integers(0, PARTS)
    return (numbers, parts), (others, drawn), {int(parts[place]), int(drawn[place])}


@pytest.mark.parametrize("kind", ["chaotic", "one-sided", "full"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_other_teachers_are_the_same_to_the_bit_and_no_neighbors_beat_the_bound(
    adjacency, kind, schools, monkeypatch
):
    rng, moved = np.random.default_rng(3), 0
    for _ in range(60):
        first, second, changed = neighbors(adjacency, rng)
        (state, votes), (other, ballots) = (
            held(schools[kind], *table, monkeypatch) for table in (first, second)
        )
        same = [j for j in range(PARTS) if j not in changed]
        assert np.array_equal(state[same], other[same])
        assert np.array_equal(votes[same], ballots[same])
        moved += any(not np.array_equal(state[j], other[j]) for j in changed)
        counts = [votes_door.count(found, CLASSES) for found in (votes, ballots)]
        change = np.linalg.norm((counts[0] - counts[1]).astype(float))
        assert change <= QUESTION.sensitivity(adjacency)
    assert moved > 10, "teachers must hang on their rows, or this test says nothing"


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_bound_is_reached(adjacency, schools, monkeypatch):
    low, high = np.zeros((1, WIDTH), int), np.full((1, WIDTH), 1000)
    if adjacency is Adjacency.ADD_REMOVE:
        tables = (low, [0]), (np.concatenate([low, high]), [0, 0])
    else:
        # A large row goes from part 0, and one comes to part 1, whose teacher has the other sign:
        # both leave class 2 for class 0.
        tables = (high, [0]), (high - 1, [1])
    votes = [
        held(schools["one-sided"], rows, np.array(parts), monkeypatch)[1] for rows, parts in tables
    ]
    counts = [votes_door.count(found, CLASSES) for found in votes]
    change = np.linalg.norm((counts[0] - counts[1]).astype(float))
    assert change == pytest.approx(QUESTION.sensitivity(adjacency))


@custom_vmap
def mixed(x):
    return x


@mixed.def_vmap
def _mixed_rule(size, batched, x):
    return x.sum(0) + x, True


SEEN = []


def over_parts(state, rows, valid, public, key):
    return state + jax.lax.psum(rows.numbers[0, 0], "parts")


def by_callback(state, rows, valid, public, key):
    io_callback(lambda x: SEEN.append(x), None, rows.numbers)
    return state


def by_mapping(state, rows, valid, public, key):
    return state + mixed(rows.numbers[0, 0])


def by_result(state, rows, valid, public, key):
    return state + jax.pure_callback(
        lambda x: SEEN.append(x) or np.float32(0), jax.ShapeDtypeStruct((), jnp.float32), rows
    )


def by_rbg(state, rows, valid, public, key):
    return state + jax.random.normal(jax.random.key(rows.numbers[0, 0], impl="rbg"), state.shape)


@pytest.mark.parametrize("learn", [over_parts, by_callback, by_mapping, by_result, by_rbg])
def test_a_teacher_that_tries_to_see_another_part_or_to_carry_one_out_is_refused(learn):
    charged = []
    table = pa.table({name: [1, 2, 3] for name in SCHEMA.columns})
    vault = open_vault(table, SCHEMA, QUESTION, charge=charged.append)
    with pytest.raises(RefusedFunction, match="The teacher"):
        vault.vote(QUESTION, teacher(learn), key=KEY)
    assert not charged
    assert not SEEN


@pytest.mark.parametrize("adjacency", Adjacency)
def test_one_row_more_changes_no_constant(adjacency, monkeypatch):
    def everything(rows):
        scales, told, shapes = [], [], []
        monkeypatch.setattr(
            votes_door, "add_discrete_gaussian", lambda sums, scale: scales.append(scale) or sums
        )
        vault = open_vault(
            pa.table({name: np.arange(rows) for name in SCHEMA.columns}),
            SCHEMA,
            QUESTION,
            adjacency=adjacency,
            on_progress=lambda *what: told.append(what),
        )
        ballots = vault.vote(QUESTION, teacher(), key=KEY)
        shapes = [leaf.shape for leaf in (*ballots._teachers._rows, ballots._teachers._there)]
        for _ in range(ROUNDS):
            assert (ballots(ASKED, PUBLIC).sum(axis=1) == PARTS).all()
        return vault.guarantee().to_dict(), scales, told, shapes

    assert everything(100) == everything(101)
