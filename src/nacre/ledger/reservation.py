"""How a ledger is charged: the whole cost of a fit or draft, in one transaction, before noise."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

from nacre.errors import LedgerError, NacreError
from nacre.ledger.ledger import Ledger
from nacre.vault import Plan, Release
from nacre.vault.guarantee import per, unit_column, unit_name

BY = ", by "
PERSONS = "per person"  # how the note of an entry begins whose cost is that of a person


@final
@dataclasses.dataclass(kw_only=True)
class Reservation:
    """Called with each release before its noise is drawn; the first call reserves the whole cost.

    Attributes:
        ledger: where it is written down.
        dataset: the name of the budget.
        plan: what will be released, in all.
        entry: the number of the ledger's entry, once there is one.
    """

    ledger: Ledger
    dataset: str
    plan: Plan
    entry: int | None = None
    recorded: int = 0

    def __call__(self, release: Release, /) -> None:
        """Charge before the noise of `release` is drawn."""
        plan = self.plan
        if self.entry is None:
            _require_unit(self.ledger, self.dataset, plan)
            self.entry = self.ledger.reserve(
                self.dataset,
                epsilon=plan.epsilon,
                delta=plan.delta,
                # A draft's releases are charged again: nothing tells that this ledger has them.
                mu=plan.mu,
                releases=len(plan.prior) + len(plan.asked),
                adjacency=plan.adjacency,
                method=plan.method,
                note=_note(plan),
            )
        if self.recorded >= len(plan.asked):
            raise LedgerError(f"'{release.name}' was not announced to the ledger.")
        self.recorded += 1
        self.ledger.record(self.entry, release.to_dict())


def check_account(ledger: Any, dataset: str | None, plan: Plan) -> None:
    """Refuse half of an account, and a plan that no budget covers, before a row is read."""
    if not plan.private and (ledger is not None or dataset is not None):
        raise LedgerError(
            "A fit without privacy (epsilon=inf, --not-private) cannot be charged to a ledger: no "
            "budget covers it. Leave ledger and dataset out, or give an epsilon and a delta."
        )
    if ledger is None and dataset is not None:
        raise NacreError(
            f"The data set '{dataset}' is the name of a budget in a ledger: give the ledger "
            "too (ledger='budget.db', --ledger budget.db)."
        )
    if ledger is not None and dataset is None:
        raise NacreError(
            "A ledger keeps one budget for each data set: give the name under which it was opened "
            "(dataset='NAME', --dataset NAME)."
        )


def reserve_in(
    ledger: Ledger | str | Path | None, dataset: str | None, plan: Plan
) -> Reservation | None:
    """A reservation to come, if there is a ledger; a budget that is not open is refused here."""
    check_account(ledger, dataset, plan)
    if ledger is None or dataset is None:
        return None
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    book.balance(dataset)
    _require_unit(book, dataset, plan)
    return Reservation(ledger=book, dataset=dataset, plan=plan)


def _note(plan: Plan) -> str:
    """What an entry says of persons; nothing where a row is a person."""
    if plan.unit is None:
        return ""
    return f"{per(unit_name(plan.unit), plan.most_rows)}{BY}{plan.unit.column}"


def _require_unit(ledger: Ledger, dataset: str, plan: Plan) -> None:
    """Refuse to add what is per person to what is per row, or per other persons: no sum is true."""
    column = unit_column(plan.unit)
    for entry in ledger.history(dataset):
        persons = entry.note.startswith(PERSONS)
        if (entry.note.partition(BY)[2] if persons else "") != column:
            whose = f"per person by '{column}'" if column else "per row"
            raise LedgerError(
                f"This is {whose}, and entry {entry.id} of '{dataset}' is not: the two cannot "
                "be added. Open a budget under another name for it, and keep in mind that both are "
                "of the same people."
            )


@contextlib.contextmanager
def charged(reservation: Reservation | None) -> Iterator[None]:
    """Finish the ledger's entry; if the work stops before, the error says what stays charged."""
    try:
        yield
    except BaseException as error:
        entry = None if reservation is None else reservation.entry
        if reservation is not None and entry is not None:
            error.add_note(
                f"Entry {entry} of the ledger (ε = {reservation.plan.epsilon:g}, "
                f"δ = {reservation.plan.delta:g} for '{reservation.dataset}') stays charged."
            )
        elif isinstance(error, KeyboardInterrupt):
            error.add_note("Nothing was charged to a ledger.")
        raise
    if reservation is not None and reservation.entry is not None:
        reservation.ledger.finish(reservation.entry)
