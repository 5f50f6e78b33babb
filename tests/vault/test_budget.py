"""Budgets that mean nothing are refused before anything is spent, and told what to choose."""

import math

import pytest

from nacre.vault.accountant import LARGEST_EPSILON, LEAST_DELTA, LEAST_EPSILON
from nacre.vault.budget import LARGEST_DELTA, as_budget, check_budget

BUDGET = {"epsilon": 1.0, "delta": 1e-5}


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"epsilon": 0}, "epsilon must be a positive number"),
        ({"epsilon": LEAST_EPSILON}, "epsilon must be a positive number"),
        ({"epsilon": math.nan}, "epsilon must be a positive number.*1 is usual"),
        ({"epsilon": 2 * LARGEST_EPSILON}, "--not-private"),
        ({"epsilon": True}, "epsilon must be a number, got True"),
        ({"epsilon": "1"}, "epsilon must be a number, got '1'"),
        ({"epsilon": math.inf}, "delta means nothing"),
        ({"delta": None}, "delta must be a number, got None: far below one over the number"),
        ({"delta": 0}, "strictly between 0 and 1"),
        ({"delta": 1}, "strictly between 0 and 1"),
        ({"delta": math.nan}, "strictly between 0 and 1"),
        ({"delta": LEAST_DELTA}, "delta must be above"),
        ({"delta": LARGEST_DELTA}, "delta must be below"),
    ],
)
def test_budgets_that_mean_nothing(budget, message):
    with pytest.raises(ValueError, match=message):
        as_budget(**{**BUDGET, **budget})


def test_budgets_that_mean_something():
    assert as_budget(1, 1e-6) == (1.0, 1e-6)
    assert as_budget(math.inf, None) == (math.inf, 1.0)
    check_budget(LARGEST_EPSILON, 0.99 * LARGEST_DELTA)
