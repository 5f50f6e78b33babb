"""Budgets that mean something: what is asked for is checked before anything is spent."""

from __future__ import annotations

import math
from numbers import Real

from nacre.errors import NacreError
from nacre.vault.accountant import LARGEST_EPSILON, LEAST_DELTA, LEAST_EPSILON

LARGEST_DELTA = 0.01  # no table for which this would be small is worth a model


def as_budget(epsilon: float, delta: float | None) -> tuple[float, float]:
    """The budget that was asked for; (inf, 1), which promises nothing, for epsilon=inf."""
    if isinstance(epsilon, Real) and epsilon == math.inf:
        if delta is not None:
            raise NacreError(
                "epsilon=inf fits without any privacy, so that delta means nothing. Leave delta "
                "out, or give an epsilon that is a finite number."
            )
        return math.inf, 1.0
    if delta is None:
        raise NacreError(
            "delta must be a number, got None: far below one over the number of rows, such as 1e-6."
        )
    check_budget(epsilon, delta)
    return float(epsilon), float(delta)


def check_budget(epsilon: float, delta: float) -> None:
    """Refuse budgets that mean nothing, before anything is spent."""
    for name, given in (("epsilon", epsilon), ("delta", delta)):
        if isinstance(given, bool) or not isinstance(given, Real):
            raise NacreError(f"{name} must be a number, got {given!r}.")
    if not LEAST_EPSILON < epsilon <= LARGEST_EPSILON:
        raise NacreError(
            f"epsilon must be a positive number, above {LEAST_EPSILON:g} and at most "
            f"{LARGEST_EPSILON:g}, got {epsilon}. Choose it between 0.1, which promises much and "
            "blurs much, and 10, which promises little; 1 is usual. To fit without any privacy, "
            "give epsilon=math.inf (on the command line --not-private) and no delta."
        )
    if not 0 < delta < 1:
        raise NacreError(f"delta must lie strictly between 0 and 1, got {delta}.")
    if delta <= LEAST_DELTA:
        raise NacreError(
            f"delta must be above {LEAST_DELTA:g}, got {delta:g}: what noise costs is not "
            "proved beyond. Choose it far below one over the number of rows, such as 1e-6."
        )
    if delta >= LARGEST_DELTA:
        raise NacreError(
            f"delta must be below {LARGEST_DELTA:g}, got {delta:g}: with a chance of delta nothing "
            "at all is promised. Choose it far below one over the number of rows, such as 1e-6."
        )
