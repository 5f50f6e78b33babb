import dataclasses
import os
import sqlite3

import pytest
import sqlalchemy as sa

from nacre.ledger import BudgetExceeded, Entry, Ledger, LedgerError, charged, reserve_in
from nacre.ledger.units import MARK
from nacre.schema import Unit
from nacre.vault import Plan
from nacre.vault.doors.sum import count_question

FIT = {"adjacency": "add-remove", "method": "PEARL"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


@pytest.fixture
def ledger(path):
    ledger = Ledger(path)
    ledger.open("census", epsilon=3, delta=1e-6)
    return ledger


def test_nothing_is_written_until_a_budget_is_opened(path):
    ledger = Ledger(path)
    assert ledger.datasets() == []
    with pytest.raises(LedgerError, match=r"no ledger at .*budget\.db.*nacre ledger"):
        ledger.reserve("census", epsilon=1, delta=0, **FIT)
    assert not path.exists()


def test_a_fresh_budget_is_whole(ledger):
    balance = ledger.balance("census")
    assert (balance.epsilon, balance.delta, balance.entries) == (3, 1e-6, 0)
    assert (balance.spent_epsilon, balance.spent_delta) == (0, 0)
    assert (balance.left_epsilon, balance.left_delta) == (3, 1e-6)
    assert balance.adjacency == "add-remove"


def test_opening_again_needs_the_same_numbers(ledger):
    ledger.reserve("census", epsilon=1, delta=0, **FIT)
    assert ledger.open("census", epsilon=3.0, delta=1e-6).spent_epsilon == 1
    for other in ({"epsilon": 4}, {"delta": 1e-5}, {"adjacency": "replace-one"}):
        with pytest.raises(LedgerError, match="cannot be changed"):
            ledger.open("census", **{"epsilon": 3, "delta": 1e-6, **other})
    with pytest.raises(LedgerError, match="composition='add'"):
        ledger.open("census", epsilon=3, delta=1e-6, composition="gaussian")
    assert ledger.balance("census").epsilon == 3


def test_data_sets_have_budgets_of_their_own(ledger):
    ledger.open("adult", epsilon=1, delta=1e-5)
    ledger.reserve("census", epsilon=2, delta=1e-7, **FIT)
    assert ledger.datasets() == ["adult", "census"]
    assert ledger.balance("adult").spent_epsilon == 0
    assert ledger.history("adult") == []


def test_unknown_data_set_says_how_to_open_it(ledger):
    for ask in (ledger.balance, ledger.history):
        with pytest.raises(LedgerError, match=r"no budget for 'censsus'.*--dataset censsus"):
            ask("censsus")


def test_history_tells_what_happened(path, ledger):
    first = ledger.reserve("census", epsilon=1, delta=1e-7, mu=0.25, note="pilot", **FIT)
    second = ledger.reserve("census", epsilon=0.5, delta=0, **FIT)
    ledger.record(first, {"name": "counts", "noise": 3.5})
    ledger.record(first, {"name": "features", "noise": 4.5})
    ledger.finish(first)
    ledger.finish(first)

    done, open_ = Ledger(path).history("census")
    assert isinstance(done, Entry) and (done.id, open_.id) == (first, second)
    assert (done.status, open_.status) == ("finished", "reserved")
    assert (done.epsilon, done.delta, done.mu, done.note) == (1.0, 1e-7, 0.25, "pilot")
    assert [release["name"] for release in done.releases] == ["counts", "features"]
    assert done.reserved_at <= done.finished_at and done.reserved_at.endswith("+00:00")
    assert open_.finished_at is None and open_.releases == ()


def test_refusal_says_what_was_asked_what_is_left_and_what_to_do(ledger):
    ledger.reserve("census", epsilon=2.5, delta=1e-7, **FIT)
    with pytest.raises(BudgetExceeded) as refusal:
        ledger.reserve("census", epsilon=0.75, delta=1e-7, **FIT)
    text = str(refusal.value)
    assert "'census'" in text and "asked:  epsilon=0.75" in text
    assert "left:   epsilon=0.5, delta=9e-07" in text and "nothing was charged" in text
    assert len(ledger.history("census")) == 1
    ledger.reserve("census", epsilon=0.5, delta=9e-7, **FIT)
    assert ledger.balance("census").left_epsilon == 0


def test_finished_and_unknown_entries_take_no_release(ledger):
    entry = ledger.reserve("census", epsilon=1, delta=0, **FIT)
    with pytest.raises(LedgerError, match="plain JSON"):
        ledger.record(entry, {"noise": float("nan")})
    with pytest.raises(LedgerError, match="plain JSON"):
        ledger.record(entry, {"noise": object()})
    ledger.finish(entry)
    with pytest.raises(LedgerError, match="is finished"):
        ledger.record(entry, {"noise": 1})
    for call in (lambda: ledger.record(99, {}), lambda: ledger.finish(99)):
        with pytest.raises(LedgerError, match="no entry 99"):
            call()
    assert ledger.history("census")[0].releases == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"epsilon": -1}, "epsilon must be positive"),
        ({"epsilon": float("nan")}, "epsilon must be positive"),
        ({"epsilon": float("inf")}, "without privacy cannot be charged"),
        ({"epsilon": "much"}, "epsilon must be a number"),
        ({"delta": -1e-9}, "delta must be at least 0"),
        ({"delta": 1}, "delta must be at least 0"),
        ({"delta": float("nan")}, "delta must be at least 0"),
        ({"mu": 0}, "mu must be positive"),
        ({"mu": float("inf")}, "mu must be positive"),
        ({"releases": 0}, "at least one release"),
        ({"adjacency": "remove"}, "'add-remove', 'replace-one', got 'remove'"),
        ({"adjacency": "replace-one"}, "is kept in add-remove adjacency"),
    ],
)
def test_bad_reservations_charge_nothing(ledger, change, message):
    with pytest.raises(LedgerError, match=message):
        ledger.reserve("census", **{"epsilon": 1, "delta": 1e-7, **FIT, **change})
    assert ledger.history("census") == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": float("inf")}, "epsilon must be positive"),
        ({"delta": 1}, "delta must be"),
        ({"dataset": " "}, "name of a data set"),
        ({"composition": "rdp"}, "'add', 'gaussian', got 'rdp'"),
        ({"composition": "gaussian", "delta": 0}, "needs delta above 0"),
    ],
)
def test_bad_budgets_are_not_opened(path, change, message):
    ledger = Ledger(path)
    with pytest.raises(LedgerError, match=message):
        ledger.open(**{"dataset": "census", "epsilon": 1, "delta": 1e-6, **change})
    assert ledger.datasets() == []


def test_the_fingerprint_key_belongs_to_the_ledger(path, tmp_path):
    key = Ledger(path).fingerprint_key()
    assert len(key) == 32 and len(set(key)) > 8
    assert Ledger(path).fingerprint_key() == key
    assert Ledger(tmp_path / "other.db").fingerprint_key() != key


def test_a_damaged_file_is_said_to_be_damaged(path, ledger):
    ledger.reserve("census", epsilon=1, delta=0, **FIT)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    damaged = path.read_bytes()[:4096] + os.urandom(8 * 4096)
    path.write_bytes(damaged)
    with pytest.raises(LedgerError, match=r"(?s)damaged.*backup"):
        ledger.reserve("census", epsilon=1, delta=0, **FIT)
    with pytest.raises(LedgerError, match="damaged"):
        ledger.balance("census")


def test_another_kind_of_file_is_left_alone(path):
    path.write_text("epsilon,delta\n" * 400)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="not a SQLite database"):
        Ledger(path).open("census", epsilon=1, delta=0)
    assert path.read_bytes() == before


def test_a_newer_format_is_refused(path, ledger):
    with ledger._store.transaction(write=True) as work:
        work.execute(sa.text("UPDATE nacre_meta SET value = '99' WHERE key = 'format'"))
    with pytest.raises(LedgerError, match="has format 99"):
        Ledger(path).balance("census")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(LedgerError, match="folder must exist"):
        Ledger(tmp_path / "nowhere" / "budget.db").open("census", epsilon=1, delta=0)


def test_a_read_only_ledger_can_be_read_but_not_charged(path, ledger):
    reader = Ledger(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert reader.balance("census").left_epsilon == 3
    with pytest.raises(LedgerError, match="cannot be written"):
        reader.reserve("census", epsilon=1, delta=0, **FIT)
    assert ledger.history("census") == []


def test_a_lock_that_stays_is_reported(path, ledger):
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(LedgerError, match="locked by another process"):
            Ledger(path, timeout=0.1).reserve("census", epsilon=1, delta=0, **FIT)
    finally:
        holder.close()
    assert ledger.history("census") == []


def test_a_full_disk_leaves_no_half_record(path, ledger):
    for _ in range(3):
        ledger.reserve("census", epsilon=0.1, delta=0, **FIT)
    crowded = Ledger(path)

    def no_more_pages(connection, _record):
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages}")

    sa.event.listen(crowded._store._engine, "connect", no_more_pages)
    with pytest.raises(LedgerError, match="no room"):
        crowded.reserve("census", epsilon=0.1, delta=0, note="x" * 100_000, **FIT)
    assert len(ledger.history("census")) == 3
    ledger.reserve("census", epsilon=0.1, delta=0, **FIT)
    assert ledger.balance("census").spent_epsilon == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (":memory:", "would forget"),
        ("sqlite://", "would forget"),
        ("sqlite:///file:b.db?nolock=1&uri=true", "`nolock` .* damage"),
        ("sqlite:///file:b.db?vfs=unix-none&uri=true", "`vfs` .* damage"),
        ("mysql://localhost/budget", "SQLite or PostgreSQL, not in mysql"),
        ("://", "not a path or a database URL"),
    ],
)
def test_places_where_a_ledger_cannot_live(target, message):
    with pytest.raises(LedgerError, match=message):
        Ledger(target)


def test_a_password_is_not_shown():
    pytest.importorskip("psycopg")
    ledger = Ledger("postgresql://ann:secret@localhost:1/none")
    assert "secret" not in repr(ledger) and "ann" in repr(ledger)
    with pytest.raises(LedgerError) as refusal:
        ledger.open("census", epsilon=1, delta=0)
    assert "secret" not in str(refusal.value)


def test_entries_are_values(ledger):
    ledger.reserve("census", epsilon=1, delta=0, **FIT)
    with pytest.raises(dataclasses.FrozenInstanceError):
        ledger.history("census")[0].epsilon = 0


def test_a_mark_tells_whose_an_entry_is_and_nothing_about_the_unit(ledger, path):
    """Costs of persons are told apart from those of rows by an entry's note, marked or not."""
    marked = Ledger(path, mark="run 1")

    def charge(column, into):
        unit = None if column is None else Unit(column=column, rows=3)
        plan = Plan.of([count_question(1.0)], epsilon=0.5, delta=1e-7, unit=unit)
        reserve_in(into, "census", plan)(plan.releases[0])

    charge("who", marked)
    charge("who", ledger)
    first, second = ledger.history("census")
    assert first.note == f"{second.note}{MARK}run 1"
    for column in ("visit", None):
        with pytest.raises(LedgerError, match="cannot be added"):
            charge(column, marked)


def test_what_was_paid_for_is_not_lost_because_it_cannot_be_marked(ledger, monkeypatch):
    plan = Plan.of([count_question(1.0)], epsilon=0.5, delta=1e-7)
    reservation = reserve_in(ledger, "census", plan)

    def full(entry):
        raise LedgerError("The ledger could not be used: disk I/O error")

    with pytest.warns(UserWarning, match="charged all the same"), charged(reservation):
        reservation(plan.releases[0])
        monkeypatch.setattr(ledger, "finish", full)
    (entry,) = ledger.history("census")
    assert entry.status == "reserved"
    assert ledger.balance("census").spent_epsilon == 0.5


def test_a_clock_that_runs_backwards_changes_no_order_and_no_sum(tmp_path, monkeypatch):
    """Entries are numbered by the database; times are for people to read, and decide nothing."""
    from nacre.ledger import ledger as ledger_file

    book = Ledger(tmp_path / "budget.db")
    book.open("census", epsilon=1, delta=1e-6)
    times = iter(["2030-01-01T00:00:00", "1970-01-01T00:00:00", "0001-01-01T00:00:00"] * 9)
    monkeypatch.setattr(ledger_file, "_now", lambda: next(times))
    cost = {"epsilon": 0.25, "delta": 0, "adjacency": "add-remove", "method": "PEARL"}
    entries = [book.reserve("census", **cost) for _ in range(4)]
    for entry in entries:
        book.record(entry, {"name": "first"}, place=0)
        book.finish(entry)
    assert entries == sorted(entries)
    assert [entry.id for entry in book.history("census")] == entries
    assert all(entry.status == "finished" for entry in book.history("census"))
    assert book.balance("census").left_epsilon == 0
    with pytest.raises(BudgetExceeded):
        book.reserve("census", **cost)


def test_a_name_that_no_file_can_have_is_refused():
    with pytest.raises(LedgerError, match="is no path"):
        Ledger("a" * 5_000).datasets()
