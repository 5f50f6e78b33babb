"""The papers' error of all two-way marginals (PEARL, appendix I: "marginal release")."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison


def compute(comparison: TableComparison) -> Iterator[Value]:
    """Mean L1 distance over all pairs: twice the total variation."""
    pairs = comparison.pairs
    if len(pairs.names) > 1:
        yield Value("", float(np.mean(2 * pairs.each(pairs.total_variation))))


METRIC = Metric(
    name="marginal-l1",
    title="Two-way marginals, L1",
    group="pairs",
    goal="lower",
    low=0,
    high=2,
    meaning="The summed difference of the shares in the cross-table of two columns, as the papers "
    "report it: twice the total variation.",
    compute=compute,
    reference="fresh",
)
