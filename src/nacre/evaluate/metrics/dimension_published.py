"""Dimension-wise prediction with the models and scores that DP-auto-GAN publishes.

Where every column has two values: logistic regression and the area under the ROC curve, as Choi et
al. (2017) and the paper's table of 1,071 ICD-9 categories.  Else a forest of ten trees and F1 for
categories, the lasso and R² for numbers, as the paper's Adult.  All columns, however many.  Of a
column that the training table has a single value of nothing is learnt: the paper leaves it out of
its plots, and so is it left out here.
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nacre.evaluate.metrics.auc import area
from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison, target
from nacre.evaluate.tables.extras import require
from nacre.evaluate.tables.features import Features
from nacre.evaluate.tables.rows import Rows

TRAIN_ROWS, TEST_ROWS = 10_000, 10_000
TREES = 10
SHRINKAGE = 0.01
"""The lasso's alpha, with the target scaled to variance 1. The paper does not say its own."""
TOLERANCE = 1e-8
"""Of logistic regression. At scikit-learn's own 1e-4 rows whose scores are nearly tied come in an
order that depends on which value of a column is called one, and an area moves by a hundredth."""
_TASK = 64  # columns that a process is given at once


def all_binary(rows: Rows) -> bool:
    """Whether every column of a table has two values."""
    return all(not rows.is_number(n) and rows.bin(n).size == 2 for n in rows.names)


def logistic_areas(train: Any, test: Any, columns: Sequence[int]) -> list[float]:
    """The area under the ROC curve of each column, from all others by logistic regression.

    Args:
        train: zeros and ones, [rows, columns], in SciPy's CSC form: a code that few rows have costs
            little then.
        test: likewise.
        columns: which to predict.

    Returns:
        NaN where a column has a single value in either table.
    """
    # Threads that wait for each other cost more than products of so few numbers.
    with require("threadpoolctl").threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [_area(train, test, column) for column in columns]


def _area(train: Any, test: Any, column: int) -> float:
    y, truth = (m[:, [column]].toarray().ravel() > 0 for m in (train, test))
    if y.all() or truth.all() or not y.any() or not truth.any():
        return float("nan")
    # A column of zeros has coefficient zero, as if it were not there.
    without, unseen = (_cleared(m, column) for m in (train, test))
    regression = require("sklearn.linear_model").LogisticRegression
    model = regression(max_iter=1000, tol=TOLERANCE).fit(without, y)
    return area(truth, model.decision_function(unseen))


def _cleared(matrix: Any, column: int) -> Any:
    cleared = matrix.copy()
    cleared.data[cleared.indptr[column] : cleared.indptr[column + 1]] = 0
    return cleared.tocsr()


def ones(rows: Rows, rarer: np.ndarray) -> Any:
    """Where each column has its rarer value, in CSC form."""
    sparse = require("scipy.sparse")
    codes = np.stack([rows.bin(name).codes for name in rows.names], axis=1)
    return sparse.csc_matrix((codes == rarer).astype(np.float64))


def mixed_score(train: Rows, test: Rows, name: str, seed: int) -> float:
    """F1 of a category, by ten trees; R² of a number, by the lasso. NaN for a constant."""
    metrics = require("sklearn.metrics")
    if train.is_number(name):
        train, test = (
            r if (gone := r.missing(name)) is None else r.take(np.flatnonzero(~gone))
            for r in (train, test)
        )
    y, truth = target(train, name), target(test, name)
    if len(np.unique(y)) < 2 or len(np.unique(truth)) < 2:
        return float("nan")
    features = Features.of(test, without=name)
    x, unseen = features.matrix(train), features.matrix(test)
    if train.is_number(name):
        center, scale = float(truth.mean()), float(truth.std())
        model = require("sklearn.linear_model").Lasso(alpha=SHRINKAGE).fit(x, (y - center) / scale)
        guess = model.predict(unseen)
        return float(metrics.r2_score((truth - center) / scale, guess)) if np.ptp(guess) else np.nan
    forest = require("sklearn.ensemble").RandomForestClassifier
    guess = forest(n_estimators=TREES, random_state=seed, n_jobs=1).fit(x, y).predict(unseen)
    if train.bin(name).size > 2:
        return float(metrics.f1_score(truth, guess, average="micro"))
    rarer = int(np.argmin(np.bincount(truth, minlength=2)))
    return float(metrics.f1_score(truth, guess, pos_label=rarer, zero_division=0))


def per_column(comparison: TableComparison) -> tuple[tuple[str, float], ...]:
    """The score of each column, trained on the synthetic rows; NaN for a constant."""
    rng = comparison.rng("dimension-prediction")
    train = comparison.synthetic.sample(TRAIN_ROWS, rng)
    test = comparison.test.sample(TEST_ROWS, rng)
    joblib, names = require("joblib"), comparison.real.names
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        run = joblib.Parallel(n_jobs=comparison.jobs)
        if all_binary(test):
            shares = np.array([test.bin(name).codes.mean() for name in names])
            rarer = (shares <= 0.5).astype(np.uint8)
            tables = ones(train, rarer), ones(test, rarer)
            parts = [range(s, min(s + _TASK, len(names))) for s in range(0, len(names), _TASK)]
            each = run(joblib.delayed(logistic_areas)(*tables, part) for part in parts)
            found = [score for part in each for score in part]
        else:
            found = run(
                joblib.delayed(mixed_score)(train, test, name, comparison.seed) for name in names
            )
    return tuple(zip(names, found, strict=True))


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean over the columns that teach something, then each of them."""
    if len(comparison.real.names) < 2:
        return
    each = [(name, value) for name, value in per_column(comparison) if not np.isnan(value)]
    if each:
        yield Value("", float(np.mean([value for _, value in each])))
        yield from (Value(name, value) for name, value in each)


METRIC = Metric(
    name="dimension-prediction-published",
    title="Dimension-wise prediction, as published",
    group="structure",
    goal="higher",
    low=-float("inf"),
    high=1,
    meaning="The same with the models of DP-auto-GAN: logistic regression and AUC if every column "
    "has two values, else ten trees and F1, or the lasso and R². Columns that the table has a "
    "single value of are left out, so that two tables may be scored on different columns.",
    compute=compute,
    reference="real-trained",
)
