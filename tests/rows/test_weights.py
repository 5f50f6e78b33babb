"""Weights of rows under rules hold for groups that the first lot of candidates did not show."""

import numpy as np

from nacre.rows import TableEncoder
from nacre.schema import Categorical, Integer, Schema

SCHEMA = Schema(
    {
        "a": Integer(low=0, high=100),
        "g": Categorical(values=("x", "y", "z")),
        "label": Categorical(values=("no", "yes")),
    },
    label="label",
    constraints=["a >= 50 if g = y"],
)
ENCODER = TableEncoder.of(SCHEMA)


def candidates(n, groups, rng):
    codes = np.stack([rng.choice(groups, n), rng.integers(0, 2, n)], axis=1)
    drawn = ENCODER.layout.encoded(rng.integers(0, 101, (n, 1)), codes)
    return ENCODER.settle(drawn, rng)


def test_a_group_that_was_not_seen_before_stays_as_others_do():
    rng = np.random.default_rng(0)
    first, rules = candidates(4096, [0, 1], rng), ENCODER.rules(None)
    weights = ENCODER.weigh(first, rules, ENCODER.holds(first, rules))
    assert weights is not None, "a quarter of the candidates break the rule"
    later = candidates(1000, [2], rng)
    chances = ENCODER.chances(later, weights)
    assert ((chances > 0) & (chances <= 1)).all()
