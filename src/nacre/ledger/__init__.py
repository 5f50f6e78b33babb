"""What each data set has spent, kept in a database across processes and days.

What needs the library of databases is imported when it is first used: most fits have no ledger.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nacre.errors import BudgetExceeded, LedgerError
from nacre.ledger.budget import Balance, Composition
from nacre.ledger.reservation import Reservation, charged, check_account, reserve_in

if TYPE_CHECKING:
    from nacre.ledger.ledger import Ledger
    from nacre.ledger.records import Entry

_LATER = {"Ledger": "nacre.ledger.ledger", "Entry": "nacre.ledger.records"}

__all__ = [
    "Balance",
    "BudgetExceeded",
    "Composition",
    "Entry",
    "Ledger",
    "LedgerError",
    "Reservation",
    "charged",
    "check_account",
    "reserve_in",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
