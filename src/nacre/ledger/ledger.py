"""What each data set has spent, kept in a database across processes and days.

A fit reserves its whole cost in one transaction before any noise is drawn.  If it dies after that,
the reservation stays: a crash can waste budget, never hide it.  There is no way to delete an
entry or to raise a budget.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import secrets
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from nacre.errors import LedgerError
from nacre.ledger import store
from nacre.ledger.budget import (
    Balance,
    Budget,
    Charge,
    Composition,
    admit,
    balance,
)
from nacre.ledger.names import check_new, likeness, normalized
from nacre.ledger.records import (
    Entry,
    count_releases,
    find_budget,
    read_charges,
    read_entries,
    read_meta,
    read_names,
    read_notes,
    read_status,
)
from nacre.ledger.units import MARK, require_unit
from nacre.schema.suggest import suggest
from nacre.vault.bound import Adjacency

FORMAT = "1"


class Ledger:
    """The budgets of data sets, by name, in a SQLite file or at a database URL.

    Nothing is written until a budget is opened.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = Ledger(folder.name + "/budget.db")
        >>> _ = ledger.open("census", epsilon=3, delta=1e-6)
        >>> entry = ledger.reserve(
        ...     "census", epsilon=1, delta=1e-7, adjacency="add-remove", method="PEARL"
        ... )
        >>> ledger.finish(entry)
        >>> ledger.balance("census").left_epsilon
        2.0
        >>> folder.cleanup()
    """

    def __init__(self, target: str | Path, *, timeout: float = 120.0, mark: str = ""):
        """Open the ledger at `target`; `mark` is written under the note of what is reserved."""
        self._store = store.Store(target, timeout=timeout)
        self._mark = mark

    def __repr__(self) -> str:
        return f"Ledger({self._store.name!r})"

    def open(
        self,
        dataset: str,
        *,
        epsilon: float,
        delta: float,
        adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
        composition: Composition | str = Composition.ADD,
    ) -> Balance:
        """Open a budget for the data set; opening it again changes nothing.

        Names are the same if they are so in Unicode's form NFKC, spaces around them aside; a new
        one that only looks like that of an open budget gives a warning.

        Composition 'add' covers every fit; 'gaussian' covers only fits that release Gaussian sums
        and lets more of them in.  It is fixed here because choosing it later would not be valid.
        """
        dataset = normalized(dataset)
        budget = Budget(
            dataset=dataset,
            epsilon=_number("epsilon", epsilon),
            delta=_number("delta", delta),
            adjacency=_member(Adjacency, "adjacency", adjacency),
            composition=_member(Composition, "composition", composition),
        )
        self._create()
        with self._store.transaction(write=True, alone=True) as work:
            known = find_budget(work, dataset)
            if known is None:
                check_new(dataset)
                self._warn_of_likeness(work, dataset)
                row = {**dataclasses.asdict(budget), "opened_at": _now()}
                work.execute(store.budgets.insert(), row)
            elif known != budget:
                raise LedgerError(
                    f"A budget for {dataset!r} is open already, with epsilon={known.epsilon:g}, "
                    f"delta={known.delta:g}, adjacency='{known.adjacency}', "
                    f"composition='{known.composition}'. A budget cannot be changed; use it as it "
                    "is."
                )
        return self.balance(dataset)

    def reserve(
        self,
        dataset: str,
        *,
        epsilon: float,
        delta: float,
        adjacency: Adjacency | str,
        method: str,
        mu: float | None = None,
        releases: int = 1,
        note: str = "",
    ) -> int:
        """Charge a fit before it draws noise; returns the entry's number.

        Args:
            dataset: The name under which the budget was opened.
            epsilon: The fit's whole cost.
            delta: Likewise.
            adjacency: Must be the budget's.
            method: Its name, for the history.
            mu: The fit's Gaussian-DP parameter if it releases sums and choices only, else None.
            releases: How many (each is charged the slack of discrete noise).
            note: Anything public that helps to recognize the fit; whether it is per row or per
                person, and by which column, must be as in all entries before (`ledger.units`).

        Raises:
            LedgerError: This cost is of another unit than the entries before; nothing was charged.
            BudgetExceeded: The budget does not cover it; nothing was charged.
        """
        charge = Charge(
            epsilon=_number("epsilon", epsilon),
            delta=_number("delta", delta),
            mu=None if mu is None else _number("mu", mu),
            releases=releases,
            adjacency=_member(Adjacency, "adjacency", adjacency),
        )
        self._require()
        row = {
            "epsilon": charge.epsilon,
            "delta": charge.delta,
            "mu": charge.mu,
            "planned": charge.releases,
            "adjacency": charge.adjacency,
            "method": method,
            "note": f"{note}{MARK}{self._mark}" if self._mark else note,
            "status": "reserved",
            "reserved_at": _now(),
        }
        with self._store.transaction(write=True) as work:
            budget = self._budget(work, dataset, lock=True)
            require_unit(budget.dataset, read_notes(work, budget.dataset), note)
            admit(budget, read_charges(work, budget.dataset), charge)
            insert = store.entries.insert().returning(store.entries.c.id)
            return work.execute(insert, {"dataset": budget.dataset, **row}).scalar_one()

    def record(
        self, entry_id: int, release: Mapping[str, Any], *, place: int | None = None
    ) -> None:
        """Write down what a fit released: public facts of the release, never its values.

        With a `place`, it must be the entry's release of that number, counted from zero: of two
        processes that would make the same release, one is refused.
        """
        try:
            document = json.dumps(dict(release), sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise LedgerError(
                f"A release must be plain JSON without NaN or infinity: {error}."
            ) from error
        self._require()
        with self._store.transaction(write=True) as work:
            if read_status(work, entry_id, lock=True) != "reserved":
                raise LedgerError(
                    f"Entry {entry_id} is finished: nothing can be added to it. Reserve a new one."
                )
            if place is not None and count_releases(work, entry_id) != place:
                raise LedgerError(
                    f"Release {place + 1} of entry {entry_id} has been made already, perhaps by "
                    "another process. Use the answer that it gave."
                )
            row = {"entry": entry_id, "document": document, "recorded_at": _now()}
            work.execute(store.releases.insert(), row)

    def finish(self, entry_id: int) -> None:
        """Say that the fit is done; it stays charged. Saying it twice does no harm."""
        self._require()
        with self._store.transaction(write=True) as work:
            if read_status(work, entry_id) == "reserved":
                done = {"status": "finished", "finished_at": _now()}
                work.execute(
                    store.entries.update().where(store.entries.c.id == entry_id).values(done)
                )

    def history(self, dataset: str) -> list[Entry]:
        """All entries of the data set, oldest first."""
        self._require()
        with self._store.transaction() as work:
            return read_entries(work, self._budget(work, dataset).dataset)

    def balance(self, dataset: str) -> Balance:
        """The budget, what is spent of it and what is left."""
        self._require()
        with self._store.transaction() as work:
            budget = self._budget(work, dataset)
            return balance(budget, read_charges(work, budget.dataset))

    def datasets(self) -> list[str]:
        """The names of all data sets with a budget; none if there is no ledger yet."""
        if not self._store.exists():
            return []
        self._require()
        with self._store.transaction() as work:
            return read_names(work)

    def fingerprint_key(self) -> bytes:
        """32 random bytes, made with the ledger, to key fingerprints (HMAC) of contents.

        Keep what is made with it in the ledger too: whoever has key and fingerprint can test
        guesses of the data.
        """
        self._create()
        with self._store.transaction() as work:
            return bytes.fromhex(read_meta(work, "fingerprint_key"))

    def _create(self) -> None:
        if not self._store.exists():
            key = secrets.token_hex(32)
            rows = {"format": FORMAT, "fingerprint_key": key, "created_at": _now()}
            self._store.create([{"key": k, "value": v} for k, v in rows.items()])
        self._require()

    def _require(self) -> None:
        """There must be a ledger here, of a form that this version understands."""
        if not self._store.exists():
            raise LedgerError(
                f"There is no ledger at {self._store.name}. Open a budget there first: nacre "
                f"ledger {self._store.name} --dataset NAME --epsilon 3 --delta 1e-6"
            )
        with self._store.transaction() as work:
            written = read_meta(work, "format")
        if written != FORMAT:
            raise LedgerError(
                f"The ledger {self._store.name} has format {written}, this version of nacre "
                f"reads format {FORMAT}. Install the version that wrote it."
            )

    def _warn_of_likeness(self, work: sa.Connection, dataset: str) -> None:
        alike = [name for name in read_names(work) if likeness(name) == likeness(dataset)]
        if alike:
            warnings.warn(
                f"The ledger {self._store.name} has a budget for {alike[0]!r} already; "
                f"{dataset!r} differs only by case, spaces or what is not shown, and gets a budget "
                "of its own. If it is the same table, use the budget that is open.",
                stacklevel=3,
            )

    def _budget(self, work: sa.Connection, dataset: str, *, lock: bool = False) -> Budget:
        # As given first: a budget that was opened before names were normalized stays in reach.
        budget = find_budget(work, dataset, lock=lock)
        budget = budget or find_budget(work, normalized(dataset), lock=lock)
        if budget is None:
            raise LedgerError(
                f"The ledger {self._store.name} has no budget for {dataset!r}."
                f"{suggest(dataset, read_names(work))} Check the name, or open one: nacre ledger "
                f"{self._store.name} --dataset {dataset} --epsilon 3 --delta 1e-6"
            )
        return budget


def _number(name: str, value: float) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise LedgerError(f"{name} must be a number, got {value!r}.") from None


def _member(kind: Any, name: str, value: object) -> Any:
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(repr(str(member)) for member in kind)
        raise LedgerError(f"{name} must be one of {names}, got {value!r}.") from None


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")
