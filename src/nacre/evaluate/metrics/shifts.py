"""How far means, tails and ordered differences of numbers are off."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean over all of them, then each."""
    shifts = comparison.shifts
    yield Value("", float(np.mean([shift.gap for shift in shifts])) if shifts else 0.0)
    for shift in shifts:
        yield Value(shift.statistic, shift.gap)


METRIC = Metric(
    name="shifts",
    title="Means and tails of numbers",
    group="columns",
    goal="lower",
    low=0,
    high=float("inf"),
    meaning="How far the mean and the 1% and 99% quantiles of a number are off beyond chance, and "
    "the median, 90% and 99% quantiles of a difference that a constraint orders, relative to how "
    "widely the real values spread.",
    compute=compute,
    needs=frozenset({"amount"}),
    quick=True,
)
