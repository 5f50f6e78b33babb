"""What an evaluation costs: Adult with and without classifiers, and a table of a million rows."""

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from joblib.externals.loky import get_reusable_executor

from bench.protocol import official_split
from nacre.evaluate.metrics import METRICS
from nacre.evaluate.rows import Rows
from nacre.evaluate.run import evaluate
from nacre.evaluate.tables import read
from nacre.schema import Categorical, Integer, Real, Schema

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


def wide(rows: int, seed: int) -> tuple[pa.Table, Schema]:
    """A table of 50 columns that hang together: 20 numbers, 30 categories."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=rows).astype(np.float32)
    columns: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for i in range(COLUMNS):
        value = hidden * np.float32(0.6) + rng.normal(size=rows).astype(np.float32)
        if i < 10:
            schema[f"c{i}"] = Integer(low=0, high=100)
            columns[f"c{i}"] = np.clip(value * 15 + 50, 0, 100).astype(np.int32)
        elif i < 20:
            schema[f"c{i}"] = Real(low=-6, high=6)
            columns[f"c{i}"] = np.clip(value, -6, 6)
        else:
            size = 2 + i % 14
            schema[f"c{i}"] = Categorical(values=[f"v{k}" for k in range(size)])
            codes = np.clip((value + 3) / 6 * size, 0, size - 1).astype(np.int8)
            names = pa.array([f"v{k}" for k in range(size)])
            columns[f"c{i}"] = pa.DictionaryArray.from_arrays(pa.array(codes), names)
    return pa.table(columns), Schema(schema)


def million(rows: int = 1_000_000) -> None:
    """Every quick metric of two tables of 50 columns and a million rows each."""
    real, schema = wide(rows, 0)
    evaluate(real, wide(rows, 1)[0], schema)


def million_pairs(rows: int = 1_000_000) -> float:
    """Seconds for all two-way marginals and associations alone, both tables being read already."""
    from nacre.evaluate.pairs import compare_pairs

    tables: list[Rows] = []
    for seed in (0, 1):
        table, schema = wide(rows, seed)
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


def measure(case: str) -> dict[str, float]:
    """Wall and CPU seconds and peak memory of one case, in a process of its own.

    Memory is that of the largest process, with the tables that it was given; seconds are those of
    all of them, without starting Python.
    """
    start = time.perf_counter(), _cpu()
    found = CASES[case][1]()
    seconds = time.perf_counter() - start[0] if found is None else float(found)
    # A process counts only once it has ended.
    get_reusable_executor().shutdown(wait=True)
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(_cpu() - start[1], 1),
        "megabytes": round(max(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024),
    }


def _cpu() -> float:
    times = [resource.getrusage(k) for k in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(t.ru_utime + t.ru_stime for t in times)


def main(arguments: list[str]) -> None:
    """Print the table and keep it."""
    parser = argparse.ArgumentParser(prog="python -m bench evaluate")
    parser.add_argument("cases", nargs="*", help=f"some of: {', '.join(CASES)}; all if none")
    parser.add_argument("--one", choices=CASES, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    unknown = [case for case in options.cases if case not in CASES]
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}. There are: {', '.join(CASES)}.")
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    print(f"{'':42}{'wall s':>8}{'CPU s':>8}{'MB':>8}")
    for case in options.cases or CASES:
        command = [sys.executable, "-m", "bench", "evaluate", "--one", case]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        kept[case] = {"what": CASES[case][0], **found, "python": platform.python_version()}
        numbers = (found["seconds"], found["cpu_seconds"], found["megabytes"])
        print(f"{CASES[case][0]:42}" + "".join(f"{n:>8,}" for n in numbers), flush=True)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
