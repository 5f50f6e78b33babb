"""The ledger's rows as values: every query that only reads."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import sqlalchemy as sa

from nacre.errors import LedgerError
from nacre.ledger.budget import Budget, Charge, Composition
from nacre.ledger.store import budgets, entries, meta, releases
from nacre.vault.bound import Adjacency


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """One reservation: what it may cost, whether it finished, and what it released."""

    id: int
    dataset: str
    epsilon: float
    delta: float
    mu: float | None
    adjacency: Adjacency
    method: str
    note: str
    status: str  # 'reserved' until the fit says that it is done; charged either way
    reserved_at: str
    finished_at: str | None
    releases: tuple[dict[str, Any], ...]


def find_budget(work: sa.Connection, dataset: str, *, lock: bool = False) -> Budget | None:
    """The budget of the data set, if one is open; `lock` holds it until the transaction ends."""
    query = budgets.select().where(budgets.c.dataset == dataset)
    if lock:
        query = query.with_for_update()  # SQLite has the write lock already and ignores this
    row = work.execute(query).mappings().first()
    if row is None:
        return None
    return Budget(
        dataset=row["dataset"],
        epsilon=row["epsilon"],
        delta=row["delta"],
        adjacency=Adjacency(row["adjacency"]),
        composition=Composition(row["composition"]),
    )


def read_names(work: sa.Connection) -> list[str]:
    """The names of all data sets with a budget, in order."""
    return list(work.scalars(budgets.select().order_by(budgets.c.dataset)))


def read_charges(work: sa.Connection, dataset: str) -> list[Charge]:
    """What every entry of the data set costs."""
    rows = work.execute(entries.select().where(entries.c.dataset == dataset)).mappings()
    return [
        Charge(
            epsilon=row["epsilon"],
            delta=row["delta"],
            mu=row["mu"],
            releases=row["planned"],
            adjacency=Adjacency(row["adjacency"]),
        )
        for row in rows
    ]


def read_notes(work: sa.Connection, dataset: str) -> list[tuple[int, str]]:
    """The number and the note of every entry of the data set, oldest first."""
    columns = (entries.c.id, entries.c.note)
    query = entries.select().with_only_columns(*columns).where(entries.c.dataset == dataset)
    return [(row.id, row.note) for row in work.execute(query.order_by(entries.c.id))]


def read_entries(work: sa.Connection, dataset: str) -> list[Entry]:
    """All entries of the data set, oldest first, with what they released."""
    documents: dict[int, list[dict[str, Any]]] = {}
    of_dataset = (
        entries.select().with_only_columns(entries.c.id).where(entries.c.dataset == dataset)
    )
    query = releases.select().where(releases.c.entry.in_(of_dataset)).order_by(releases.c.id)
    for row in work.execute(query).mappings():
        documents.setdefault(row["entry"], []).append(json.loads(row["document"]))
    query = entries.select().where(entries.c.dataset == dataset).order_by(entries.c.id)
    found = []
    for row in work.execute(query).mappings():
        values = {key: value for key, value in row.items() if key != "planned"}
        values["adjacency"] = Adjacency(values["adjacency"])
        found.append(Entry(**values, releases=tuple(documents.get(row["id"], ()))))
    return found


def read_status(work: sa.Connection, entry_id: int, *, lock: bool = False) -> str:
    """'reserved' or 'finished'; `lock` holds the entry until the transaction ends."""
    query = entries.select().with_only_columns(entries.c.status).where(entries.c.id == entry_id)
    if lock:
        query = query.with_for_update()  # SQLite has the write lock already and ignores this
    status = work.scalar(query)
    if status is None:
        raise LedgerError(f"The ledger has no entry {entry_id}. Reserve one first.")
    return str(status)


def count_releases(work: sa.Connection, entry_id: int) -> int:
    """How many releases of an entry were written down."""
    query = sa.select(sa.func.count()).where(releases.c.entry == entry_id)
    return int(work.scalar(query) or 0)


def read_meta(work: sa.Connection, key: str) -> str:
    """One fact about the ledger itself."""
    value = work.scalar(meta.select().with_only_columns(meta.c.value).where(meta.c.key == key))
    if value is None:
        raise LedgerError(f"The ledger lacks its {key!r}: it is damaged. Restore a backup.")
    return str(value)
