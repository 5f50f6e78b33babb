"""The classifiers and regressors that a table is tried with, and what they predict."""

import dataclasses
import importlib.util
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from nacre.errors import NacreError
from nacre.evaluate.tables.extras import require


def _sklearn(path: str, **settings: Any) -> Callable[..., Any]:
    """A maker of `sklearn.<path>` with its default parameters but for `settings` and a seed."""
    module, name = f"sklearn.{path}".rsplit(".", 1)

    def make(seed: int | None, **changed: Any) -> Any:
        kind = getattr(require(module), name)
        seeded = {} if seed is None else {"random_state": seed}
        if "random_state" not in kind().get_params():
            seeded = {}
        return kind(**{**settings, **seeded, **changed})

    return make


def _xgboost(seed: int | None, **changed: Any) -> Any:
    return require("xgboost").XGBClassifier(random_state=seed, n_jobs=1, **changed)


# Default parameters, as in the papers. More iterations only let the two linear ones converge.
_MAKERS: dict[str, Callable[..., Any]] = {
    "logistic regression": _sklearn("linear_model.LogisticRegression", max_iter=1000),
    "Gaussian naive Bayes": _sklearn("naive_bayes.GaussianNB"),
    "Bernoulli naive Bayes": _sklearn("naive_bayes.BernoulliNB"),
    "linear SVM": _sklearn("svm.LinearSVC", max_iter=5000),
    "decision tree": _sklearn("tree.DecisionTreeClassifier"),
    "LDA": _sklearn("discriminant_analysis.LinearDiscriminantAnalysis"),
    "AdaBoost": _sklearn("ensemble.AdaBoostClassifier"),
    "bagging": _sklearn("ensemble.BaggingClassifier"),
    "random forest": _sklearn("ensemble.RandomForestClassifier"),
    "GBM": _sklearn("ensemble.GradientBoostingClassifier"),
    "MLP": _sklearn("neural_network.MLPClassifier"),
    "XGBoost": _xgboost,
    "boosting": _sklearn("ensemble.HistGradientBoostingClassifier"),
    "linear regression": _sklearn("linear_model.LinearRegression"),
    "forest regression": _sklearn("ensemble.RandomForestRegressor", n_estimators=50),
    "boosting regression": _sklearn("ensemble.HistGradientBoostingRegressor"),
}

PUBLISHED = tuple(_MAKERS)[:12]
"""The papers' twelve; DP-MERF averages all of them."""
PEARL = tuple(name for name in PUBLISHED[:11] if name != "random forest")
"""The ten that PEARL averages."""
QUICK = ("logistic regression", "random forest", "boosting")
_SLOWEST = ("MLP", "GBM", "random forest", "boosting", "forest regression")
REGRESSORS = ("linear regression", "forest regression", "boosting regression")


@dataclasses.dataclass(frozen=True, eq=False)
class Prediction:
    """What one model, trained on one table, says about the test rows.

    Attributes:
        model: its name here, e.g. "random forest".
        truth: class codes (or target values) of the test rows.
        hard: predicted classes (or values).
        scores: [rows, classes] scores from probabilities or margins; None for a regression.
        problem: why it could not be trained, if it could not; then `hard` is a constant.
    """

    model: str
    truth: np.ndarray
    hard: np.ndarray
    scores: np.ndarray | None
    problem: str = ""


def available(names: Sequence[str]) -> tuple[str, ...]:
    """Those of `names` that can be used here: XGBoost only if it is installed."""
    unknown = [name for name in names if name not in _MAKERS]
    if unknown:
        raise NacreError(f"No such classifier: {unknown}. There are: {', '.join(_MAKERS)}.")
    if importlib.util.find_spec("xgboost") is None:
        return tuple(name for name in names if name != "XGBoost")
    return tuple(names)


def make(name: str, *, seed: int | None = None, **changed: Any) -> Any:
    """The unfitted estimator called `name`, with some settings changed."""
    available([name])
    return _MAKERS[name](seed, **changed)


def predict(
    name: str,
    train: tuple[np.ndarray, np.ndarray],
    test: tuple[np.ndarray, np.ndarray],
    *,
    classes: int | None,
    seed: int,
    settings: Mapping[str, Any] | None = None,
) -> Prediction:
    """Train one model and apply it to the test rows.

    Args:
        name: which model.
        train: features and targets to learn from.
        test: features and targets to predict; the targets are only carried along.
        classes: how many classes there are, targets being 0..classes-1; None for a regression.
        seed: of the model's own randomness.
        settings: of the model, other than its usual ones.

    A table with a single class teaches nothing: its scores are constant. So are those of a model
    that cannot be trained on it; `problem` then says why.
    """
    (x, y), (x_test, truth) = train, test
    present = np.unique(y)
    if classes is not None and len(present) < 2:
        return _constant(name, present[0], truth, classes, "the table has a single class")
    # Some estimators want 0..k-1 without gaps, and a synthetic table may lack a class.
    target = y if classes is None else np.searchsorted(present, y)
    model = make(name, seed=seed, **(settings or {}))
    with warnings.catch_warnings():
        # Non-convergence or collinear columns are the table's doing and show in the scores.
        warnings.simplefilter("ignore")
        try:
            model.fit(x, target)
            hard = model.predict(x_test)
        except (ValueError, np.linalg.LinAlgError) as error:
            fallback = y.mean() if classes is None else present[0]
            return _constant(name, fallback, truth, classes, type(error).__name__)
        if classes is None:
            return Prediction(name, truth, hard, None)
        raw = (
            model.predict_proba(x_test)
            if hasattr(model, "predict_proba")
            else model.decision_function(x_test)
        )
    if raw.ndim == 1:
        raw = np.stack([-raw, raw], axis=1)
    scores = np.full((len(truth), classes), raw.min() - 1, np.float64)
    scores[:, present] = raw
    return Prediction(name, truth, present[hard], scores)


def predict_all(
    names: Sequence[str],
    train: tuple[np.ndarray, np.ndarray],
    test: tuple[np.ndarray, np.ndarray],
    *,
    classes: int | None,
    seed: int,
    jobs: int = 2,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Prediction]:
    """Train each model in a process of its own (one thread each); results in the order of `names`.

    The slow ones start first, so that no process is left alone with one at the end. `settings` of
    a model, by its name, are other than its usual ones.
    """
    told = [{"classes": classes, "seed": seed, "settings": (settings or {}).get(n)} for n in names]
    asked: dict[str, dict[str, Any]] = dict(zip(names, told, strict=True))
    order = sorted(names, key=lambda name: _SLOWEST.index(name) if name in _SLOWEST else len(names))
    if jobs == 1 or len(names) == 1:
        found = [predict(name, train, test, **asked[name]) for name in order]
    else:
        joblib = require("joblib")
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            found = joblib.Parallel(n_jobs=jobs)(
                joblib.delayed(predict)(name, train, test, **asked[name]) for name in order
            )
    return sorted(found, key=lambda prediction: names.index(prediction.model))


def _constant(
    name: str, value: Any, truth: np.ndarray, classes: int | None, problem: str
) -> Prediction:
    scores = None if classes is None else np.zeros((len(truth), classes))
    return Prediction(name, truth, np.full(len(truth), value), scores, problem)
