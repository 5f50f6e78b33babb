"""The door `train`: what it refuses, in which order it pays, and a rate that follows a count."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from tests.vaults import open_vault

from nacre.errors import BudgetExceeded, LedgerError
from nacre.ledger import Ledger, charged, reserve_in
from nacre.rows import Stream, TableEncoder
from nacre.schema import Integer, Schema
from nacre.vault import (
    Adjacency,
    Plan,
    Program,
    Stage,
    Steps,
    Vault,
    count_question,
    epsilon_of,
)
from nacre.vault.doors import steps as steps_door
from nacre.vault.doors import sum as sum_door
from nacre.vault.tracing import RefusedFunction

SCHEMA = Schema(columns={"a": Integer(low=0, high=9)})
QUESTION = Steps(name="training", share=1.0, steps=5, batch=50, size=1, rows=200)


def table(count=200):
    return pa.table({"a": np.arange(count) % 10})


def per_row(shared, earlier, row, key):
    return row.numbers / 9.0


PROGRAM = Program(
    state=jnp.zeros(1),
    prepare=lambda state, key: state,
    per_row=(per_row,),
    update=lambda state, sums, key: sums[0],
)


def quick(question=QUESTION, data=None, **more):
    """A vault with a noise that fits the budget, without the search for the least."""
    return open_vault(table() if data is None else data, SCHEMA, question, scale=0.1, **more)


def train(vault, question=QUESTION, program=PROGRAM, **more):
    return vault.train(question, program, key=jax.random.key(0), **more)


def test_the_charge_comes_before_the_key(monkeypatch):
    order = []
    real = steps_door.system_key
    monkeypatch.setattr(steps_door, "system_key", lambda: order.append("key") or real())
    train(quick(charge=lambda release: order.append("charge")))
    assert order == ["charge", "key"]


def test_no_key_without_a_charge(monkeypatch):
    def full(release):
        raise BudgetExceeded("The ledger says no.")

    monkeypatch.setattr(steps_door, "system_key", lambda: pytest.fail("a key was drawn"))
    vault = quick(charge=full)
    with pytest.raises(BudgetExceeded):
        train(vault)
    assert not vault.releases


def test_the_user_key_does_not_decide_the_noise():
    first, second = (float(train(quick())[0]) for _ in range(2))
    assert first != second


def test_an_empty_table_is_trained_on_like_any_other():
    assert np.isfinite(np.asarray(train(quick(data=table(0))))).all()


def test_the_rate_is_the_public_one_and_never_above_one():
    assert QUESTION.release(1.0, Adjacency.ADD_REMOVE).rate == 0.25
    few = dataclasses.replace(QUESTION, rows=20)
    assert few.release(1.0, Adjacency.ADD_REMOVE).rate == 1 - 2**-32


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "at least 1"),
        ({"batch": 0}, "at least 1"),
        ({"size": 0}, "at least 1"),
        ({"stages": (Stage(clip=1.0, share=0.5),)}, "add up"),
        ({"stages": (Stage(clip=1.0),) * 2}, "add up"),
    ],
)
def test_questions_that_make_no_sense(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(QUESTION, **change)


@pytest.mark.parametrize("change", [{"clip": 0.0}, {"clip": np.inf}, {"clip": 1.0, "share": 1.5}])
def test_stages_that_make_no_sense(change):
    with pytest.raises(ValueError, match="clip from 1e-15"):
        Stage(**change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": jnp.zeros(2)}, "same structure, shapes"),
        ({"state": jnp.zeros(1, jnp.int32)}, "same structure, shapes"),
        ({"state": [jnp.zeros(1)]}, "same structure, shapes"),
        ({"per_row": (lambda s, e, row, k: jnp.ones(2),)}, "same structure, shapes"),
        (
            {
                "per_row": (lambda s, e, row, k: jnp.ones(2),),
                "update": lambda state, sums, key: sums[0][:1],
            },
            "announced 1 numbers a step; the functions of one row return 2",
        ),
        ({"per_row": (per_row, per_row)}, "2 functions of one row, the question 1"),
        ({"per_row": (lambda s, e, row, k: row.numbers,)}, "floating"),
    ],
)
def test_programs_that_make_no_sense_cost_nothing(change, message):
    vault = quick()
    with pytest.raises((ValueError, RefusedFunction), match=message):
        train(vault, program=dataclasses.replace(PROGRAM, **change))
    assert not vault.releases


def test_a_public_number_of_rows_cannot_change_any_more():
    vault = quick()
    with pytest.raises(ValueError, match="has a public number of rows"):
        train(vault, rows=300)
    assert not vault.releases


# -- the rate follows from a count ---------------------------------------------------------------

COUNT = count_question(0.2)
AFTER = Steps(name="training", share=0.8, steps=5, batch=50, size=1)


def count_then_train(charge=None, adjacency="add-remove"):
    plan = Plan.of([COUNT, AFTER], epsilon=1.0, delta=1e-5, adjacency=adjacency)
    return Vault(Stream(TableEncoder(SCHEMA), table(400)), plan, charge=charge)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_count_and_training_stay_within_the_budget_whatever_the_count(adjacency, monkeypatch):
    for moved in (-(2**60), 0):  # so that the count is one, or what it is
        monkeypatch.setattr(
            sum_door, "add_discrete_gaussian", lambda sums, scale, moved=moved: sums + moved
        )
        vault = count_then_train(adjacency=adjacency)
        rows = vault.count(COUNT)
        assert rows == (400 if moved == 0 else 1)
        train(vault, AFTER, rows=rows)
        counted, trained = vault.releases
        assert trained.mechanism == "subsampled-gaussian"
        assert trained.delta == pytest.approx(0.8e-5)
        assert trained.rate == pytest.approx(min(1, 50 / rows), abs=2**-31)
        cost = epsilon_of([counted, trained], 1e-5, Adjacency(adjacency))
        assert 0.99 < cost <= 1.0
        assert vault.guarantee().epsilon == cost
        vault.guarantee().verify()


def test_the_plan_shows_that_the_rate_comes_later():
    plan = count_then_train().plan
    counted, trained = plan.releases
    assert "rate after the count" in trained.theorem
    assert trained.mechanism == "approximate" and trained.delta == pytest.approx(0.8e-5)
    assert 0.999 < epsilon_of([counted, trained], 1e-5) <= 1.0
    assert "follow from the noisy count" in str(plan)
    assert plan.mu is None


def test_training_without_a_number_of_rows_is_refused():
    vault = count_then_train()
    with pytest.raises(ValueError, match="needs a number of rows"):
        train(vault, AFTER)
    assert not vault.releases


def test_a_ledger_holds_count_and_training_in_one_entry(tmp_path):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("rows", epsilon=1, delta=1e-5)
    plan = count_then_train().plan
    reservation = reserve_in(ledger, "rows", plan)
    with charged(reservation):
        vault = count_then_train(reservation)
        train(vault, AFTER, rows=vault.count(COUNT))
    (entry,) = ledger.history("rows")
    assert (entry.epsilon, entry.delta, entry.status) == (1.0, 1e-5, "finished")
    assert [dict(r) for r in entry.releases] == [r.to_dict() for r in vault.releases]
    # What was bought is spent: nothing is left for another.
    with pytest.raises(BudgetExceeded):
        count_then_train(reserve_in(ledger, "rows", plan)).count(COUNT)


def test_a_ledger_that_adds_mu_refuses_it_before_anything_is_spent(tmp_path, monkeypatch):
    monkeypatch.setattr(
        sum_door, "add_discrete_gaussian", lambda *_: pytest.fail("noise was drawn")
    )
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("rows", epsilon=9, delta=1e-4, composition="gaussian")
    vault = count_then_train(reserve_in(ledger, "rows", count_then_train().plan))
    with pytest.raises(LedgerError):
        vault.count(COUNT)
    assert not vault.releases and not ledger.history("rows")
