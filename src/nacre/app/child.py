"""The process of one fit: `nacre.fit` as the command line calls it, then rows and both reports.

    python -m nacre.app.child FOLDER

FOLDER is a run's.  Everything that it says goes to files there; it prints nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
import time
import warnings
from pathlib import Path
from typing import Any, final

from nacre.app import folder, run
from nacre.app.folder import DiskFull
from nacre.app.method import method_of
from nacre.app.pinned import pinned
from nacre.errors import in_words

SHOWN = 5
DRAWN = 10_000  # rows for the reports, if nobody said how many there are
MOST_DRAWN = 50_000
AGAIN = 2.0  # seconds until a full disk is tried again


@final
class Status:
    """What the page shows of a run; a disk that is full for a moment does not end a fit."""

    def __init__(self, path: Path):
        self.path = path
        self.ballast: folder.Ballast | None = None
        self.said: dict[str, Any] = {"phase": "running", "stage": "starting", "part": None}
        self._written = 0.0

    def say(self, **changes: Any) -> None:
        """Change what is shown, and write it."""
        self.said |= changes
        self._written = time.monotonic()
        with contextlib.suppress(DiskFull):
            folder.write_json(self.path, self.said)

    def progress(self, stage: str, part: float | None) -> None:
        """For `on_progress`: not more often than somebody could look."""
        if stage != self.said["stage"] or time.monotonic() - self._written > 0.5:
            if self.ballast is not None:
                self.ballast.relieve()
            self.say(stage=stage, part=part)


def main(place: Path) -> None:
    """Fit, save, draw, report."""
    here = run.Run(place, int(place.name))
    status = Status(here / "status.json")
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, kind, *_, **__: said.append(str(message))
        try:
            status.progress("reading rows", None)
            status.ballast = folder.Ballast(here / ".ballast")
            try:
                model = fit(here, status)
                status.ballast.relieve(now=True)
                keep(model, here, status)
            finally:
                status.ballast.relieve(now=True)
        except BaseException as error:
            notes = " ".join(getattr(error, "__notes__", ()))
            status.say(phase="failed", message=f"{in_words(error)} {notes}".strip())
            return
        ours = [text for text in dict.fromkeys(said) if "few for this budget" in text]
        status.say(phase="made", stage="drawing rows", part=None, message=" ".join(ours))
        problems = reports(model, here, status)
        status.say(phase="done", stage="", part=None, problems=problems)


def table_of(here: run.Run) -> contextlib.AbstractContextManager[Path]:
    """The table under a name that cannot be made to lead elsewhere."""
    root = here.task.get("root")
    return pinned(Path(here.task["table"]), None if root is None else Path(root), here.path)


def fit(here: run.Run, status: Status) -> Any:
    """The model, by the same call as `nacre fit`."""
    import nacre
    from nacre.ledger import Ledger

    task, choices = here.task, here.choices
    with table_of(here) as table:
        return nacre.fit(
            table,
            nacre.Schema.read(here / run.SCHEMA),
            method=method_of(choices),
            epsilon=choices.epsilon,
            delta=choices.delta,
            adjacency=choices.adjacency,
            rows=choices.rows,
            ledger=Ledger(task["ledger"], mark=here.mark),
            dataset=choices.dataset,
            bad_rows=choices.bad_rows,
            seed=choices.seed,
            on_progress=status.progress,
        )


def keep(model: Any, here: run.Run, status: Status) -> None:
    """Write the model, which has cost budget: while the disk is full, wait and try again."""
    beside = here / f".{run.MODEL}.partial"
    while True:
        try:
            model.save(beside, replace=True)
            folder.settle(beside, here / run.MODEL)
            certificate = json.dumps(model.certificate(), indent=2, ensure_ascii=False)
            folder.write(here / run.CERTIFICATE, certificate.encode())
            rows = model.sample_arrow(SHOWN, seed=0)
            folder.write_json(here / run.ROWS, _plain(rows))
            return
        except OSError as error:
            if error.errno not in folder.FULL:
                raise
        except DiskFull:
            pass
        beside.unlink(missing_ok=True)
        status.say(
            stage="the disk is full: the model is made and waits in memory. Make room", part=None
        )
        time.sleep(AGAIN)


def _plain(table: Any) -> dict[str, Any]:
    rows = [[None if v is None else str(v) for v in row.values()] for row in table.to_pylist()]
    return {"columns": table.column_names, "rows": rows}


def reports(model: Any, here: run.Run, status: Status) -> dict[str, str]:
    """Rows and both pages; what could not be made, and why, by name."""
    choices, problems = here.choices, {}
    count, seed = min(choices.rows or DRAWN, MOST_DRAWN), secrets.randbits(32)
    steps = (
        (run.SYNTHETIC, lambda path: draw(model, count, seed, path)),
        (run.PUBLIC, lambda path: publish(model, count, path, status)),
        (run.REPORT, lambda path: evaluate(model, here, (count, seed), path, status)),
    )
    for name, make in steps:
        beside = here / f".partial-{name}"
        try:
            make(beside)
            folder.settle(beside, here / name)
        except Exception as error:
            problems[name] = in_words(error)
        finally:
            beside.unlink(missing_ok=True)
    return problems


def draw(model: Any, count: int, seed: int, path: Path) -> None:
    """Synthetic rows as CSV, as a spreadsheet may open it."""
    model.write(path, count, seed=seed, workers=1, safe_csv=True)


def publish(model: Any, count: int, path: Path, status: Status) -> None:
    """The page that everybody may see; buys nothing."""
    import nacre

    status.progress("writing the public page", None)
    found = nacre.publish(model, rows=max(count, DRAWN), on_progress=status.progress)
    found.to_html(path)


def evaluate(model: Any, here: run.Run, drawn: tuple[int, int], path: Path, status: Status) -> None:
    """The confidential report, on the same rows as those of the CSV.

    Not on the CSV itself: an apostrophe that is there for spreadsheets makes another value.
    """
    import nacre

    task, (count, seed) = here.task, drawn
    status.progress("comparing with the private rows", None)
    with table_of(here) as table:
        found = nacre.evaluate(
            table,
            {"synthetic": model.sample_arrow(count, seed=seed)},
            nacre.Schema.read(here / run.SCHEMA),
            guarantee=model,
            ledger=task["ledger"],
            dataset=here.choices.dataset,
            jobs=1,
            on_progress=status.progress,
        )
    found.to_html(path)


if __name__ == "__main__":
    os.umask(0o077)
    os.nice(10)  # the page comes first
    main(Path(sys.argv[1]))
