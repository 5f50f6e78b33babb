"""How many pairs of columns have another association, on subsets of public tables.

20,000 rows of each, drawn by the seed, ε = 1, δ = 1e-5.  Two numbers are judged by their
correlation, other pairs by Cramér's V without what chance adds to it.  Told of all pairs, and of
those that are large enough for noise to leave something: of two numbers, or with 200 rows in a cell
on average, numbers in 20 bins.
Medians of a number in groups of 1% of the rows or more are right within a tenth of its range.
"""

import itertools
from typing import Any

import numpy as np
import pyarrow as pa

from bench.detector import options_of
from nacre.datasets.benchmarks import load
from nacre.evaluate.tables.pairs import compare_pairs
from nacre.evaluate.tables.reading import read
from nacre.fit import fit
from nacre.schema import Schema

OFF, HELD, BINS = 0.1, 200, 20
GROUP, RANGE = 0.01, 0.1


def sizes(schema: Schema) -> dict[str, int]:
    """How many values, or bins, each column has."""
    return {name: column.size or BINS for name, column in schema.columns.items()}


def large(names: tuple[str, ...], schema: Schema, rows: int) -> np.ndarray:
    """Which pairs are large enough to be judged."""
    size = sizes(schema)
    numbers = {name for name, column in schema.columns.items() if column.size is None}
    return np.array(
        [
            {a, b} <= numbers or rows >= HELD * size[a] * size[b]
            for a, b in itertools.combinations(names, 2)
        ]
    )


def medians(real: pa.Table, synthetic: pa.Table, schema: Schema) -> tuple[int, int]:
    """Groups and numbers of which the median is off, and how many there are."""
    frames: list[Any] = [table.to_pandas() for table in (real, synthetic)]
    off = every = 0
    for group in [n for n, c in schema.columns.items() if c.size is not None]:
        shares = frames[0][group].value_counts(normalize=True)
        common = shares.index[shares >= GROUP]
        for name in [n for n, c in schema.columns.items() if c.size is None]:
            values = [frame[name].astype("float64") for frame in frames]
            spread = values[0].max() - values[0].min()
            found = [
                v.groupby(f[group], observed=True).median()
                for v, f in zip(values, frames, strict=True)
            ]
            gaps = np.abs(found[0].reindex(common) - found[1].reindex(common)).dropna()
            off, every = off + int((gaps > RANGE * spread).sum()), every + len(gaps)
    return off, every


def main(arguments: list[str]) -> None:
    """Print a line for each table."""
    options = options_of("associations", arguments, 20_000)
    for method, name, seed in itertools.product(
        options.methods.split(","), options.datasets.split(","), range(options.seeds)
    ):
        table, schema = load(name)
        chosen = np.random.default_rng(seed).permutation(table.num_rows)[: options.rows]
        table = table.take(np.sort(chosen)).select(list(schema.names))
        model = fit(table, schema, method=method, epsilon=1, delta=1e-5, seed=seed, bad_rows="zero")
        synthetic = model.sample_arrow(table.num_rows, seed=seed)
        rows = [read(each, schema, "The table") for each in (table, synthetic)]
        pairs = compare_pairs(*rows)
        gaps = pairs.each(pairs.synthetic - pairs.real)
        judged = large(pairs.names, schema, table.num_rows)
        off, groups = medians(table, synthetic, schema)
        print(
            f"{method} {name} {seed}: {(np.abs(gaps[judged]) > OFF).sum()} of {judged.sum()} large "
            f"pairs, {(np.abs(gaps) > OFF).sum()} of all {len(gaps)} are off by more than {OFF}, "
            f"mean {np.abs(gaps).mean():.4f}; medians of {off} of {groups} groups",
            flush=True,
        )
