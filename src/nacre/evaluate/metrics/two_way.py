"""Total variation of every pair of columns."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean over all pairs, then each pair that is watched."""
    pairs = comparison.pairs
    found = pairs.total_variation
    if len(pairs.names) > 1:
        yield Value("", float(np.mean(pairs.each(found))))
        yield from (Value(p, float(found[place])) for p, place in comparison.pair_places().items())


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
