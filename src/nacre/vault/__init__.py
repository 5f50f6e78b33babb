"""The privacy kernel: the only code that computes with private rows for a release."""

from nacre.vault.accountant import (
    Release,
    epsilon_of,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
)
from nacre.vault.bound import Adjacency, Bound, Segment
from nacre.vault.guarantee import Guarantee
from nacre.vault.planning import plan_choice, plan_sum
from nacre.vault.rows import Row
from nacre.vault.vault import Sums, Vault

__all__ = [
    "Adjacency",
    "Bound",
    "Guarantee",
    "Release",
    "Row",
    "Segment",
    "Sums",
    "Vault",
    "epsilon_of",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "plan_choice",
    "plan_sum",
]
