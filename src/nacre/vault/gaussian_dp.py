"""Gaussian differential privacy: what mu means in epsilon and delta, for noise and for choices."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.special import expit, log_ndtr, logit, ndtr, ndtri


def gaussian_delta(mu: float, epsilon: float) -> float:
    """delta(epsilon) of a mu-Gaussian-DP mechanism, exactly (Balle and Wang, 2018, Theorem 8)."""
    if mu == 0:
        return 0.0
    second = math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))
    return max(0.0, float(ndtr(mu / 2 - epsilon / mu)) - second)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon >= 0 at which a mu-Gaussian-DP mechanism is (epsilon, delta)-private."""
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    high = 1.0
    while gaussian_delta(mu, high) > delta:
        high *= 2
    return _bisect(lambda epsilon: gaussian_delta(mu, epsilon) <= delta, 0.0, high)


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu for which mu-Gaussian-DP implies (epsilon, delta)-privacy."""
    high = 1.0
    while gaussian_delta(high, epsilon) <= delta:
        high *= 2
    return -_bisect(lambda negative: gaussian_delta(-negative, epsilon) <= delta, -high, -1e-300)


def choice_mu(epsilon: float) -> float:
    """mu of one choice by the exponential mechanism whose privacy loss has range `epsilon`.

    Theorem (docs/privacy.md, section 6): losses within an interval of length epsilon are dominated
    by two points whose log odds differ by epsilon; the worst such pair is the symmetric one,
    so mu = 2 Phi^-1(1 / (1 + exp(-epsilon / 2))), about 0.627 epsilon for small epsilon.
    """
    return -2 * float(ndtri(expit(-epsilon / 2)))


def choice_epsilon(mu: float) -> float:
    """The inverse of `choice_mu`."""
    return -2 * float(logit(ndtr(-mu / 2)))


def _bisect(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest number in [low, high] at which the monotone `holds` is true."""
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
