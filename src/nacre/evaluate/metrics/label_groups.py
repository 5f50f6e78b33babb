"""How far the label is off by group."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean over all columns that make groups, then each."""
    found = comparison.label_groups
    yield Value("", float(np.mean([groups.gap for groups in found])) if found else 0.0)
    yield from (Value(groups.by, groups.gap) for groups in found)


METRIC = Metric(
    name="label-groups",
    title="Label by group",
    group="pairs",
    goal="lower",
    low=0,
    high=float("inf"),
    meaning="How far the share of a class of the label, or its mean, is typically off beyond "
    "chance within groups by another column (50 rows or more; ranges of numbers, periods of "
    "dates), in standard deviations of the label; of the class that is worst off.",
    compute=compute,
    needs=frozenset({"label"}),
    quick=True,
)
