"""Many canaries in one run: a lower bound on epsilon without a second world.

Steinke, Nasr and Jagielski (2023), "Privacy auditing with one (1) training run".  Written here,
where jax-privacy has the same p-value: its auditor would bring chex and pydantic, and newer lower
bounds of Optax and dp-accounting, for two screens of code.  Both were compared (docs/attacks.md).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from nacre.audit.bounds import CONFIDENCE, LowerBound

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Shares of the canaries that the attacker guesses at: those with the most extreme scores."""


def one_run(
    scores: ArrayLike, included: ArrayLike, *, delta: float, confidence: float = CONFIDENCE
) -> LowerBound:
    """What the scores of canaries show, each of which was put in by the toss of a fair coin.

    Theorem:
        let m canaries be included independently with probability 1/2, and an attacker who sees the
        release make r guesses.  If it is (ε, δ)-private under add-remove of one canary, the chance
        of v or more right guesses is at most P(W ≥ v) + 2 m δ max_i P(v > W ≥ v - i) / i with W
        binomial (r, e^ε / (1 + e^ε)) (Theorem 5.2).  The bound is the largest epsilon at which that
        is below 1 - confidence, divided by the number of shares of canaries that are tried: a
        union bound pays for choosing the best.

    Args:
        scores: of each canary; higher means "it was in".
        included: whether it was.
        delta: of the claim.
        confidence: that the bound is no larger than the true epsilon.
    """
    value, truth = np.asarray(scores, np.float64).ravel(), np.asarray(included, bool).ravel()
    if len(value) != len(truth) or len(value) < 2:
        raise ValueError("There must be a score for each canary, and two canaries at least.")
    order = np.argsort(-np.abs(value - np.median(value)), kind="stable")
    guesses = value > np.median(value)
    alpha, best = (1 - confidence) / len(SHARES), 0.0
    for share in SHARES:
        named = order[: max(1, math.ceil(share * len(value)))]
        right = int((guesses[named] == truth[named]).sum())
        best = max(best, _largest_refuted(len(value), len(named), right, delta, alpha))
    return LowerBound(
        epsilon=best,
        delta=delta,
        confidence=confidence,
        theorem="one run, canaries by fair coins (Steinke, Nasr and Jagielski 2023, Theorem 5.2)",
        runs=1,
    )


def p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """The largest chance of so many right guesses that (epsilon, delta)-privacy allows."""
    rate = 1 / (1 + math.exp(-epsilon))
    tail = float(stats.binom.sf(right - 1, guesses, rate))
    if delta == 0 or right == 0:
        return min(tail, 1.0)
    below = np.cumsum(stats.binom.pmf(np.arange(right - 1, -1, -1), guesses, rate))
    steepest = float((below / np.arange(1, right + 1)).max())
    return min(tail + 2 * canaries * delta * steepest, 1.0)


def _largest_refuted(canaries: int, guesses: int, right: int, delta: float, alpha: float) -> float:
    """The largest epsilon whose p-value is below alpha; 0 if there is none."""
    if p_value(canaries, guesses, right, 0.0, delta) >= alpha:
        return 0.0
    low, high = 0.0, 1.0
    while p_value(canaries, guesses, right, high, delta) < alpha and high < 64:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        if p_value(canaries, guesses, right, middle, delta) < alpha:
            low = middle
        else:
            high = middle
    return low
