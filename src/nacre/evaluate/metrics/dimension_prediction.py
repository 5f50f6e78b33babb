"""Dimension-wise prediction: each column predicted from all others (Choi et al.; DP-auto-GAN)."""

import warnings
from collections.abc import Iterator

import numpy as np

from nacre.evaluate.metrics.auc import area
from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison, target
from nacre.evaluate.tables.extras import require
from nacre.evaluate.tables.features import Features
from nacre.evaluate.tables.rows import Rows

TRAIN_ROWS, TEST_ROWS, COLUMNS = 10_000, 10_000, 60


def goodness(train: Rows, test: Rows, name: str, seed: int) -> float:
    """How well a forest trained on `train` predicts column `name` of `test`.

    R² for a number, the area under the ROC curve for two values, the weighted F1 score for more,
    as in DP-auto-GAN. A column with one value in `train` teaches nothing: R² 0, AUC 1/2, or the F1
    score of always saying that value.
    """
    ensemble, scores = require("sklearn.ensemble"), require("sklearn.metrics")
    features = Features.of(test, without=name)
    settings = {"n_estimators": 50, "max_depth": 14, "random_state": seed, "n_jobs": 1}
    number = train.is_number(name)
    if number:
        train, test = (
            r if (gone := r.missing(name)) is None else r.take(np.flatnonzero(~gone))
            for r in (train, test)
        )
    y, truth = target(train, name), target(test, name)
    if not len(y) or len(truth) < 2:
        return float("nan")
    if number:
        if np.ptp(truth) == 0:
            return float("nan")
        model = ensemble.RandomForestRegressor(**settings).fit(features.matrix(train), y)
        return float(max(scores.r2_score(truth, model.predict(features.matrix(test))), -1))
    model = ensemble.RandomForestClassifier(**settings).fit(features.matrix(train), y)
    if train.bin(name).size == 2:
        if len(np.unique(truth)) < 2:
            return float("nan")
        chance = model.predict_proba(features.matrix(test))
        return area(truth == 1, chance[:, 1]) if len(model.classes_) == 2 else 0.5
    guess = model.predict(features.matrix(test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(scores.f1_score(truth, guess, average="weighted"))


def per_column(comparison: TableComparison) -> tuple[tuple[str, float], ...]:
    """The goodness for each column, trained on the synthetic rows; of sixty, if there are more."""
    rng = comparison.rng("dimension-prediction")
    train = comparison.synthetic.sample(TRAIN_ROWS, rng)
    test = comparison.test.sample(TEST_ROWS, rng)
    joblib = require("joblib")
    names = _varied(comparison.test)
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        found = joblib.Parallel(n_jobs=comparison.jobs)(
            joblib.delayed(goodness)(train, test, name, comparison.seed) for name in names
        )
    return tuple(zip(names, found, strict=True))


def _varied(rows: Rows) -> tuple[str, ...]:
    """All columns, or the sixty whose most frequent value is least so: others teach little."""
    if len(rows.names) <= COLUMNS:
        return rows.names
    most = np.array([np.bincount(column.codes).max() for column in rows.binned])
    return tuple(rows.names[i] for i in np.sort(np.argsort(most, kind="stable")[:COLUMNS]))


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean over columns, then each column."""
    each = [(name, value) for name, value in per_column(comparison) if not np.isnan(value)]
    if len(comparison.real.names) < 2 or not each:
        return
    yield Value("", float(np.mean([value for _, value in each])))
    yield from (Value(name, value) for name, value in each)


METRIC = Metric(
    name="dimension-prediction",
    title="Dimension-wise prediction",
    group="structure",
    goal="higher",
    low=-1,
    high=1,
    meaning="How well each column of held-out real rows is predicted from the others after "
    "learning from the synthetic table (AUC, weighted F1 or R², by the column's type; a random "
    f"forest on {TRAIN_ROWS:,} sampled rows; the {COLUMNS} columns that vary most).",
    compute=compute,
    reference="real-trained",
)
