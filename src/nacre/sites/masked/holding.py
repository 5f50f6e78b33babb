"""A site's rows, and the entry of its own ledger that pays for all rounds of a session."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any, final

from nacre.errors import LedgerError
from nacre.ledger import Ledger, Reservation, reserve_in
from nacre.sites.masked.keeper import Kept
from nacre.sites.masked.session import Session
from nacre.sites.release import require_same


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Holding:
    """What a site brings along: its rows, and where it keeps its own budget.

    Attributes:
        data: the site's rows, as for `fit`.
        bad_rows: as for `fit`.
        engine: as for `fit`.
        ledger: the site's own; the first round reserves the cost of all.
        dataset: the name under which it was opened.
    """

    data: Any
    bad_rows: str = "check"
    engine: Any = None
    ledger: Ledger | str | Path | None = None
    dataset: str | None = None

    def reservation(self, session: Session, kept: Kept) -> Reservation | None:
        """Where the round is charged; the entry of the rounds before, if there were any."""
        found = reserve_in(self.ledger, self.dataset, session.plan)
        if kept.masked and kept.account != account_of(found):
            raise LedgerError(
                "Give the ledger and data set of the first round in all rounds, or none in all."
            )
        if found is None:
            return None
        found.mark = f"{session.id} {kept.site}"
        entries = found.marked()
        if len(entries) > 1 or (entries and not kept.masked):
            raise LedgerError(
                f"The ledger was charged for this session before (entry {entries[0].id}), and this "
                "folder of secrets does not know of it. A second vector would be a second answer "
                "about the same rows: refused."
            )
        if kept.entry is not None and [entry.id for entry in entries] != [kept.entry]:
            raise LedgerError(f"The ledger has no entry {kept.entry} of this session.")
        for entry in entries:
            require_same(entry, session.plan)
            made = iter([session.plan.asked[n - 1].release.to_dict() for n in kept.masked])
            if not all(release in made for release in entry.releases):
                raise LedgerError(f"Entry {entry.id} of the ledger has other releases than these.")
            found.entry, found.recorded = entry.id, len(entry.releases)
        return found


def account_of(reservation: Reservation | None) -> str:
    """A digest of a ledger and a data set, wherever the ledger lies; empty for none."""
    if reservation is None:
        return ""
    about = reservation.ledger.fingerprint_key() + reservation.dataset.encode()
    return hashlib.sha256(b"nacre account\0" + about).hexdigest()
