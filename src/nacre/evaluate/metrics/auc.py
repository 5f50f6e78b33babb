"""Area under the ROC curve, from scores: train on synthetic, test on real."""

from collections.abc import Callable, Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.classifiers import Prediction
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.extras import require


def area(positive: np.ndarray, score: np.ndarray) -> float:
    """The chance that a positive row is scored above a negative one, ties counting half."""
    return float(require("sklearn.metrics").roc_auc_score(positive, score))


def one_against_rest(
    prediction: Prediction, positive: int, measure: Callable[[np.ndarray, np.ndarray], float]
) -> float:
    """`measure` of the positive class, or its mean over the classes if there are more than two.

    Classes that the test rows lack, or consist of, cannot be measured and are left out.
    """
    if prediction.scores is None:
        return float("nan")
    classes = prediction.scores.shape[1]
    values = []
    for code in (positive,) if classes == 2 else range(classes):
        truth = prediction.truth == code
        if truth.any() and not truth.all():
            values.append(measure(truth, prediction.scores[:, code]))
    return float(np.mean(values)) if values else float("nan")


def per_model(
    comparison: TableComparison, measure: Callable[[Prediction], float]
) -> Iterator[Value]:
    """The mean over the models, then each model."""
    each = [(p.model, measure(p)) for p in comparison.predictions]
    known = [value for _, value in each if not np.isnan(value)]
    if known:
        yield Value("", float(np.mean(known)))
        yield from (Value(name, value) for name, value in each if not np.isnan(value))


def compute(comparison: TableComparison) -> Iterator[Value]:
    """From probabilities or margins; several classes: one against the rest, averaged."""
    positive = comparison.positive
    return per_model(comparison, lambda p: one_against_rest(p, positive, area))


METRIC = Metric(
    name="auc",
    title="AUC",
    group="usefulness",
    goal="higher",
    low=0,
    high=1,
    meaning="How well a model trained on the synthetic table ranks held-out real rows (area under "
    "the ROC curve from scores; 0.5 is guessing).",
    compute=compute,
    needs=frozenset({"label", "classes"}),
    reference="real-trained",
    quick=True,
)
