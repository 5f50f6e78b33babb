"""How many of the real values occur in the synthetic table at all."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison


def compute(comparison: TableComparison) -> Iterator[Value]:
    """Over all columns, then for each: the share of real categories (bins) that occur."""
    found = total = 0
    parts = []
    columns = zip(comparison.real.binned, comparison.synthetic.binned, strict=True)
    for name, (real, synthetic) in zip(comparison.real.names, columns, strict=True):
        there = np.bincount(real.codes, minlength=real.size) > 0
        kept = there & (np.bincount(synthetic.codes, minlength=real.size) > 0)
        parts.append(Value(name, float(kept.sum() / there.sum())))
        found, total = found + int(kept.sum()), total + int(there.sum())
    yield Value("", found / total)
    yield from parts


METRIC = Metric(
    name="coverage",
    title="Values that occur",
    group="columns",
    goal="higher",
    low=0,
    high=1,
    meaning="The share of the values (or bins of numbers) found in the real table that occur in "
    "the synthetic one.",
    compute=compute,
    reference="fresh",
    quick=True,
)
