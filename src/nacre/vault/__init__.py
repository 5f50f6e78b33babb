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
from nacre.vault.ledger import BudgetExceeded, Ledger, LedgerError
from nacre.vault.planning import plan_choice, plan_sum
from nacre.vault.rows import Row
from nacre.vault.source import Source, SourceError, open_source
from nacre.vault.vault import Sums, Vault

__all__ = [
    "Adjacency",
    "Bound",
    "BudgetExceeded",
    "Guarantee",
    "Ledger",
    "LedgerError",
    "Release",
    "Row",
    "Segment",
    "Source",
    "SourceError",
    "Sums",
    "Vault",
    "epsilon_of",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "open_source",
    "plan_choice",
    "plan_sum",
]
