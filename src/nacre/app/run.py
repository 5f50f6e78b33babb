"""One fit of a project: started in a process of its own, watched, and stopped before it charges.

The process holds a lock on a file for as long as it lives, so that whoever looks, a server that was
started later included, knows whether it is there.  What was spent is always read from the ledger,
in which every entry of a run carries the run's mark.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, final

from nacre.app import folder
from nacre.app.planning import Choices
from nacre.ledger import Entry, Ledger, LedgerError
from nacre.ledger.units import MARK

PATIENCE = 5.0  # seconds that a process gets to end by itself
MODEL, SCHEMA, CERTIFICATE = "model.nacre", "schema.yaml", "certificate.json"
ROWS, REPORT, PUBLIC = "rows.json", "report.html", "public.html"
SYNTHETIC = "synthetic.csv"


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class State:
    """How a run stands.

    Attributes:
        phase: "running", "made" (the model is there, reports are not), "done", "failed",
            "stopped" (by a person, before anything was charged), "killed".
        stage: what it is at, in words.
        part: how much of that is done.
        message: what went wrong, or what to know.
        entries: what the ledger has charged for it.
        unread: why the ledger cannot tell, if it cannot.
        seconds: since it was started.
    """

    phase: str
    stage: str = ""
    part: float | None = None
    message: str = ""
    entries: tuple[Entry, ...] = ()
    unread: str = ""
    seconds: float = 0.0

    @property
    def over(self) -> bool:
        """Whether nothing more will happen."""
        return self.phase not in ("running", "made")

    @property
    def charged(self) -> bool:
        """Whether something was spent, as far as the ledger can tell."""
        return bool(self.entries)


@final
@dataclasses.dataclass(frozen=True)
class Run:
    """The files of one fit."""

    path: Path
    number: int

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    @property
    def task(self) -> dict[str, Any]:
        """What it was started with."""
        found: dict[str, Any] = folder.read_json(self / "task.json")
        return found

    @property
    def choices(self) -> Choices:
        """What a person chose."""
        return Choices.read(self.task["choices"])

    @property
    def mark(self) -> str:
        """What its entries in the ledger carry."""
        return f"web page, run {self.path.parent.parent.name[:8]}/{self.number}"

    def there(self, name: str) -> bool:
        """Whether it has made this file."""
        return (self / name).exists()

    def phase(self) -> str:
        """How it stands, as far as can be told without the ledger."""
        alive = self.alive()  # before the files are read: it may end in between
        found = (folder.read_json(self / "status.json") or {}).get("phase", "running")
        if alive or found not in ("running", "made"):
            return str(found)
        return "stopped" if self.there("stopped.json") else "killed"

    def state(self) -> State:
        """How it stands now, with what it has cost."""
        task, phase = self.task, self.phase()
        status = folder.read_json(self / "status.json") or {}
        entries: tuple[Entry, ...] = ()
        unread = ""
        try:
            entries = entries_of(task["ledger"], task["choices"]["dataset"], self.mark)
        except LedgerError as error:  # SQLite cannot even be read on a full disk
            unread = str(error)
        if phase == "stopped" and entries:  # too late: it had charged in that moment
            phase = "killed"
        begun = datetime.datetime.fromisoformat(task["begun"])
        return State(
            phase=phase,
            stage=status.get("stage", "starting"),
            part=status.get("part"),
            message=status.get("message", ""),
            entries=entries,
            unread=unread,
            seconds=(datetime.datetime.now(datetime.UTC) - begun).total_seconds(),
        )

    def alive(self) -> bool:
        """Whether its process holds the lock."""
        try:
            descriptor = os.open(self / "lock", os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def stop(self) -> None:
        """End the process; whether it had charged is the ledger's to say, afterwards."""
        folder.write_json(self / "stopped.json", {"at": _now()})
        said = folder.read_json(self / "process.json")
        for sign in (signal.SIGTERM, signal.SIGKILL):
            end = time.monotonic() + PATIENCE
            # Only while the lock is held is the number still that of our process.
            while said is not None and self.alive() and time.monotonic() < end:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(said["process"], sign)
                time.sleep(0.05)


def entries_of(ledger: str, dataset: str, mark: str) -> tuple[Entry, ...]:
    """The entries of a budget that carry a run's mark."""
    book = Ledger(ledger)
    if dataset not in book.datasets():
        return ()
    return tuple(e for e in book.history(dataset) if e.note.partition(MARK)[2] == mark)


def runs_of(project: Path) -> list[Run]:
    """A project's runs, the latest first."""
    numbers = [int(p.name) for p in (project / "runs").iterdir() if p.name.isdecimal()]
    found = (Run(project / "runs" / str(n), n) for n in sorted(numbers, reverse=True))
    return [run for run in found if run.there("task.json")]


def begin(project: Path, number: int, task: dict[str, Any]) -> Run:
    """Start run `number`, which must be the next one: the same button twice starts one fit."""
    folder.require_room(project, folder.ROOM)
    run = Run(project / "runs" / str(number), number)
    folder.make(run.path)  # of two that try, one succeeds
    try:
        folder.write_json(run / "task.json", task | {"begun": _now(), "mark": run.mark})
        folder.write(run / SCHEMA, task["yaml"].encode())
        lock = os.open(run / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except BaseException:
        (run / "task.json").unlink(missing_ok=True)
        raise
    try:
        child = subprocess.Popen(
            # -P: a folder of tables must not bring modules of its own.
            [sys.executable, "-P", "-m", "nacre.app.child", str(run.path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(lock,),  # the lock lives as long as somebody has it open
            start_new_session=True,  # neither a closed tab nor a stopped server ends it
        )
        folder.write_json(run / "process.json", {"process": child.pid})
    finally:
        os.close(lock)
    _reap(child)
    return run


def _reap(child: subprocess.Popen[bytes]) -> None:
    """Wait for the process beside everything else, so that it leaves nothing behind."""
    threading.Thread(target=child.wait, daemon=True, name=f"run {child.pid}").start()


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat()
