"""Several processes at one ledger, and processes that die in the middle; SQLite and PostgreSQL."""

import contextlib
import multiprocessing
import os
import secrets
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from bench.faults.postgres import Missing, server

from nacre.ledger import BudgetExceeded, Ledger

SOURCE = Path(__file__).resolve().parents[2] / "src"
WORKERS, TRIES, SHARE = 3, 10, 0.1


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """A ledger's address and a data set name that nobody has used."""
    if request.param == "sqlite":
        return str(tmp_path / "budget.db"), "census"
    url = os.environ.get("NACRE_TEST_POSTGRES") or request.getfixturevalue("postgres")
    return url, f"census-{secrets.token_hex(4)}"


@pytest.fixture(scope="module")
def postgres():
    """A server of our own, from Debian's package."""
    with contextlib.ExitStack() as stack:
        try:
            url = stack.enter_context(server())
        except Missing as missing:
            pytest.skip(f"PostgreSQL: {missing}")
        yield url


def open_and_spend(target, dataset, gate, answers):
    ledger = Ledger(target)
    gate.wait()
    ledger.open(dataset, epsilon=1, delta=1e-6)
    entries = []
    for _ in range(TRIES):
        try:
            entry = ledger.reserve(
                dataset, epsilon=SHARE, delta=0, adjacency="add-remove", method="PEARL"
            )
            entries.append(entry)
        except BudgetExceeded:
            break
    answers.put((entries, ledger.fingerprint_key()))


def test_processes_at_once_neither_overspend_nor_lose(place):
    # All start at the same moment: to create the ledger, to open the budget and to spend it.
    target, dataset = place
    context = multiprocessing.get_context("spawn")
    gate, answers = context.Barrier(WORKERS), context.Queue()
    arguments = (target, dataset, gate, answers)
    workers = [context.Process(target=open_and_spend, args=arguments) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    found = [answers.get(timeout=300) for _ in workers]
    for worker in workers:
        worker.join(timeout=60)
        assert worker.exitcode == 0
    answers.close()
    answers.join_thread()

    ledger = Ledger(target)
    granted = [entry for entries, _ in found for entry in entries]
    assert len(granted) == 10, "ten tenths fit into one, however the processes interleave"
    assert sorted(granted) == [entry.id for entry in ledger.history(dataset)]
    assert ledger.balance(dataset).spent_epsilon == pytest.approx(1)
    assert {key for _, key in found} == {ledger.fingerprint_key()}


def test_a_killed_fit_stays_charged(place):
    target, dataset = place
    ledger = Ledger(target)
    ledger.open(dataset, epsilon=1, delta=1e-6)
    program = f"""
        import os, signal
        from nacre.ledger import Ledger
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
        from nacre.ledger import Ledger

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
