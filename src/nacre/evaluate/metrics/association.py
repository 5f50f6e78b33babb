"""How much of the association between columns is kept."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean absolute difference over pairs, then each pair."""
    pairs = comparison.pairs
    gaps = np.abs(pairs.real - pairs.synthetic)
    each = {pair: float(gaps[place]) for pair, place in pairs.places().items()}
    if each:
        yield Value("", float(np.mean(list(each.values()))))
        yield from (Value(pair, gap) for pair, gap in each.items())


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
