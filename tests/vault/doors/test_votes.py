"""The `votes` door: who votes for what, what is charged when, and what is refused."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import kstest
from tests.vaults import open_vault

import nacre.vault.teachers
from nacre.errors import BudgetExceeded, NacreError
from nacre.rows import Block, Row
from nacre.schema import Integer, Schema
from nacre.vault import Adjacency, Teacher, Votes, epsilon_of
from nacre.vault.teachers import draw_parts, fill_lanes
from nacre.vault.tracing import RefusedFunction

SCHEMA = Schema({"a": Integer(low=0, high=9)})
KEY = jax.random.key(0)
PARTS, QUERIES, CLASSES = 4, 3, 5


def learn(state, rows, valid, public, key):
    """Add up the part's rows, and what all are shown."""
    return state + jnp.sum(jnp.where(valid, rows.numbers[:, 0], 0)) + public


def predict(state, query):
    return state + query


def teacher(**more):
    return Teacher(
        **{
            "state": jnp.zeros(PARTS, jnp.int32),
            "learn": learn,
            "predict": predict,
            "public": jnp.int32(0),
            "query": jnp.int32(0),
            "capacity": 8,
            **more,
        }
    )


def question(**more):
    asked = {"queries": QUERIES, "parts": PARTS, "classes": CLASSES, "rounds": 2, **more}
    return Votes(name="votes", share=1.0, **asked)


def ballots(values=(0, 0, 1, 1, 2), asked=None, what=None, **more):
    asked = question() if asked is None else asked
    vault = open_vault(pa.table({"a": list(values)}), SCHEMA, asked, **more)
    return vault.vote(asked, teacher() if what is None else what, key=KEY), vault


@pytest.fixture
def parts(monkeypatch):
    """Row i sits in part i, as far as there are parts."""
    monkeypatch.setattr(
        nacre.vault.teachers, "draw_parts", lambda rows, parts: np.arange(rows) % parts
    )


def test_every_teacher_has_one_vote_for_each_query_and_learns_from_round_to_round(parts):
    hold, _ = ballots(epsilon=math.inf, delta=None)
    queries = jnp.arange(QUERIES)
    # The parts hold 0 + 2, 0, 1 and 1; a class that there is not counts as the nearest.
    first = hold(queries, jnp.int32(0))
    assert first.tolist() == [[1, 2, 1, 0, 0], [0, 1, 2, 1, 0], [0, 0, 1, 2, 1]]
    second = hold(queries, jnp.int32(-100))
    assert second.tolist() == [[4, 0, 0, 0, 0]] * 3
    with pytest.raises(NacreError, match="have been held"):
        hold(queries, jnp.int32(0))


def test_a_part_without_rows_votes_and_a_full_one_leaves_later_rows_out(parts):
    hold, _ = ballots((3, 1), what=teacher(capacity=1), epsilon=math.inf, delta=None)
    assert hold(jnp.zeros(QUERIES, jnp.int32), jnp.int32(0))[0].tolist() == [2, 1, 0, 1, 0]
    full, _ = ballots((1, 0, 0, 0, 3), what=teacher(capacity=1), epsilon=math.inf, delta=None)
    assert full(jnp.zeros(QUERIES, jnp.int32), jnp.int32(0))[0].tolist() == [3, 1, 0, 0, 0]


def test_lanes_hold_the_good_rows_of_their_parts_in_order():
    block = Block(Row(np.arange(12).reshape(6, 2), np.arange(6)[:, None]), np.arange(6) != 2)
    (numbers, codes), there = fill_lanes(block, np.array([1, 0, 1, 1, 0, 1]), 3, 2)
    assert there.tolist() == [[True, True], [True, True], [False, False]]
    assert codes[:, :, 0].tolist() == [[1, 4], [0, 3], [0, 0]]
    assert numbers[1].tolist() == [[0, 1], [6, 7]]


def test_each_row_is_drawn_to_a_part_of_its_own():
    drawn = draw_parts(30_000, 3)
    pairs = np.bincount(3 * drawn[:-1] + drawn[1:], minlength=9) / 29_999
    assert np.abs(pairs - 1 / 9).max() < 0.02
    assert not np.array_equal(drawn, draw_parts(30_000, 3))


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_plan_costs_its_budget_and_the_noise_is_what_it_says(adjacency):
    asked = question(queries=2000, rounds=1)
    hold, vault = ballots(asked=asked, adjacency=adjacency)
    (release,) = vault.releases
    each = {"add-remove": 2, "replace-one": 8}[adjacency]
    assert release.sensitivity == pytest.approx(math.sqrt(each * 2000))
    assert release.size == asked.size == 2000 * CLASSES
    assert epsilon_of([release], 1e-5, adjacency) == pytest.approx(1.0, rel=1e-6)
    counts = hold(jnp.full(2000, 100, jnp.int32), jnp.int32(0))
    exact = np.array([0, 0, 0, 0, PARTS])
    assert kstest(((counts - exact) / release.noise).ravel(), "norm").pvalue > 1e-6


def test_all_rounds_are_charged_before_the_first():
    charged = []
    _, vault = ballots(charge=charged.append)
    assert [release.name for release in charged] == ["votes"]
    assert vault.guarantee().epsilon <= 1.0
    with pytest.raises(NacreError, match="asked already"):
        vault.vote(question(), teacher(), key=KEY)

    def refuse(release):
        raise BudgetExceeded("no budget")

    with pytest.raises(BudgetExceeded):
        ballots(charge=refuse)


WRONG = {
    "no whole number": {"predict": lambda state, query: jnp.float32(1)},
    "whole number": {"predict": lambda state, query: jnp.zeros(2, jnp.int32)},
    "same structure": {"learn": lambda state, *_: state.astype(jnp.float32)},
    "axis of 4 parts": {"state": jnp.zeros(3, jnp.int32)},
    "actual values": {"learn": lambda state, rows, *_: state + int(rows.numbers[0, 0])},
}


@pytest.mark.parametrize("said", WRONG)
def test_what_is_no_teacher_is_refused_before_any_charge(said):
    charged = []
    with pytest.raises(NacreError, match=said.removeprefix("no ")):
        ballots(what=teacher(**WRONG[said]), charge=charged.append)
    assert not charged


def test_a_round_of_another_shape_is_refused_and_not_used_up():
    hold, _ = ballots()
    for queries, public in (
        (jnp.zeros(QUERIES + 1, jnp.int32), jnp.int32(0)),
        (jnp.zeros(QUERIES), jnp.int32(0)),
        (jnp.zeros(QUERIES, jnp.int32), None),
    ):
        with pytest.raises(NacreError, match="of the shapes and types"):
            hold(queries, public)
    assert hold.left == 2


@pytest.mark.parametrize("wrong", [{"parts": 0}, {"classes": 1}, {"queries": 10**7}, {"rounds": 0}])
def test_questions_that_mean_nothing_are_refused(wrong):
    with pytest.raises(NacreError):
        question(**wrong)


def test_effects_and_callbacks_are_refused():
    def shouting(state, rows, valid, public, key):
        jax.debug.print("{}", rows.numbers)
        return state

    with pytest.raises(RefusedFunction, match="The teacher"):
        ballots(what=teacher(learn=shouting))
