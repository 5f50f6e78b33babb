"""Total variation of every pair of columns."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean over pairs, then each pair."""
    pairs = comparison.pairs
    each = {pair: float(pairs.total_variation[place]) for pair, place in pairs.places().items()}
    if each:
        yield Value("", float(np.mean(list(each.values()))))
        yield from (Value(pair, distance) for pair, distance in each.items())


METRIC = Metric(
    name="tv2",
    title="Pairs of columns",
    group="pairs",
    goal="lower",
    low=0,
    high=1,
    meaning="The share of rows that would have to change for the cross-table of two columns to be "
    "right (total variation; numbers in 20 bins).",
    compute=compute,
    reference="fresh",
    quick=True,
)
