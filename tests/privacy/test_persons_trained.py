"""Of a person of many rows one takes part in a step, a vote, or a count of values.

So no person moves a step further than the clip, and some move it so far.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.privacy.persons import DOWN, OTHERS, PERSONS, SCHEMA, UP, furthest, rows_of, table
from tests.vaults import open_vault

from nacre.rows import Stream, TableEncoder
from nacre.rows.unit import Persons
from nacre.vault import Adjacency, Keys, Program, Steps, Teacher, Votes
from nacre.vault.doors.steps import ODDS, _by_person
from nacre.vault.loop import Loop, LoopStage
from nacre.vault.noise import system_key

CLIP, ROOM = 2.0, 80  # the clip, and rows and persons that there is room for: one program for all


@pytest.fixture(scope="module")
def step():
    """The sum of one step in which everybody takes part, without noise."""
    encoder = TableEncoder.of(SCHEMA)
    loop = Loop(
        prepare=lambda state, key: (),
        stages=(LoopStage(per_row=lambda _, __, row, ___: (row.numbers - 32768) / 1e2, clip=CLIP),),
        update=lambda state, sums, key: sums[0],
        threshold=ODDS - 1,
        multiplier=0.0,
        chunk=64,
    ).checked(jnp.zeros(2), encoder.shape, jax.random.key(0))
    run = loop.compiled()

    def summed(rows, *, alone=False):
        block = Stream(encoder, rows).whole()
        if alone:  # as if every row were a person
            many = np.arange(len(block.valid), dtype=np.int32)
            block = dataclasses.replace(
                block, persons=Persons(many, np.zeros(len(many), np.int16), many * 0 + 1)
            )
        block, persons = _by_person(block, block.persons)
        leaves = [np.pad(leaf, [(0, ROOM - len(leaf)), (0, 0)]) for leaf in block.rows]
        valid = np.pad(block.valid, (0, ROOM - len(block.valid)))
        first, many = (np.pad(p, (0, ROOM - len(p)), constant_values=1) for p in persons)
        found = run(
            jnp.zeros(2), leaves, valid, system_key(), jax.random.key(0), [0], (first, many)
        )
        return np.asarray(found, np.float64)

    return summed


def test_no_person_moves_a_step_further_than_the_clip(step):
    rng = np.random.default_rng(0)
    single = [rows_of(who, rng.integers(0, 65537, 2), "u") for who in range(20)]
    start = step(table(*single))
    persons = [step(table(*single, person)) for person in PERSONS.values()]
    for adjacency, allowed in ((Adjacency.ADD_REMOVE, CLIP), (Adjacency.REPLACE_ONE, 2 * CLIP)):
        found = furthest(persons, start, adjacency)
        assert allowed * 0.999 <= found <= allowed * (1 + 1e-5)
    apart = [step(table(*single, person), alone=True) for person in PERSONS.values()]
    assert furthest(apart, start, Adjacency.ADD_REMOVE) > 2 * CLIP  # rows by themselves do


def test_a_person_that_joins_gives_each_row_in_turn(step):
    both = table(rows_of(1, [UP, DOWN], "u"))
    found = {tuple(np.sign(step(both))) for _ in range(25)}
    assert found == {(1.0, 1.0), (-1.0, -1.0)}


def test_training_goes_by_persons():
    """Through the door: what a program sees of a table, without noise."""
    question = Steps(name="s", share=1.0, steps=1, size=2, batch=10**6, rows=1)
    rows = table(*OTHERS, PERSONS["fifty like it"])
    vault = open_vault(rows, SCHEMA, question, epsilon=float("inf"), delta=None, rows=1)
    seen = Program(
        state=jnp.zeros(2),
        prepare=lambda state, key: (),
        per_row=(lambda shared, earlier, row, key: jnp.array([1.0, 0.0]),),
        update=lambda state, sums, key: sums[0],
    )
    total = np.asarray(vault.train(question, seen, key=jax.random.key(0)))
    np.testing.assert_allclose(total, [len(OTHERS) + 1, 0], rtol=1e-5)
    assert vault.releases[0].unit == "person"


def test_of_each_person_a_teacher_sees_one_row():
    question = Votes(name="votes", share=1.0, queries=1, parts=2, classes=2)

    def learn(state, rows, valid, public, key):
        return state + jnp.sum(valid)

    teacher = Teacher(
        state=jnp.zeros((2, 1), jnp.int32),
        learn=learn,
        predict=lambda state, query: (state[0] > query).astype(jnp.int32),
        public=jnp.zeros(()),
        query=jnp.zeros((), jnp.int32),
        capacity=400,
    )
    rows = table(*OTHERS, PERSONS["fifty like it"])
    vault = open_vault(rows, SCHEMA, question)
    ballots = vault.vote(question, teacher, key=jax.random.key(0))
    seen = np.asarray(ballots._teachers._there)
    assert seen.sum() == len(OTHERS) + 1


def test_of_each_person_one_value_counts(monkeypatch):
    question = Keys(name="values", column="label", epsilon=0.5, delta=1e-6)
    counted = {}

    class Measurement:
        def __call__(self, counts):
            counted.update(counts)
            return {}

    from nacre.vault.doors import keys as keys_door

    monkeypatch.setattr(keys_door, "_calibrated", lambda *_, **__: Measurement())
    rows = table(
        *OTHERS, PERSONS["fifty to the side"], rows_of(98, [UP] * 30, ["u", "v", "w"] * 10)
    )
    open_vault(rows, SCHEMA, question).keys(question)
    assert sum(counted.values()) == len(OTHERS) + 2
    assert 1 <= counted["w"] <= 2
