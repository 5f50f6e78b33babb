"""Every door with its noise off: the exact answer, in the same units, and a noise of zero."""

import math
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from tests.vaults import open_vault

from nacre.rows import Label
from nacre.schema import Categorical, Integer, Schema
from nacre.vault import (
    Bound,
    Choice,
    Keys,
    Plan,
    Program,
    Segment,
    Steps,
    Sum,
    count_question,
)

SCHEMA = Schema(
    {"a": Integer(low=0, high=9), "y": Categorical(values=("n", "p"), other=True)}, label="y"
)
VALUES, CLASSES = np.arange(97) % 10, np.arange(97) % 3 == 0
TABLE = pa.table({"a": VALUES, "y": np.where(CLASSES, "p", "n")})
COST = {"epsilon": math.inf, "delta": None}


def opened(*questions, data=TABLE, **more):
    return open_vault(data, SCHEMA, *questions, **COST, **more)


def test_a_sum_is_exact_whatever_its_weights():
    bound = Bound(
        segments=(Segment(size=1, norm=9.0), Segment(size=1, norm=1 / 3, weight=2.5)),
        by=Label("y", 3),
        count=0.25,
    )
    question = Sum(name="sum", share=1.0, bound=bound, weight=(1.0, 0.7, 0.3))
    vault = opened(question)
    assert vault.noise(question) == 0
    found = vault.sum(question, lambda row: jnp.stack([row.numbers[0], row.numbers[0] / 32]))
    totals = np.array([VALUES[~CLASSES].sum(), VALUES[CLASSES].sum(), 0.0])
    assert found.values == pytest.approx(np.stack([totals, totals / 32], 1), rel=1e-5)
    assert found.counts.tolist() == [64, 33, 0]
    assert found.noise == (0, 0) and found.count_noise == 0


def test_a_choice_is_the_largest_score():
    bound = Bound(segments=(Segment(size=1, norm=1.0),) * 3)
    question = Choice(name="choice", share=1.0, bound=bound, count=30)
    choose = opened(question).choose(
        question, lambda row: (row.numbers[0] < jnp.array([5, 6, 2])).astype(jnp.int32)
    )
    assert {choose(np.zeros((1, 3))) for _ in range(20)} == {1}
    assert {choose(np.zeros((1, 3)), penalties=(0, 10.5, 0)) for _ in range(10)} == {0}


def test_keys_keep_their_threshold():
    question = Keys(name="values", column="y", epsilon=0.5, delta=1e-4)
    held = {f"v{count}": count for count in range(1, 60)}
    names = [name for name, count in held.items() for _ in range(count)]
    table = pa.table({"a": np.zeros(len(names), np.int64), "y": names})
    found = {opened(question, data=table).keys(question) for _ in range(3)}
    (values,) = found
    least = min(held[value] for value in values)
    # Laplace noise of scale 2 passes a threshold t + 1 from a count of one with chance e^(-t/2)/2.
    assert least == pytest.approx(1 + 2 * math.log(0.5 / 1e-4), abs=1.01)
    assert Counter(values) == Counter(name for name, count in held.items() if count >= least)


@pytest.mark.parametrize("rows", [None, 97])
def test_steps_add_up_their_batches_exactly(rows):
    count, steps = (
        count_question(0.1),
        Steps(name="training", share=0.9, steps=2, batch=97, size=1, rows=rows),
    )
    program = Program(
        state=jnp.zeros(1),
        prepare=lambda state, key: None,
        per_row=(lambda shared, earlier, row, key: row.numbers / 16.0,),
        update=lambda state, sums, key: state + sums[0],
    )
    vault = opened(count, steps)
    seen = None if rows else vault.count(count)
    assert seen in (None, 97)
    found = vault.train(steps, program, rows=seen, key=jax.random.key(0))
    # Every row is in the batch but for a chance of 2^-32.
    assert float(found[0]) == pytest.approx(2 * VALUES.sum() / 16, rel=1e-5)
    release = vault.releases[-1]
    assert (release.mechanism, release.steps, release.noise) == ("none", 2, 0)
    assert vault.guarantee().epsilon == math.inf


def test_a_plan_without_noise_expects_no_error_and_says_so():
    plan = Plan.of([count_question(1.0)], epsilon=math.inf, rows=100, method="Toy")
    assert str(plan).startswith("Toy, NOT PRIVATE: no noise was added")
    assert "off by" not in str(plan) and "ε" not in str(plan)
    said = plan.to_dict()
    assert said["epsilon"] is said["delta"] is said["releases"][0]["count_error"] is None
    assert "epsilon" not in said["releases"][0]
    assert plan.mu is None
