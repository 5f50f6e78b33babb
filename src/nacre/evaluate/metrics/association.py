"""How much of the association between columns is kept."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean absolute difference over all pairs, then each pair that is watched."""
    pairs = comparison.pairs
    gaps = np.abs(pairs.real - pairs.synthetic)
    if len(pairs.names) > 1:
        yield Value("", float(np.mean(pairs.each(gaps))))
        yield from (Value(p, float(gaps[place])) for p, place in comparison.pair_places().items())


METRIC = Metric(
    name="association",
    title="Associations",
    group="pairs",
    goal="lower",
    low=0,
    high=2,
    meaning="How much the strength of the link between two columns changes (correlation of two "
    "numbers; Cramér's V, without what chance adds to it, if either is a category).",
    compute=compute,
    reference="fresh",
    quick=True,
)
