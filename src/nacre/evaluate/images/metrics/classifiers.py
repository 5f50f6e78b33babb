"""Accuracy and F1 of the twelve classifiers of DP-MERF (Harder et al., 2021), on pixels."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nacre.evaluate.images.comparison import ImageComparison
from nacre.evaluate.images.metric import ImageMetric, as_real
from nacre.evaluate.scores.metric import Value
from nacre.evaluate.tables.classifiers import Prediction, predict_all
from nacre.evaluate.tables.extras import require
from nacre.rows import Images

SETTINGS: dict[str, dict[str, Any]] = {
    "logistic regression": {"max_iter": 5000},
    "Bernoulli naive Bayes": {"binarize": 0.5},
    "decision tree": {"class_weight": "balanced"},
    "LDA": {"solver": "lsqr", "shrinkage": 0.5},
    "AdaBoost": {"n_estimators": 100},
    "bagging": {"n_estimators": 20, "max_samples": 0.1},
    "random forest": {"class_weight": "balanced"},
    "GBM": {"n_estimators": 50, "subsample": 0.1},
    "XGBoost": {"n_estimators": 50, "colsample_bytree": 0.1},
}
"""DP-MERF's own for images; the others have scikit-learn's defaults.

Two are not quite its own: its linear SVM has the hinge loss, not the squared one, and a tolerance
of 1e-8, and its AdaBoost is SAMME.R, which scikit-learn has dropped.
"""


def predictions(comparison: ImageComparison) -> list[Prediction]:
    """What each says of the test images after training on all synthetic ones."""
    return comparison.once("predictions", lambda: _predict(comparison))


def _predict(comparison: ImageComparison) -> list[Prediction]:
    train, test = comparison.synthetic, comparison.real.test
    if test is None:
        raise ValueError("There are no test images.")
    return predict_all(
        comparison.effort.classifiers,
        (_flat(train), np.asarray(train.labels)),
        (_flat(test), np.asarray(test.labels)),
        classes=comparison.real.classes,
        seed=comparison.real.seed,
        jobs=comparison.jobs,
        settings=SETTINGS,
    )


def _flat(images: Images) -> np.ndarray:
    """One row of numbers in [0, 1] for each image."""
    return images.pixels.reshape(len(images), -1).astype(np.float32) / 255


def _mean_of(measure: Callable[[Prediction], float]) -> Callable[[ImageComparison], Any]:
    def compute(comparison: ImageComparison) -> Iterator[Value]:
        each = {found.model: measure(found) for found in predictions(comparison)}
        if each:
            yield Value("", float(np.mean(list(each.values()))))
        yield from (Value(model, value) for model, value in each.items())

    return compute


def _accuracy(found: Prediction) -> float:
    return float(np.mean(found.truth == found.hard))


def _f1(found: Prediction) -> float:
    score = require("sklearn.metrics").f1_score
    return float(score(found.truth, found.hard, average="macro", zero_division=0))


ACCURACY = ImageMetric(
    name="accuracy",
    title="Accuracy of the twelve classifiers",
    group="usefulness",
    goal="higher",
    low=0,
    high=1,
    meaning="The mean over the papers’ twelve classifiers of pixels, with DP-MERF’s settings, "
    "trained on all synthetic images and tested on the real test images.",
    compute=_mean_of(_accuracy),
    reference=as_real(_mean_of(_accuracy)),
    needs=frozenset({"test", "labels"}),
    quick=False,
)
F1 = ImageMetric(
    name="f1",
    title="F1 of the twelve classifiers",
    group="usefulness",
    goal="higher",
    low=0,
    high=1,
    meaning="The mean of their F1 scores, each averaged over the classes.",
    compute=_mean_of(_f1),
    reference=as_real(_mean_of(_f1)),
    needs=frozenset({"test", "labels"}),
    quick=False,
)
