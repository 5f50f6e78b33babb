"""What an evaluation costs: Adult with and without classifiers, and a table of a million rows."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench import cost
from bench.made import hanging_together
from bench.protocol import official_split
from nacre.evaluate.metrics import METRICS
from nacre.evaluate.run import evaluate
from nacre.evaluate.tables.reading import read
from nacre.evaluate.tables.rows import Rows

RESULTS = Path(__file__).parent / "results" / "evaluate.json"
COLUMNS = 50


def adult(metrics: str | list[str]) -> None:
    """Adult's 32,561 training rows against as many, drawn with replacement, and the test rows."""
    split = official_split()
    rng = np.random.default_rng(0)
    rows = split.train.num_rows
    synthetic = split.train.take(rng.integers(0, rows, rows))
    evaluate(split.train, synthetic, split.schema, test=split.test, metrics=metrics)


def adult_all() -> None:
    """All metrics and the papers' twelve classifiers."""
    adult("all")


def adult_without() -> None:
    """All metrics for which nobody has to be trained."""
    trained = {"dimension-prediction"}
    untrained = [m.name for m in METRICS.values() if m.group != "usefulness"]
    adult([name for name in untrained if name not in trained])


def adult_quick() -> None:
    """What `metrics="quick"` gives: three classifiers."""
    adult("quick")


def million(rows: int = 1_000_000) -> None:
    """Every quick metric of two tables of 50 columns and a million rows each."""
    real, schema = hanging_together(rows, COLUMNS, seed=0)
    evaluate(real, hanging_together(rows, COLUMNS, seed=1)[0], schema)


def million_pairs(rows: int = 1_000_000) -> float:
    """Seconds for all two-way marginals and associations alone, both tables being read already."""
    from nacre.evaluate.tables.pairs import compare_pairs

    tables: list[Rows] = []
    for seed in (0, 1):
        table, schema = hanging_together(rows, COLUMNS, seed=seed)
        tables.append(read(table, schema, "The table"))
    start = time.perf_counter()
    compare_pairs(*tables)
    return time.perf_counter() - start


CASES: dict[str, tuple[str, Callable[[], Any]]] = {
    "adult-all": ("Adult, all metrics, twelve classifiers", adult_all),
    "adult-quick": ("Adult, quick: three classifiers", adult_quick),
    "adult-without": ("Adult, all metrics without models", adult_without),
    "million": ("a million rows, 50 columns, quick", million),
    "million-pairs": ("their 1,225 two-way marginals alone", million_pairs),
}


def main(arguments: list[str]) -> None:
    """Print the table and keep it."""
    cost.main("evaluate", CASES, RESULTS, arguments)
