"""How far the median of a number is off within groups."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean over all groups and numbers, then each."""
    shifts = comparison.group_shifts
    yield Value("", float(np.mean([shift.gap for shift in shifts])) if shifts else 0.0)
    yield from (Value(shift.of, shift.gap) for shift in shifts)


METRIC = Metric(
    name="group-medians",
    title="Medians within groups",
    group="pairs",
    goal="lower",
    low=0,
    high=float("inf"),
    meaning="How far the median of a number, or of what lies between two ordered columns, is off, "
    "beyond chance, among rows with one value of another column (200 rows or more), relative to "
    "how widely the group's real values spread.",
    compute=compute,
    needs=frozenset({"amount"}),
    quick=True,
)
