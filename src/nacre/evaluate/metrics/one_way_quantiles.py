"""Total variation of each number by itself, in bins where the rows are."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.cells import total_variation
from nacre.evaluate.tables.comparison import TableComparison


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean over numbers, then each of them."""
    names = [name for name in comparison.real.names if comparison.real.is_number(name)]
    each = [total_variation(*comparison.by_quantiles(name)) for name in names]
    if each:
        yield Value("", float(np.mean(each)))
        yield from map(Value, names, each)


METRIC = Metric(
    name="tv1-quantiles",
    title="Single numbers, where the rows are",
    group="columns",
    goal="lower",
    low=0,
    high=1,
    meaning="As above, but in 20 bins that hold about as many real rows each: it sees what is "
    "wrong with a number that uses a small part of its declared bounds.",
    compute=compute,
    needs=frozenset({"amount"}),
    reference="fresh",
    quick=True,
)
