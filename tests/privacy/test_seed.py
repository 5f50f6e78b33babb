"""Noise has nothing to do with `seed`: whoever knows it, and everything else, learns no noise.

The same question is asked twice of the same rows, with every source of public randomness reset to
the same seed.  What comes back must differ, through each door, and be the same without noise.
"""

import math
import random
import secrets

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from tests.vaults import open_vault

from nacre.rows import TableEncoder
from nacre.schema import Categorical, Schema
from nacre.vault import (
    Bound,
    Choice,
    Keys,
    Program,
    Segment,
    Stage,
    Steps,
    Sum,
    Teacher,
    Votes,
)
from nacre.vault.doors.grid import grid_places
from nacre.vault.exact_sum import ExactSum

SIZE = 16
SCHEMA = Schema({"a": Categorical(values=tuple(map(str, range(SIZE))), other=True)})
ROWS = pa.table({"a": [str(place % SIZE) for place in range(64)]})
ONE = Bound(segments=(Segment(size=SIZE, norm=1.0, signed=False),))


def place_of(row):
    return jax.nn.one_hot(row.codes[0], SIZE, dtype=int)


def by_sum(**budget):
    question = Sum(name="sum", share=1.0, bound=ONE)
    return open_vault(ROWS, SCHEMA, question, **budget).sum(question, place_of).values


def by_train(**budget):
    question = Steps(
        name="steps", share=1.0, steps=2, size=SIZE, batch=64, stages=(Stage(clip=1.0),), rows=64
    )
    program = Program(
        state=jnp.zeros(SIZE),
        prepare=lambda state, key: None,
        per_row=(lambda shared, earlier, row, key: place_of(row).astype(jnp.float32),),
        update=lambda state, sums, key: state + sums[0],
    )
    vault = open_vault(ROWS, SCHEMA, question, **budget)
    return np.asarray(vault.train(question, program, key=jax.random.key(0)))


def by_choose(**budget):
    bound = Bound(segments=(Segment(size=1, norm=1.0, signed=False),) * SIZE)
    question = Choice(name="choose", share=1.0, bound=bound, count=40)
    vault = open_vault(ROWS, SCHEMA, question, **budget)
    choices = vault.choose(
        question, lambda row: (jnp.arange(SIZE), (row.codes[0] == jnp.arange(SIZE)) * 1)
    )
    return np.array([choices(np.zeros((1, SIZE))) for _ in range(question.count)])


def by_vote(**budget):
    question = Votes(name="votes", share=1.0, queries=1, parts=2, classes=2, rounds=8)
    teacher = Teacher(
        state=jnp.zeros((2, 1)),
        learn=lambda state, rows, valid, public, key: jnp.any(valid)[None] * 1.0,
        predict=lambda state, query: (state[0] > 0).astype(jnp.int32),
        public=np.zeros(1, np.float32),
        query=np.zeros(1, np.float32),
        capacity=64,
    )
    vault = open_vault(ROWS, SCHEMA, question, **budget)
    ballots = vault.vote(question, teacher, key=jax.random.key(0))
    none = np.zeros((1, 1), np.float32), np.zeros(1, np.float32)
    return np.array([ballots(*none) for _ in range(question.rounds)])


def by_keys(**budget):
    """Each value has so many rows that it is listed about every other time."""
    few = pa.table({"a": [str(place) for place in range(SIZE) for _ in range(7)]})
    question = Keys(name="keys", column="a", epsilon=1.0, delta=1e-3)
    vault = open_vault(few, SCHEMA, question, epsilon=1e6, delta=0.5, scale=1.0)
    listed = vault.keys(question)
    return np.array([str(place) in listed for place in range(SIZE)])


def twice(door, **budget):
    found = []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        found.append(door(**budget))
    return found


DOORS = [by_sum, by_train, by_choose, by_vote]


@pytest.mark.parametrize("door", DOORS)
def test_the_same_seed_does_not_give_the_same_noise(door):
    first, second = twice(door, epsilon=1e6, scale=1.0)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("door", [by_sum, by_train])
def test_without_noise_the_same_seed_gives_the_same_answer(door):
    first, second = twice(door, epsilon=np.inf, delta=None)
    assert np.array_equal(first, second)


def test_keys_are_listed_by_chance():
    """Sixteen values, each listed with a chance near a half: three times the same is 2^-32."""
    found = [by_keys() for _ in range(3)]
    assert any(not np.array_equal(found[0], other) for other in found[1:])


def test_a_system_that_gives_the_same_bits_would_be_noticed(monkeypatch):
    """The test can fail: training's noise does come from the system's generator, and from it only.

    Sums and choices are drawn by OpenDP, which asks OpenSSL and not Python.
    """
    monkeypatch.setattr(secrets, "token_bytes", lambda size=32: bytes(range(size % 256)) * 1)
    first, second = twice(by_train, epsilon=1e6, scale=1.0)
    assert np.array_equal(first, second)


@pytest.mark.parametrize("rows", [["0"], ["15"], ["nobody"]])
def test_released_sums_lie_on_one_public_grid_whatever_the_rows(rows):
    """What leaves the vault is a whole number of units that follow from the plan alone."""
    question = Sum(name="sum", share=1.0, bound=ONE)
    longer = pa.concat_tables([ROWS, pa.table({"a": rows})])
    for table in (ROWS, longer):
        vault = open_vault(table, SCHEMA, question, epsilon=1e6, scale=1.0)
        answer = vault.sum(question, lambda row: place_of(row) / 3.0)
        exact = ExactSum(lambda row: place_of(row) / 3.0, ONE, TableEncoder.of(SCHEMA), None)
        places = grid_places(vault.releases[0], ONE, exact.units)
        step = math.floor(exact.units[0] * 2.0**places)
        whole = answer.values * (step / exact.units[0])
        assert np.abs(whole - np.rint(whole)).max() < 1e-3
        assert np.abs(answer.values).max() > 0
        # Not a coarser grid, which would tell sums of other rows apart.
        assert np.gcd.reduce(np.rint(whole).astype(np.int64).ravel()) == 1
