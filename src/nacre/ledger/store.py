"""The ledger's tables and transactions: SQLite in a file, or PostgreSQL by URL.

A reservation must see every earlier one and be seen by every later one.  SQLite: each writing
transaction takes the write lock before it reads (BEGIN IMMEDIATE).  PostgreSQL: it locks the
budget's row, in READ COMMITTED so that what it reads next is what was committed when it got the
lock.  Both write to the disk before they say that they did.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from nacre.errors import LedgerError

metadata = sa.MetaData()
# Names carry a prefix because a team may keep the ledger in a database that it has already.
meta = sa.Table(
    "nacre_meta",
    metadata,
    sa.Column("key", sa.String(40), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
budgets = sa.Table(
    "nacre_budgets",
    metadata,
    sa.Column("dataset", sa.String(200), primary_key=True),
    sa.Column("epsilon", sa.Double, nullable=False),
    sa.Column("delta", sa.Double, nullable=False),
    sa.Column("adjacency", sa.String(20), nullable=False),
    sa.Column("composition", sa.String(20), nullable=False),
    sa.Column("opened_at", sa.String(40), nullable=False),
)
entries = sa.Table(
    "nacre_entries",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("dataset", sa.ForeignKey(budgets.c.dataset), nullable=False, index=True),
    sa.Column("epsilon", sa.Double, nullable=False),
    sa.Column("delta", sa.Double, nullable=False),
    sa.Column("mu", sa.Double),
    sa.Column("planned", sa.Integer, nullable=False),
    sa.Column("adjacency", sa.String(20), nullable=False),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("status", sa.String(20), nullable=False),
    sa.Column("reserved_at", sa.String(40), nullable=False),
    sa.Column("finished_at", sa.String(40)),
    sqlite_autoincrement=True,
)
releases = sa.Table(
    "nacre_releases",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("entry", sa.ForeignKey(entries.c.id), nullable=False, index=True),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("recorded_at", sa.String(40), nullable=False),
    sqlite_autoincrement=True,
)

UNLOCKED = {"nolock", "immutable", "vfs"}  # of SQLite's addresses: without its locks, or others

_CREATORS = 7071067811865475  # any number that no other program locks in the same database

# PostgreSQL allows a hundred connections at a time, unless told otherwise.
_NO_MORE = ("too many clients", "too many connections", "connection slots are reserved")

# What a driver says, and what a person can do about it.
_ADVICE = (
    (("not a database", "malformed", "corrupt"), "is damaged or not a SQLite database. Restore it "
     "from a backup; do not start a new one, which would forget what has been spent."),
    (("locked", "busy", "lock timeout"), "stayed locked by another process. Wait for the other "
     "fit, or end it, and try again."),
    (("readonly", "read-only"), "cannot be written to. Make the file and its folder writable."),
    (("unable to open",), "cannot be opened. The folder must exist and be writable."),
    (_NO_MORE, "had no connection to give for too long. Try again, or let its server allow more."),
    (("disk i/o error",), "cannot be read or written: its disk is full or failing. Free some room "
     "and try again."),
    (("full", "no space"), "has no room on its disk. Nothing was written; free some and retry."),
)  # fmt: skip


class Store:
    """Where the ledger lives; it holds no connection between transactions."""

    def __init__(self, target: str | Path, *, timeout: float):
        self._timeout = timeout
        text = str(target)
        try:
            url = sa.make_url(text) if "://" in text else sa.URL.create("sqlite", database=text)
        except (sa.exc.ArgumentError, ValueError):  # a port that is no number, for example
            raise LedgerError(
                "The ledger's address is not a path or a database URL such as "
                "postgresql://user@host/name."
            ) from None
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        self.name = url.database if "://" not in text else url.render_as_string(hide_password=True)
        self._path = self._sqlite_path(url)
        self._engine = self._make_engine(url)

    def exists(self) -> bool:
        """Whether a ledger has been made here; never makes one."""
        if self._path is not None:
            try:
                there = self._path.exists()
            except (OSError, ValueError) as error:  # a name that no file can have
                said = getattr(error, "strerror", None) or "not a name of a file"
                raise LedgerError(f"The ledger's address is no path: {said}.") from None
            if not there:
                return False
        with self.transaction() as connection:
            return sa.inspect(connection).has_table(meta.name)

    @contextlib.contextmanager
    def transaction(self, *, write: bool = False, alone: bool = False) -> Iterator[sa.Connection]:
        """One transaction: all of it happens, or on any error none of it.

        `alone` keeps out other transactions that say so: what creates has no row to lock yet.
        """
        try:
            with self._connect() as connection:
                connection = connection.execution_options(nacre_write=write)
                with connection.begin():
                    if write and self._path is None:
                        self._guard_postgres(connection, alone=alone)
                    yield connection
        except sa.exc.DBAPIError as error:
            raise LedgerError(f"The ledger {self.name} {_advice(error)}") from error

    def _connect(self) -> sa.Connection:
        """A connection; where a server has no more to give, in a while."""
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                return self._engine.connect()
            except sa.exc.OperationalError as error:
                busy = any(words in str(error.orig) for words in _NO_MORE)
                if not busy or time.monotonic() > deadline:
                    raise
                # Not all at the same moment again.
                time.sleep(random.uniform(0.05, 0.5))

    def create(self, rows: list[dict[str, str]]) -> None:
        """Make the tables and put `rows` into the meta table, unless that has been done."""
        if self._path is not None:
            self._start_write_ahead_log()
        with self.transaction(write=True, alone=True) as connection:
            metadata.create_all(connection)
            if connection.execute(sa.select(meta.c.key)).first() is None:
                connection.execute(sa.insert(meta), rows)

    def _sqlite_path(self, url: sa.URL) -> Path | None:
        backend = url.get_backend_name()
        if backend == "postgresql":
            return None
        if backend != "sqlite":
            raise LedgerError(
                f"A ledger lives in SQLite or PostgreSQL, not in {backend}: elsewhere nobody has "
                "checked that two fits at once cannot overspend."
            )
        name = (url.database or "").removeprefix("file:")
        if name in ("", ":memory:") or url.query.get("mode") == "memory":
            raise LedgerError(
                "A ledger in memory would forget what was spent. Give a file, e.g. 'budget.db'."
            )
        if unsafe := sorted(UNLOCKED & {*url.query}):
            raise LedgerError(
                f"`{unsafe[0]}` in the ledger's address would let two fits at once damage it or "
                "overspend. Leave it out."
            )
        return Path(name)

    def _make_engine(self, url: sa.URL) -> sa.Engine:
        options: dict[str, Any] = {"poolclass": sa.NullPool}
        if self._path is None:
            options["isolation_level"] = "READ COMMITTED"
        else:
            options["connect_args"] = {"timeout": self._timeout}
        try:
            engine = sa.create_engine(url, **options)
        except ModuleNotFoundError as error:
            raise LedgerError(
                f"A ledger at {self.name} needs the package '{error.name}': "
                "pip install 'nacre-dp[postgres]'."
            ) from error
        if self._path is not None:
            sa.event.listen(engine, "connect", _prepare_sqlite)
            sa.event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _guard_postgres(self, connection: sa.Connection, *, alone: bool) -> None:
        milliseconds = int(1000 * self._timeout)
        connection.execute(sa.text(f"SET LOCAL lock_timeout = {milliseconds}"))
        connection.execute(sa.text("SET LOCAL synchronous_commit = on"))
        if alone:
            connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_CREATORS})"))

    def _start_write_ahead_log(self) -> None:
        """Readers do not block the writer then; remembered in the file, so done once."""
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                # Not in a transaction: the journal cannot be changed inside one.
                with contextlib.closing(self._engine.raw_connection()) as connection:
                    connection.cursor().execute("PRAGMA journal_mode=WAL")
                return
            except Exception as error:
                # SQLite does not wait for this lock by itself when two processes create at once.
                if "locked" in str(error) and time.monotonic() < deadline:
                    time.sleep(0.05)
                    continue
                raise LedgerError(f"The ledger {self.name} {_advice(error)}") from error


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver must not begin transactions by itself
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")


def _begin_sqlite(connection: sa.Connection) -> None:
    write = connection.get_execution_options().get("nacre_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _advice(error: Exception) -> str:
    cause = str(getattr(error, "orig", error)).strip()
    for words, advice in _ADVICE:
        if any(word in cause.lower() for word in words):
            return advice
    return f"could not be used: {cause}"
