"""Average precision, from scores: train on synthetic, test on real."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.metrics.auc import one_against_rest, per_model
from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.extras import require


def average_precision(positive: np.ndarray, score: np.ndarray) -> float:
    """Precision averaged over recall, stepwise, as scikit-learn computes it."""
    return float(require("sklearn.metrics").average_precision_score(positive, score))


def compute(comparison: TableComparison) -> Iterator[Value]:
    """Of the rarer class; several classes: one against the rest, averaged."""
    positive = comparison.positive
    return per_model(comparison, lambda p: one_against_rest(p, positive, average_precision))


METRIC = Metric(
    name="average-precision",
    title="Average precision",
    group="usefulness",
    goal="higher",
    low=0,
    high=1,
    meaning="How pure a model trained on the synthetic table finds the rarer class among held-out "
    "real rows (area under the precision-recall curve from scores).",
    compute=compute,
    needs=frozenset({"label", "classes"}),
    reference="real-trained",
    quick=True,
)
