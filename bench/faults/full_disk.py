"""Disks that fill up while a model is fitted, saved and drawn from, and while a budget is spent.

Each disk is a small file system in memory with a little more room every time, so that it is full
at another moment.  What counts: a message without a traceback, no half of a file under its final
name, a ledger that still opens and has every reservation, and a model that has cost budget saved
somewhere.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv

from bench.faults import children

SOURCE = Path(__file__).resolve().parents[2] / "src"


@contextlib.contextmanager
def disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of so many kilobytes; needs the right to mount one."""
    place = folder / "disk"
    place.mkdir(exist_ok=True)
    size = f"size={kilobytes}k"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def full_disk(times: int, folder: Path) -> dict[str, int]:
    """Run `nacre fit` and `nacre sample` on so many disks; what went wrong should be 0."""
    if os.geteuid() != 0:
        return {"disks": 0}
    data, schema = folder / "people.csv", folder / "people.yaml"
    rows, facts = children.table()
    pyarrow.csv.write_csv(rows, data)
    facts.write(schema)
    found = dict.fromkeys(
        ("disks", "done", "refused", "tracebacks", "half files", "damaged ledgers", "lost models"),
        0,
    )
    for place in range(times):
        with disk(folder, 600) as where:
            found["disks"] += 1
            _once(where, data, schema, found, room=4 + 12 * place)
    return found


def _once(where: Path, data: Path, schema: Path, found: dict[str, int], room: int) -> None:
    """One disk: a budget, then `room` kilobytes for a fit that is charged to it and for rows."""
    from nacre.ledger import Ledger

    ledger, model, drawn = where / "budget.db", where / "m.nacre", where / "drawn.csv"
    account = ["--dataset", "census", "--epsilon", "1", "--delta", "1e-6"]
    opened = _nacre(found, "ledger", str(ledger), "--dataset", "census", "--epsilon", "3",
                    "--delta", "1e-5")  # fmt: skip
    if opened.returncode:
        return
    left = shutil.disk_usage(where).free - 1024 * room
    (where / "filler").write_bytes(bytes(max(0, left)))
    small = ["--set", "frequencies=8", "--set", "steps=2", "--set", "components=2"]
    fitted = _nacre(found, "fit", str(data), "-s", str(schema), "-o", str(model), "--ledger",
                    str(ledger), *account, "--method", "merf", *small)  # fmt: skip
    saved = model if model.exists() else elsewhere(fitted.stderr)
    kept = (where / "filler").read_bytes()
    (where / "filler").unlink()  # to look at a ledger takes room, too
    try:
        history = Ledger(ledger).history("census")
    except Exception:
        found["damaged ledgers"] += 1
        return
    # Something was released, so somewhere there must be a model.
    released = any(entry.status == "finished" for entry in history)
    found["lost models"] += released and saved is None
    if saved is None:
        return
    # Half of the room is left for the rows.
    (where / "filler").write_bytes(kept[: max(0, shutil.disk_usage(where).free - 512 * room)])
    _nacre(found, "sample", str(saved), "-n", "3000", "-o", str(drawn))
    found["half files"] += drawn.exists() and pyarrow.csv.read_csv(drawn).num_rows != 3000
    if saved != model:
        saved.unlink()


def elsewhere(said: str) -> Path | None:
    """Where a model was saved instead."""
    match = re.search(r"saved as (\S+\.nacre)", said)
    return Path(match[1]) if match and Path(match[1]).exists() else None


def _nacre(found: dict[str, int], *words: str) -> subprocess.CompletedProcess:
    """The command line, as a user would call it."""
    done = subprocess.run(
        [sys.executable, "-c", "from nacre.cli import main; main()", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "JAX_PLATFORMS": "cpu"},
    )
    found["done" if done.returncode == 0 else "refused"] += 1
    found["tracebacks"] += "Traceback" in done.stderr
    if "is not shown" in done.stderr or "Traceback" in done.stderr:
        print(words[0], done.stderr[-600:], flush=True)
    return done
