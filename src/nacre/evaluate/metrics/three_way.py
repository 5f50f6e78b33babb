"""Total variation of triples of columns, a sample of them if there are many."""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.cells import joint, total_variation
from nacre.evaluate.tables.comparison import TableComparison

TRIPLES = 300


def triples(width: int, most: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """All triples of columns, or `most` of them drawn without replacement.

    Examples:
        >>> len(triples(6, 300, np.random.default_rng(0))), math.comb(6, 3)
        (20, 20)
        >>> len(set(triples(60, 300, np.random.default_rng(0))))
        300
    """
    if math.comb(width, 3) <= most:
        return list(itertools.combinations(range(width), 3))
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < most:
        drawn.add(tuple(sorted(rng.choice(width, 3, replace=False).tolist())))
    return sorted(drawn)


def mean_and_error(values: list[float], population: int) -> tuple[float, float | None]:
    """The mean, and its standard error if `values` are a sample of a larger population."""
    if len(values) >= population or len(values) < 2:
        return float(np.mean(values)), None
    left = 1 - len(values) / population
    return float(np.mean(values)), float(np.std(values, ddof=1) * math.sqrt(left / len(values)))


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean over triples, with its standard error if they are a sample."""
    real, synthetic = comparison.real, comparison.synthetic
    width = len(real.names)
    if width < 3:
        return
    each = [
        total_variation(joint([real.binned[i] for i in t]), joint([synthetic.binned[i] for i in t]))
        for t in triples(width, TRIPLES, comparison.rng("tv3"))
    ]
    yield Value("", *mean_and_error(each, math.comb(width, 3)))


METRIC = Metric(
    name="tv3",
    title="Triples of columns",
    group="structure",
    goal="lower",
    low=0,
    high=1,
    meaning="The share of rows that would have to change for the cross-table of three columns to "
    f"be right (total variation; numbers in 20 bins; {TRIPLES} random triples if there are more).",
    compute=compute,
    reference="fresh",
    quick=True,
)
