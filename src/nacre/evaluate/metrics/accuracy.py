"""Accuracy and F1: train on synthetic, test on real, by predicted class."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nacre.evaluate.metrics.auc import per_model
from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.classifiers import Prediction
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.extras import require


def _f1(average: str) -> Callable[[Prediction], float]:
    def measure(prediction: Prediction) -> float:
        score: Any = require("sklearn.metrics").f1_score
        return float(score(prediction.truth, prediction.hard, average=average, zero_division=0))

    return measure


def _metric(
    name: str, title: str, meaning: str, measure: Callable[[Prediction], float], quick: bool = False
) -> Metric:
    def compute(comparison: TableComparison) -> Iterator[Value]:
        return per_model(comparison, measure)

    return Metric(
        name=name,
        title=title,
        group="usefulness",
        goal="higher",
        low=0,
        high=1,
        meaning=meaning,
        compute=compute,
        needs=frozenset({"label", "classes"}),
        reference="real-trained",
        quick=quick,
    )


ACCURACY = _metric(
    "accuracy",
    "Accuracy",
    "The share of held-out real rows that a model trained on the synthetic table classifies right.",
    lambda p: float(np.mean(p.truth == p.hard)),
    quick=True,
)
F1_WEIGHTED = _metric(
    "f1-weighted",
    "F1, weighted",
    "Balance of precision and recall, averaged over the classes by their size.",
    _f1("weighted"),
)
F1_MACRO = _metric(
    "f1-macro",
    "F1, macro",
    "Balance of precision and recall, every class counting the same.",
    _f1("macro"),
)
