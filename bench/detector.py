"""How well a boosted classifier tells real from synthetic rows, on subsets of public tables.

10,000 rows of each, drawn by the seed, ε = 1, δ = 1e-5: what a user with a small table sees.  Also
what is left of the area under the curve if one column says nothing, for those that say most.

With `--bought 0.05`, look-up tables of codes and their groups are bought at this ε first, and the
fit has what is left of 1; 0 leaves them out.  Either way the share of rows whose group is not that
of their code in most rows of the whole table is told, for tables that have such codes.
"""

import argparse
import time
import warnings

import numpy as np
import pyarrow as pa

from nacre.datasets.benchmarks import load
from nacre.draft import buy_lookups
from nacre.evaluate.run import evaluate
from nacre.fit import fit

NAMES = "adult,covertype,diabetes130,census_income_kdd,creditcard"
# Public knowledge: these recodes are a finer and a coarser form of the same answer.
BOUGHT = {
    "census_income_kdd": (
        ("major_occupation_code", "detailed_occupation_recode"),
        ("major_industry_code", "detailed_industry_recode"),
    )
}


def measure(
    name: str, method: str, seed: int, rows: int, bought: float
) -> tuple[float, str, float]:
    """The detector's area, what it goes by, and the fit's CPU seconds."""
    whole, schema = load(name)
    table, pairs = whole, BOUGHT.get(name, ())
    chosen = np.random.default_rng(seed).permutation(table.num_rows)[:rows]
    table = table.take(np.sort(chosen)).select(list(schema.names))
    start = time.process_time()
    if bought and pairs:
        facts = [f"{group} determined by {code}" for group, code in pairs]
        schema = buy_lookups(table, schema, facts, epsilon=bought, delta=1e-7)
    model = fit(table, schema, method=method, epsilon=1, delta=1e-5, seed=seed, bad_rows="zero")
    synthetic = model.sample_arrow(table.num_rows, seed=seed)
    seconds = time.process_time() - start
    found = evaluate(table, synthetic, schema, metrics=["detection"])
    parts = [each for each in found.results if each.metric == "detection" and str(each.part)]
    telling = ", ".join(f"{each.part} {each.value:.3f}" for each in parts[:5])
    for group, code in pairs:
        telling += f"; {misplaced(whole, synthetic, group, code):.1%} have a wrong {group}"
    return float(found.score("detection").value), telling, seconds


def misplaced(whole: pa.Table, drawn: pa.Table, group: str, code: str) -> float:
    """The share of drawn rows whose group is not the one that their code has in the whole table."""
    frame = whole.select([code, group]).to_pandas().astype(str)
    usual = frame.groupby(code)[group].agg(lambda each: each.mode()[0])
    found = drawn.select([code, group]).to_pandas().astype(str)
    return float((found[code].map(usual) != found[group]).mean())


def options_of(name: str, arguments: list[str], rows: int) -> argparse.Namespace:
    """Which public tables, methods and seeds, and so many rows of each if nothing is said."""
    parser = argparse.ArgumentParser(prog=f"python -m bench {name}")
    parser.add_argument("--datasets", default=NAMES)
    parser.add_argument("--methods", default="mosaic")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=rows)
    if name == "detector":
        parser.add_argument("--bought", type=float, default=0.0, help="epsilon of look-up tables")
    warnings.filterwarnings("ignore")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    """Print a line for each table."""
    options = options_of("detector", arguments, 10_000)
    for method in options.methods.split(","):
        areas = []
        for name in options.datasets.split(","):
            for seed in range(options.seeds):
                area, telling, seconds = measure(name, method, seed, options.rows, options.bought)
                areas.append(area)
                print(f"{method} {name} {seed}: {area:.3f}, {seconds:.0f} s; {telling}", flush=True)
        print(f"{method}: mean {np.mean(areas):.3f}")
