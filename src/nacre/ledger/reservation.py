"""How a ledger is charged: the whole cost of a fit or draft, in one transaction, before noise."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import final

from nacre.errors import NacreError
from nacre.ledger.ledger import Ledger
from nacre.vault.accountant import Release
from nacre.vault.bound import Adjacency


@final
@dataclasses.dataclass(kw_only=True)
class Reservation:
    """Called with each release before its noise is drawn; the first call reserves the whole cost.

    Attributes:
        epsilon, delta: the whole cost.
        mu: the Gaussian-DP parameter if only sums and choices will be released, else None.
        releases: how many there will be.
        entry: the number of the ledger's entry, once there is one.
    """

    ledger: Ledger
    dataset: str
    method: str
    adjacency: Adjacency
    epsilon: float
    delta: float
    mu: float | None = None
    releases: int = 1
    entry: int | None = None

    def __call__(self, release: Release, /) -> None:
        """Charge before the noise of `release` is drawn."""
        if self.entry is None:
            if not release.one_shot:
                self.mu = None
            self.entry = self.ledger.reserve(
                self.dataset,
                epsilon=self.epsilon,
                delta=self.delta,
                mu=self.mu,
                releases=self.releases,
                adjacency=self.adjacency,
                method=self.method,
            )
        elif self.mu is not None and not release.one_shot:
            raise NacreError(
                f"'{release.name}' is neither a Gaussian sum nor a choice, as had been announced "
                "to the ledger."
            )
        self.ledger.record(self.entry, release.to_dict())


def reserve_in(
    ledger: Ledger | str | Path | None,
    dataset: str | None,
    *,
    method: str,
    adjacency: Adjacency,
    epsilon: float,
    delta: float,
    mu: float | None = None,
    releases: int = 1,
) -> Reservation | None:
    """A reservation to come, if there is a ledger; a budget that is not open is refused here."""
    if ledger is None:
        if dataset is not None:
            raise NacreError(
                f"The data set '{dataset}' is the name of a budget in a ledger: give the ledger "
                "too (ledger='budget.db', --ledger budget.db)."
            )
        return None
    if dataset is None:
        raise NacreError(
            "A ledger keeps one budget for each data set: give the name under which it was opened "
            "(dataset='NAME', --dataset NAME)."
        )
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    book.balance(dataset)
    return Reservation(
        ledger=book,
        dataset=dataset,
        method=method,
        adjacency=adjacency,
        epsilon=epsilon,
        delta=delta,
        mu=mu,
        releases=releases,
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
                f"Entry {entry} of the ledger (ε = {reservation.epsilon:g}, "
                f"δ = {reservation.delta:g} for '{reservation.dataset}') stays charged."
            )
        elif isinstance(error, KeyboardInterrupt):
            error.add_note("Nothing was charged to a ledger.")
        raise
    if reservation is not None and reservation.entry is not None:
        reservation.ledger.finish(reservation.entry)
