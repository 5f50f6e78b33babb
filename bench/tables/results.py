"""Results as small JSON files, one for each table, method and seed, so that a run can resume."""

import datetime
import importlib.metadata
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from nacre.model import versions

FOLDER = Path(__file__).parent.parent / "results" / "tables"


def path(folder: Path, dataset: str, method: str, seed: int) -> Path:
    """Where a result is kept."""
    return folder / f"{dataset}-{method}-{seed}.json"


def find(
    folder: Path, dataset: str, method: str, seed: int, classifiers: Iterable[str]
) -> dict[str, Any] | None:
    """The kept result, if it has scores of all these classifiers."""
    place = path(folder, dataset, method, seed)
    if not place.is_file():
        return None
    found = json.loads(place.read_text(encoding="utf-8"))
    return found if set(classifiers) <= set(found["scores"]) else None


def keep(folder: Path, result: dict[str, Any]) -> Path:
    """Write a result with the versions that made it; a reader never sees half a file."""
    folder.mkdir(parents=True, exist_ok=True)
    place = path(folder, result["dataset"], result["method"], result["seed"])
    made = {"made": datetime.date.today().isoformat(), "versions": _versions()}
    unfinished = place.with_suffix(".tmp")
    unfinished.write_text(json.dumps(result | made, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(place)
    return place


def read_all(folder: Path) -> list[dict[str, Any]]:
    """Every kept result."""
    return [json.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.json"))]


def comparable(
    results: Sequence[dict[str, Any]], dataset: str, method: str
) -> list[dict[str, Any]]:
    """Results of one table and method that may be averaged: those with the most classifiers."""
    found = [r for r in results if r["dataset"] == dataset and r["method"] == method]
    most = max((len(r["scores"]) for r in found), default=0)
    return [r for r in found if len(r["scores"]) == most]


def _versions() -> dict[str, str]:
    found = versions()
    for package in ("scikit-learn", "xgboost"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
