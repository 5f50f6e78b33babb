"""Processes that are killed (SIGKILL) while they fit, save, sample and write to a ledger.

After each kill: every reservation that was told is in the ledger, what was spent is what was
reserved, and a file under its final name is whole.  In the end the same work is done once more, on
what the killed ones left behind.
"""

import dataclasses
import functools
import random
import shutil
import time
import warnings
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet

from bench.faults import children
from bench.faults.processes import start, told

KINDS = {
    "fit": children.fit,
    "noise": children.noise,
    "save": children.save,
    "sample": children.sample,
    "ledger": children.write_ledger,
}
# Seconds in which the kill falls, from when the child is ready; of a fit, how long one takes, or
# what comes after its noise.
SPANS = {"save": 0.5, "sample": 1.5, "ledger": 1.0}


def kills(
    kind: str, times: int, folder: Path, *, seed: int = 0, span: float | None = None
) -> dict[str, int]:
    """Kill a child so many times, within `span` seconds of its start each.

    Returns:
        What was lost or broken, all of which should be 0.
    """
    from nacre.ledger import Ledger

    folder = folder / kind
    folder.mkdir()
    ledger, rng = Ledger(folder / "budget.db"), random.Random(seed)
    ledger.open("census", epsilon=1e6, delta=1e-3)
    _models(folder)
    said: set[int] = set()
    broken = unpaid = 0
    span = span or SPANS.get(kind) or 1.3 * _seconds(kind, folder)
    for done in range(times):
        child, pipe = start(KINDS[kind], str(folder / "budget.db"), folder)
        pipe.recv()  # it is ready
        if kind == "noise":
            pipe.recv()  # its first noise is drawn
        time.sleep(rng.uniform(0, span))
        if not child.is_alive():
            raise RuntimeError(f"A child that should {kind} ended by itself: {child.exitcode}.")
        child.kill()
        child.join()
        said |= set(told(pipe))
        broken += _broken(folder)
        # Noise of one fit more, at least, than there were kills before was drawn.
        released = sum(bool(entry.releases) for entry in ledger.history("census"))
        unpaid += kind == "noise" and released <= done
    entries = ledger.history("census")
    spent = ledger.balance("census").spent_epsilon
    return {
        "kills": times,
        "reservations": len(entries),
        "left open": sum(entry.status == "reserved" for entry in entries),
        "lost records": len(said - {entry.id for entry in entries}),
        "miscounted": int(abs(spent - children.SHARE * len(entries)) > 1e-9 * (1 + len(entries))),
        "finished without release": sum(
            entry.status == "finished" and not entry.releases for entry in entries
        ),
        "noise without a record": unpaid,
        "broken files": broken,
        "cannot be repeated": int(not _again(kind, folder)),
    }


def _seconds(kind: str, folder: Path) -> float:
    """How long a child takes from when it is ready until it has done something."""
    child, pipe = start(KINDS[kind], str(folder / "budget.db"), folder)
    pipe.recv()
    if kind == "noise":
        pipe.recv()
    began = time.perf_counter()
    pipe.poll(600)
    child.kill()
    child.join()
    return time.perf_counter() - began


@functools.cache
def _model() -> Any:
    """A model, fitted once for all kinds of kills."""
    import nacre

    rows, schema = children.table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nacre.fit(rows, schema, method=children.method(), epsilon=1, delta=1e-6)


def _models(folder: Path) -> None:
    """Two model files that differ, to be saved over each other and drawn from."""
    _model().save(folder / "a.nacre")
    dataclasses.replace(_model(), kind="pandas").save(folder / "b.nacre")


def _broken(folder: Path) -> int:
    """How many files under their final names are not whole."""
    import nacre

    found = 0
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name.startswith("budget.db"):
            continue  # left over by a killed process, beside the final name
        try:
            if path.suffix == ".nacre":
                nacre.load(path).guarantee.verify()
            elif path.suffix == ".csv":
                found += pyarrow.csv.read_csv(path).num_rows != children.ROWS
            else:
                found += pyarrow.parquet.read_table(path).num_rows != children.ROWS
        except Exception:
            found += 1
    return found


def _again(kind: str, folder: Path) -> bool:
    """Whether the work can be done on what is left: a child that goes on until it is stopped."""
    child, pipe = start(KINDS[kind], str(folder / "budget.db"), folder)
    pipe.recv()
    done = pipe.poll(120) if kind in ("fit", "noise", "ledger") else not child.join(5)
    alive = child.is_alive()
    child.kill()
    child.join()
    whole = not _broken(folder)
    shutil.rmtree(folder)
    return bool(done) and alive and whole
