"""Several processes at one ledger, and processes that die in the middle; SQLite and PostgreSQL."""

import multiprocessing
import os
import secrets
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from nacre.vault.ledger import BudgetExceeded, Ledger

SOURCE = Path(__file__).resolve().parents[2] / "src"
WORKERS, TRIES, SHARE = 4, 8, 0.1


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """A ledger's address and a data set name that nobody has used."""
    if request.param == "sqlite":
        return str(tmp_path / "budget.db"), "census"
    url = os.environ.get("NACRE_TEST_POSTGRES")
    if not url:
        pytest.skip("set NACRE_TEST_POSTGRES to a postgresql:// URL to run this")
    return url, f"census-{secrets.token_hex(4)}"


def reserve_many(target, dataset, gate, answers):
    ledger = Ledger(target)
    gate.wait()
    for _ in range(TRIES):
        try:
            answers.put(
                ledger.reserve(
                    dataset, epsilon=SHARE, delta=0, adjacency="add-remove", method="PEARL"
                )
            )
        except BudgetExceeded:
            answers.put(None)


def open_one(target, dataset, gate, answers):
    ledger = Ledger(target)
    gate.wait()
    answers.put(ledger.open(dataset, epsilon=1, delta=1e-6).epsilon)
    answers.put(ledger.fingerprint_key())


def run(work, target, dataset, expected):
    """Start all workers at the same moment and gather `expected` answers."""
    context = multiprocessing.get_context("spawn")
    gate, answers = context.Barrier(WORKERS), context.Queue()
    workers = [
        context.Process(target=work, args=(target, dataset, gate, answers)) for _ in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    found = [answers.get(timeout=120) for _ in range(expected)]
    for worker in workers:
        worker.join(timeout=60)
        assert worker.exitcode == 0
    answers.close()
    answers.join_thread()
    return found


def test_processes_at_once_neither_overspend_nor_lose(place):
    target, dataset = place
    ledger = Ledger(target)
    ledger.open(dataset, epsilon=1, delta=1e-6)
    answers = run(reserve_many, target, dataset, WORKERS * TRIES)
    granted = [answer for answer in answers if answer is not None]
    assert len(granted) == 10, "ten tenths fit into one, however the processes interleave"
    assert sorted(granted) == [entry.id for entry in ledger.history(dataset)]
    assert ledger.balance(dataset).spent_epsilon == pytest.approx(1)


def test_processes_may_create_the_ledger_at_once(place):
    target, dataset = place
    answers = run(open_one, target, dataset, 2 * WORKERS)
    assert answers.count(1.0) == WORKERS
    assert len({answer for answer in answers if isinstance(answer, bytes)}) == 1


def test_a_killed_fit_stays_charged(place):
    target, dataset = place
    ledger = Ledger(target)
    ledger.open(dataset, epsilon=1, delta=1e-6)
    program = f"""
        import os, signal
        from nacre.vault.ledger import Ledger
        ledger = Ledger({target!r})
        fit = dict(epsilon=0.7, delta=1e-7, adjacency="add-remove", method="PEARL")
        entry = ledger.reserve({dataset!r}, **fit)
        ledger.record(entry, {{"name": "first"}})
        os.kill(os.getpid(), signal.SIGKILL)
    """
    dead = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        timeout=120,
    )
    assert dead.returncode == -signal.SIGKILL
    (entry,) = ledger.history(dataset)
    assert (entry.status, entry.epsilon) == ("reserved", 0.7)
    assert entry.releases == ({"name": "first"},)
    with pytest.raises(BudgetExceeded):
        ledger.reserve(dataset, epsilon=0.4, delta=0, adjacency="add-remove", method="PEARL")


def test_killed_inside_the_transaction_leaves_nothing(place):
    target, dataset = place
    ledger = Ledger(target)
    ledger.open(dataset, epsilon=1, delta=1e-6)
    program = f"""
        import os, signal
        import sqlalchemy as sa
        from nacre.vault.ledger import Ledger

        def die(connection):  # reading commits too, and may
            if connection.get_execution_options().get("nacre_write"):
                os.kill(os.getpid(), signal.SIGKILL)

        ledger = Ledger({target!r})
        sa.event.listen(ledger._store._engine, "commit", die)
        ledger.reserve({dataset!r}, epsilon=1, delta=0, adjacency="add-remove", method="PEARL")
    """
    dead = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        timeout=120,
    )
    assert dead.returncode == -signal.SIGKILL
    assert ledger.history(dataset) == []
    ledger.reserve(dataset, epsilon=1, delta=0, adjacency="add-remove", method="PEARL")
    assert ledger.balance(dataset).left_epsilon == 0
