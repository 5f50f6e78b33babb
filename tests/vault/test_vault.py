"""A vault answers what its plan announces, each question once, whatever the door."""

import dataclasses
import threading
import time

import jax.numpy as jnp
import pyarrow as pa
import pytest
from tests.vaults import open_vault

from nacre.errors import BudgetExceeded
from nacre.schema import Integer, Schema
from nacre.vault import Bound, Choice, Keys, Plan, Program, Segment, Steps, Sum, count_question

SCHEMA = Schema({"x": Integer(low=0, high=9)})
TABLE = pa.table({"x": list(range(10)) * 20})
ONE = Bound(segments=(Segment(size=1, norm=9.0, signed=False),))
SUM = Sum(name="sum", share=0.4, bound=ONE)
CHOICE = Choice(name="choice", share=0.3, bound=ONE, count=1)
STEPS = Steps(name="steps", share=0.3, steps=2, batch=50, size=1, rows=200)
KEYS = Keys(name="keys", column="x", epsilon=0.1, delta=1e-6)
PROGRAM = Program(
    state=jnp.zeros(1),
    prepare=lambda state, key: None,
    per_row=(lambda shared, earlier, row, key: row.numbers / 9.0,),
    update=lambda state, sums, key: state + sums[0],
)


def key():
    import jax

    return jax.random.key(0)


ASK = {
    "sum": (SUM, lambda vault, q: vault.sum(q, lambda row: row.numbers)),
    "choose": (CHOICE, lambda vault, q: vault.choose(q, lambda row: row.numbers)),
    "train": (STEPS, lambda vault, q: vault.train(q, PROGRAM, key=key())),
    "keys": (KEYS, lambda vault, q: vault.keys(q)),
}


@pytest.fixture(scope="module")
def everything():
    """A vault of which each door has been asked its question."""
    charged = []
    vault = open_vault(TABLE, SCHEMA, SUM, CHOICE, STEPS, KEYS, epsilon=3, charge=charged.append)
    for question, ask in ASK.values():
        ask(vault, question)
    return vault, charged


def test_each_door_answers_and_is_charged(everything):
    vault, charged = everything
    assert [release.name for release in charged] == ["sum", "choice", "steps", "keys"]
    assert vault.releases == tuple(charged) == vault.plan.releases
    assert 0.98 * 3 < vault.guarantee().epsilon <= 3
    vault.guarantee().verify()


@pytest.mark.parametrize("door", ASK)
def test_a_question_asked_twice_is_refused(everything, door):
    vault, charged = everything
    question, ask = ASK[door]
    with pytest.raises(ValueError, match=f"'{question.name}' has been asked already"):
        ask(vault, question)
    assert len(charged) == len(vault.releases) == 4


@pytest.mark.parametrize("door", ASK)
def test_a_question_that_was_not_announced_is_refused(door):
    question, ask = ASK[door]
    read = []
    other = count_question(1.0)
    vault = open_vault(TABLE, SCHEMA, other, charge=read.append)
    with pytest.raises(ValueError, match=f"'{question.name}' was not announced"):
        ask(vault, question)
    assert not read and not vault.releases
    with pytest.raises(ValueError, match="was not announced"):
        vault.noise(question)


def test_a_question_that_differs_by_a_hair_was_not_announced():
    vault = open_vault(TABLE, SCHEMA, SUM)
    wider = Sum(name="sum", share=0.4, bound=Bound(segments=(Segment(size=1, norm=9.5),)))
    with pytest.raises(ValueError, match="was not announced"):
        vault.sum(wider, lambda row: row.numbers)


def test_a_question_announced_twice_may_be_asked_twice():
    half = Sum(name="sum", share=0.5, bound=ONE)
    vault = open_vault(TABLE, SCHEMA, half, half)
    for _ in range(2):
        vault.sum(half, lambda row: row.numbers)
    assert vault.guarantee().epsilon == pytest.approx(1, rel=1e-6)
    with pytest.raises(ValueError, match="as often as was announced"):
        vault.sum(half, lambda row: row.numbers)


@pytest.mark.parametrize(("door", "other"), [("sum", CHOICE), ("choose", SUM), ("keys", SUM)])
def test_a_question_for_another_door_is_refused(door, other):
    vault = open_vault(TABLE, SCHEMA, other)
    with pytest.raises(ValueError, match="This door takes a"):
        ASK[door][1](vault, other)
    assert not vault.releases


def test_threads_cannot_ask_the_same_question_twice():
    vault = open_vault(TABLE, SCHEMA, SUM, charge=lambda release: time.sleep(0.3))
    refused = []

    def one():
        try:
            vault.sum(SUM, lambda row: row.numbers)
        except ValueError:
            refused.append(1)

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 2
    assert len(vault.releases) == 1
    assert vault.guarantee().epsilon <= 1


def test_a_plan_that_claims_less_than_its_releases_cost_is_stopped_at_the_door():
    # Not made by `Plan.of`: whatever a plan says, what is charged is added up again.
    honest = Plan.of([SUM], epsilon=2, delta=1e-5)

    vault = open_vault(TABLE, SCHEMA, SUM)
    vault.plan = dataclasses.replace(honest, epsilon=1.0)
    with pytest.raises(BudgetExceeded, match="above the 1 of the plan"):
        vault.sum(SUM, lambda row: row.numbers)
    assert not vault.releases


def test_before_anything_is_released_there_is_nothing_to_guarantee():
    with pytest.raises(ValueError, match="Nothing has been released"):
        open_vault(TABLE, SCHEMA, SUM).guarantee()


def test_progress_is_told_by_the_names_of_the_questions():
    told = []
    vault = open_vault(TABLE, SCHEMA, SUM, on_progress=lambda *what: told.append(what))
    vault.sum(SUM, lambda row: row.numbers)
    assert told == [("sum", None), ("sum", 1.0)]
