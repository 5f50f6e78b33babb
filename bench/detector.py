"""How well a boosted classifier tells real from synthetic rows, on subsets of public tables.

10,000 rows of each, drawn by the seed, ε = 1, δ = 1e-5: what a user with a small table sees.  Also
what is left of the area under the curve if one column says nothing, for those that say most.
"""

import argparse
import time
import warnings

import numpy as np

from nacre.datasets.benchmarks import load
from nacre.evaluate.run import evaluate
from nacre.fit import fit

NAMES = "adult,covertype,diabetes130,census_income_kdd,creditcard"


def measure(name: str, method: str, seed: int, rows: int) -> tuple[float, str, float]:
    """The detector's area, what it goes by, and the fit's CPU seconds."""
    table, schema = load(name)
    chosen = np.random.default_rng(seed).permutation(table.num_rows)[:rows]
    table = table.take(np.sort(chosen)).select(list(schema.names))
    start = time.process_time()
    model = fit(table, schema, method=method, epsilon=1, delta=1e-5, seed=seed, bad_rows="zero")
    synthetic = model.sample_arrow(table.num_rows, seed=seed)
    seconds = time.process_time() - start
    found = evaluate(table, synthetic, schema, metrics=["detection"])
    parts = [each for each in found.results if each.metric == "detection" and str(each.part)]
    telling = ", ".join(f"{each.part} {each.value:.3f}" for each in parts[:5])
    return float(found.score("detection").value), telling, seconds


def options_of(name: str, arguments: list[str], rows: int) -> argparse.Namespace:
    """Which public tables, methods and seeds, and so many rows of each if nothing is said."""
    parser = argparse.ArgumentParser(prog=f"python -m bench {name}")
    parser.add_argument("--datasets", default=NAMES)
    parser.add_argument("--methods", default="mosaic")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=rows)
    warnings.filterwarnings("ignore")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    """Print a line for each table."""
    options = options_of("detector", arguments, 10_000)
    for method in options.methods.split(","):
        areas = []
        for name in options.datasets.split(","):
            for seed in range(options.seeds):
                area, telling, seconds = measure(name, method, seed, options.rows)
                areas.append(area)
                print(f"{method} {name} {seed}: {area:.3f}, {seconds:.0f} s; {telling}", flush=True)
        print(f"{method}: mean {np.mean(areas):.3f}")
