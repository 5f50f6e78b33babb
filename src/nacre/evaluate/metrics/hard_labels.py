"""The papers' "ROC" and "PRC", which they compute on predicted classes instead of scores."""

from collections.abc import Callable, Iterator

import numpy as np

from nacre.evaluate.metrics.auc import area, per_model
from nacre.evaluate.metrics.average_precision import average_precision
from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison


def _hard(
    measure: Callable[[np.ndarray, np.ndarray], float],
) -> Callable[[TableComparison], Iterator[Value]]:
    def compute(comparison: TableComparison) -> Iterator[Value]:
        """`measure` with the predicted class (0 or 1) in the place of the score."""
        positive = comparison.positive
        return per_model(
            comparison,
            lambda p: (
                measure(p.truth == positive, (p.hard == positive).astype(float))
                if len(np.unique(p.truth == positive)) == 2
                else float("nan")
            ),
        )

    return compute


ROC = Metric(
    name="hard-roc",
    title="ROC as published",
    group="usefulness",
    goal="higher",
    low=0,
    high=1,
    meaning="The papers' ROC: computed on predicted classes, so it is balanced accuracy.",
    compute=_hard(area),
    needs=frozenset({"label", "classes", "binary"}),
    reference="real-trained",
)
PRC = Metric(
    name="hard-prc",
    title="PRC as published",
    group="usefulness",
    goal="higher",
    low=0,
    high=1,
    meaning="The papers' PRC: average precision computed on predicted classes.",
    compute=_hard(average_precision),
    needs=frozenset({"label", "classes", "binary"}),
    reference="real-trained",
)
