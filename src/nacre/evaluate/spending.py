"""What a data set has spent so far and what is left, read from its ledger; nothing is written."""

import dataclasses
from typing import Any

from nacre.errors import NacreError


def spending(ledger: Any, dataset: str | None) -> dict[str, Any] | None:
    """The balance and the entries of one data set, as plain values.

    Args:
        ledger: a `Ledger`, its file, or a database URL; None for nothing.
        dataset: the name in the ledger; may be left out if it holds a single one.
    """
    if ledger is None:
        if dataset is not None:
            raise NacreError(f"The data set '{dataset}' was named, but no ledger to look it up in.")
        return None
    # Here, so that the processes in which models are trained do not load the vault.
    from nacre.ledger import Ledger

    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    known = book.datasets()
    if dataset is None:
        if len(known) != 1:
            names = ", ".join(known) or "none"
            raise NacreError(f"Which data set of the ledger? Name one of: {names}.")
        dataset = known[0]
    balance = dataclasses.asdict(book.balance(dataset))
    entries = [dataclasses.asdict(entry) for entry in book.history(dataset)]
    return {**balance, "history": entries}
