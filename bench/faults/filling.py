"""Disks that fill up inside a fit: after its charge, before it is done.

The ledger, the output and nothing else lie on a small file system in memory.  As soon as the ledger
has the first release, everything that is left of the disk is taken.  What counts: no traceback, the
cost stays in the ledger, no noise without a record of it, and either a model, somewhere, or words
that say that the budget is spent.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.csv

from bench.faults import children
from bench.faults.full_disk import SOURCE, disk, elsewhere

# One answer and then long training; several answers, of which the later ones find no room.
FITS = {
    "merf": ["frequencies=8", "steps=20000", "components=2"],
    "mosaic": [],
}
COUNTS = (
    "disks", "full before the end", "saved elsewhere", "saved in place", "stopped in words",
    "tracebacks", "without a word of what is spent", "miscounted", "broken models",
)  # fmt: skip


def filling_disk(times: int, folder: Path) -> dict[str, dict[str, int]]:
    """So many disks for each kind of fit; needs the right to mount one."""
    if os.geteuid() != 0:
        return {}
    data, schema = folder / "people.csv", folder / "people.yaml"
    rows, facts = children.table()
    pyarrow.csv.write_csv(rows, data)
    facts.write(schema)
    found = {method: dict.fromkeys(COUNTS, 0) for method in FITS}
    for method, counts in found.items():
        for _ in range(times):
            with disk(folder, 2_000) as where:
                _once(where, data, schema, method, counts)
    return found


def _once(where: Path, data: Path, schema: Path, method: str, found: dict[str, int]) -> None:
    import nacre
    from nacre.ledger import Ledger

    ledger, model = where / "budget.db", where / "m.nacre"
    book = Ledger(ledger)
    book.open("census", epsilon=3, delta=1e-5)
    settings = [word for setting in FITS[method] for word in ("--set", setting)]
    fit = _started(
        "fit", str(data), "-s", str(schema), "-o", str(model), "--ledger", str(ledger),
        "--dataset", "census", "--epsilon", "1", "--delta", "1e-6", "--method", method, *settings,
    )  # fmt: skip
    while fit.poll() is None and not any(entry.releases for entry in book.history("census")):
        time.sleep(0.01)
    _fill(where / "filler")
    found["full before the end"] += fit.poll() is None
    said, _ = fit.communicate()
    (where / "filler").unlink()
    found["disks"] += 1
    found["tracebacks"] += "Traceback" in said or "is not shown" in said
    (entry,) = book.history("census")
    spent = book.balance("census").spent_epsilon
    found["miscounted"] += not entry.releases or spent != entry.epsilon
    saved = model if model.exists() else elsewhere(said)
    if saved is None:
        found["stopped in words"] += 1
        found["without a word of what is spent"] += "stays charged" not in said
        return
    found["saved in place" if saved == model else "saved elsewhere"] += 1
    try:
        nacre.load(saved).guarantee.verify()
    except Exception:
        found["broken models"] += 1
    if saved != model:
        saved.unlink()


def _fill(path: Path) -> None:
    """Take all room that is left."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1 << 8, 1):
            while True:
                try:
                    file.write(bytes(size))
                except OSError:
                    break


def _started(*words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", "from nacre.cli import main; main()", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "JAX_PLATFORMS": "cpu"},
    )
