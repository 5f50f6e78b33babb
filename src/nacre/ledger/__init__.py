"""What each data set has spent, kept in a database across processes and days."""

from nacre.errors import BudgetExceeded, LedgerError
from nacre.ledger.budget import Balance, Composition
from nacre.ledger.ledger import Ledger
from nacre.ledger.records import Entry
from nacre.ledger.reservation import Reservation, charged, check_account, reserve_in

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
