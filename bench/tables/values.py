"""Our number for a number of a paper, or why there is none."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.tables.published import AVERAGE, STATISTICS, Cell
from bench.tables.results import comparable, select

Results = Sequence[dict[str, Any]]


def value(results: Results, variant: str, cell: Cell) -> float | None:
    """Our number: over the classifiers that there are, and over seeds."""
    found = [
        v for v in (_of_run(run, cell) for run in _runs(results, variant, cell)) if v is not None
    ]
    if not found:
        return None
    best = min if cell.lower else max
    return float(best(found) if cell.best else np.mean(found))


def why_not(results: Results, variant: str, cell: Cell) -> str:
    """Why there is no number."""
    if _runs(results, variant, cell):
        return "not scored"
    failed = select(results, cell.dataset, variant, cell.epsilon)
    return f"failed ({failed[0]['failure'].split(':')[0]})" if failed else "not run"


def is_partial(results: Results, variant: str, cell: Cell) -> bool:
    """Whether our average is over fewer classifiers than the paper's."""
    runs = _runs(results, variant, cell)
    return cell.row == AVERAGE and any(not set(cell.over) <= set(run["scores"]) for run in runs)


def beats(ours: float, cell: Cell) -> bool:
    """Whether our number is better than every one of the paper in the row."""
    return ours < cell.to_beat if cell.lower else ours > cell.to_beat


def _runs(results: Results, variant: str, cell: Cell) -> list[dict[str, Any]]:
    return comparable(results, cell.dataset, variant, cell.epsilon)


def _of_run(run: dict[str, Any], cell: Cell) -> float | None:
    if cell.row == STATISTICS:
        return run.get("statistics", {}).get(cell.score)
    if cell.row != AVERAGE:
        return run["scores"].get(cell.row, {}).get(cell.score)
    scores = [s[cell.score] for name, s in run["scores"].items() if name in cell.over]
    return float(np.mean(scores)) if scores else None
