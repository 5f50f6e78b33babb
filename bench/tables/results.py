"""Results as small JSON files, one for each run, so that a table can be filled in many sittings."""

import datetime
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.tables.runs import REAL, Run
from bench.versions import measured_with

FOLDER = Path(__file__).parent.parent / "results" / "tables"
FAILED = ".failed.json"

Result = dict[str, Any]


def find(
    folder: Path, run: Run, classifiers: Iterable[str], source: str | None = None
) -> Result | None:
    """The kept result of exactly this run, if it has scores of all these classifiers.

    With `source`, only if that version of the code made it.
    """
    place = folder / f"{run.name}.json"
    if not place.is_file():
        return None
    found: Result = json.loads(place.read_text(encoding="utf-8"))
    same = (found.get("guarantee"), found.get("changed", {})) == (run.guarantee, dict(run.settings))
    same &= source in (None, found["versions"].get("source"))
    measured = set(run.metrics) <= set(found.get("statistics", {}))
    return found if same and measured and set(classifiers) <= set(found["scores"]) else None


def keep(folder: Path, run: Run, result: Result) -> Path:
    """Write a result with the versions that made it; a reader never sees half a file."""
    (folder / f"{run.name}{FAILED}").unlink(missing_ok=True)
    return _write(folder / f"{run.name}.json", result)


def keep_failure(folder: Path, run: Run, error: Exception) -> str:
    """Write why a run failed, so that the page can say so; and say it."""
    why = f"{type(error).__name__}: {error}"
    facts = {"dataset": run.dataset, "variant": run.variant, "seed": run.seed}
    failure = facts | {"guarantee": run.guarantee, "failure": why}
    _write(folder / f"{run.name}{FAILED}", failure)
    return f"{run}: {why}"


def _write(place: Path, document: Result) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    made = {"made": datetime.date.today().isoformat(), "versions": measured_with()}
    unfinished = place.with_suffix(".tmp")
    unfinished.write_text(json.dumps(document | made, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(place)
    return place


def read_all(folder: Path) -> list[Result]:
    """Every kept result; those that failed have a `failure` and no scores."""
    return [json.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.json"))]


def epsilon_of(result: Result) -> float | None:
    """The epsilon of a result; None for real rows."""
    guarantee = result.get("guarantee")
    if guarantee is None:
        return None
    return math.inf if guarantee["epsilon"] is None else float(guarantee["epsilon"])


def select(
    results: Sequence[Result], dataset: str, variant: str, epsilon: float | None
) -> list[Result]:
    """All of one table, variant and epsilon, failures too; real rows have no epsilon."""
    wanted = None if variant == REAL else epsilon
    return [
        result
        for result in results
        if (result["dataset"], result["variant"]) == (dataset, variant)
        and epsilon_of(result) == wanted
    ]


def comparable(
    results: Sequence[Result], dataset: str, variant: str, epsilon: float | None
) -> list[Result]:
    """Those of them that may be averaged: the ones with the most classifiers."""
    found = [r for r in select(results, dataset, variant, epsilon) if "scores" in r]
    most = max((len(r["scores"]) for r in found), default=0)
    return [r for r in found if len(r["scores"]) == most]
