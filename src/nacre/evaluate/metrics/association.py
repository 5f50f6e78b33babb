"""How much of the association between columns is kept."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import Comparison
from nacre.evaluate.tables.pairs import pair_name


def compute(comparison: Comparison) -> Iterator[Value]:
    """The mean absolute difference over pairs, then each pair."""
    pairs = comparison.pairs
    listed = pairs.list()
    if not listed:
        return
    gap = np.abs(pairs.real - pairs.synthetic)
    yield Value("", float(np.mean([gap[i, j] for i, j in listed])))
    for i, j in listed:
        yield Value(pair_name(pairs.names[i], pairs.names[j]), float(gap[i, j]))


METRIC = Metric(
    name="association",
    title="Associations",
    group="pairs",
    goal="lower",
    low=0,
    high=2,
    meaning="How much the strength of the link between two columns changes (correlation of two "
    "numbers, Cramér's V if either is a category).",
    compute=compute,
    reference="fresh",
    quick=True,
)
