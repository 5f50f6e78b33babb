"""How a ledger is charged: the whole cost of a fit or draft, in one transaction, before noise."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from nacre.errors import LedgerError, NacreError
from nacre.ledger.units import MARK, require_unit, unit_note
from nacre.vault import Plan, Release

if TYPE_CHECKING:
    from nacre.ledger.ledger import Ledger
    from nacre.ledger.records import Entry


@final
@dataclasses.dataclass(kw_only=True)
class Reservation:
    """Called with each release before its noise is drawn; the first call reserves the whole cost.

    Attributes:
        ledger: where it is written down.
        dataset: the name of the budget.
        plan: what will be released, in all.
        entry: the number of the ledger's entry, once there is one.
        mark: what the entry is for, by which it can be found again.
    """

    ledger: Ledger
    dataset: str
    plan: Plan
    entry: int | None = None
    recorded: int = 0
    mark: str = ""

    def __call__(self, release: Release, /) -> None:
        """Charge before the noise of `release` is drawn."""
        plan = self.plan
        # By name: the rate of step-wise training may follow from a count, within what was reserved.
        known = {each.name for each in plan.releases}
        if release.name not in known or self.recorded >= len(plan.asked):
            raise LedgerError(f"'{release.name}' was not announced to the ledger.")
        if self.entry is None:
            self.entry = self.ledger.reserve(
                self.dataset,
                epsilon=plan.epsilon,
                delta=plan.delta,
                # A draft's releases are charged again: nothing tells that this ledger has them.
                mu=plan.mu,
                releases=len(plan.prior) + len(plan.asked),
                adjacency=plan.adjacency,
                method=plan.method,
                note=f"{unit_note(plan)}{MARK}{self.mark}" if self.mark else unit_note(plan),
            )
        place, self.recorded = self.recorded, self.recorded + 1
        self.ledger.record(self.entry, release.to_dict(), place=place)

    def marked(self) -> list[Entry]:
        """Entries of the data set that have this reservation's mark."""
        history = self.ledger.history(self.dataset)
        return [entry for entry in history if self.mark in entry.note.split(MARK)[1:]]


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
    from nacre.ledger.ledger import Ledger

    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    book.balance(dataset)
    # The charge itself asks again, in its transaction; here it is told before a row is read.
    notes = [(entry.id, entry.note) for entry in book.history(dataset)]
    require_unit(dataset, notes, unit_note(plan))
    return Reservation(ledger=book, dataset=dataset, plan=plan)


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
        try:
            reservation.ledger.finish(reservation.entry)
        except LedgerError as error:
            # What was paid for must not be lost for a word in a database.
            warnings.warn(
                f"The work is done, but entry {reservation.entry} of the ledger could not be "
                f"marked as finished; it is charged all the same. {error}",
                stacklevel=3,
            )
