"""Total variation of each column by itself."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.cells import total_variation
from nacre.evaluate.tables.comparison import TableComparison


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean over columns, then each column."""
    real, synthetic = comparison.real, comparison.synthetic
    each = [total_variation(*both) for both in zip(real.binned, synthetic.binned, strict=True)]
    yield Value("", float(np.mean(each)))
    yield from map(Value, real.names, each)


METRIC = Metric(
    name="tv1",
    title="Single columns",
    group="columns",
    goal="lower",
    low=0,
    high=1,
    meaning="The share of rows that would have to change for a column's counts to be right "
    "(total variation; numbers in 20 equal-width bins over their declared bounds).",
    compute=compute,
    reference="fresh",
    quick=True,
)
