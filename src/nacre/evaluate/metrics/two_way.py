"""Total variation of every pair of columns."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import Comparison
from nacre.evaluate.tables.pairs import pair_name


def compute(comparison: Comparison) -> Iterator[Value]:
    """The mean over pairs, then each pair."""
    pairs = comparison.pairs
    listed = pairs.list()
    if not listed:
        return
    yield Value("", float(np.mean([pairs.total_variation[i, j] for i, j in listed])))
    for i, j in listed:
        part = pair_name(pairs.names[i], pairs.names[j])
        yield Value(part, float(pairs.total_variation[i, j]))


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
