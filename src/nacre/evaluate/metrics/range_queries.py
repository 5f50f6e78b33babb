"""Error of random range queries on three columns (PEARL, appendix I)."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison

QUERIES = 1000
BINS = 100
ROWS = 100_000


def random_range(size: int, ordered: bool, rng: np.random.Generator) -> np.ndarray:
    """Which codes a query admits: an interval of ordered ones, else a random subset."""
    if ordered:
        first, last = np.sort(rng.integers(0, size, 2))
        return (np.arange(size) >= first) & (np.arange(size) <= last)
    admitted = rng.random(size) < 0.5
    admitted[rng.integers(size)] = True
    return admitted


def compute(comparison: TableComparison) -> Iterator[Value]:
    """Mean absolute difference of the shares that 1,000 random queries count."""
    rng = comparison.rng("range-queries")
    real, synthetic = (rows.sample(ROWS, rng) for rows in (comparison.real, comparison.synthetic))
    names = real.names
    if len(names) < 3:
        return
    columns = [(real.bin(name, BINS), synthetic.bin(name, BINS)) for name in names]
    ordered = [
        real.is_number(name) or real.schema.columns[name].type in {"ordinal", "boolean"}
        for name in names
    ]
    errors = np.empty(QUERIES)
    for query in range(QUERIES):
        hits = [np.ones(len(real), bool), np.ones(len(synthetic), bool)]
        for i in rng.choice(len(names), 3, replace=False):
            admitted = random_range(columns[i][0].size, ordered[i], rng)
            for hit, column in zip(hits, columns[i], strict=True):
                hit &= admitted.take(column.codes)
        counts = [np.count_nonzero(hit) / len(hit) for hit in hits]
        errors[query] = abs(counts[0] - counts[1])
    yield Value("", float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(QUERIES)))


METRIC = Metric(
    name="range-queries",
    title="Range queries",
    group="structure",
    goal="lower",
    low=0,
    high=1,
    meaning="How far off, on average, is the share of rows that satisfy a random condition on "
    f"three columns (1,000 queries: intervals of numbers, subsets of categories; at most {ROWS:,} "
    "rows).",
    compute=compute,
    reference="fresh",
    rows=ROWS,
)
