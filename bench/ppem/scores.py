"""The tables of PPEM's paper, and what it scores a synthetic table by."""

import math
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from nacre import datasets
from nacre.evaluate.run import evaluate
from nacre.schema import Schema


class Data(NamedTuple):
    """Rows to fit, rows that score, and what is public about both."""

    train: pa.Table
    test: pa.Table
    schema: Schema


def read(name: str, rows: int | None) -> Data:
    """Four fifths and one fifth of a table; at most `rows` to fit."""
    table, schema = datasets.load({"credit": "creditcard"}.get(name, name))
    order = np.random.default_rng(0).permutation(table.num_rows)
    cut = table.num_rows * 4 // 5
    train, test = (table.take(pa.array(part)) for part in (order[:cut], order[cut:]))
    return Data(train.select(schema.names).slice(0, rows), test.select(schema.names), schema)


def credit_scores(synthetic: pa.Table, data: Data) -> tuple[float, ...]:
    """AUROC of fraud by logistic regression, MSE and R² of the amount by linear regression.

    Trained on the synthetic rows, scored on real ones; columns are standardized by the rows that
    were fitted, the amount too.
    """
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.metrics import mean_squared_error, r2_score, roc_auc_score

    frames = [table.to_pandas() for table in (synthetic, data.test, data.train)]
    made, test, fitted = ({n: f[n].to_numpy() for n in f} for f in frames)
    fraud, truth = ((f["Class"].astype(str) == "1").astype(int) for f in (made, test))
    names = [name for name in data.schema.names if name != "Class"]
    spread = {n: (float(fitted[n].mean()), float(fitted[n].std()) or 1.0) for n in names}

    def matrix(frame: dict[str, Any], columns: list[str]) -> np.ndarray:
        return np.stack([(frame[n] - spread[n][0]) / spread[n][1] for n in columns], axis=1)

    auroc = 0.5
    if 0 < fraud.sum() < len(fraud):
        classifier = LogisticRegression(max_iter=1000).fit(matrix(made, names), fraud)
        auroc = float(roc_auc_score(truth, classifier.decision_function(matrix(test, names))))
    others = [name for name in names if name != "Amount"]
    amounts, actual = (matrix(frame, ["Amount"])[:, 0] for frame in (made, test))
    guess = LinearRegression().fit(matrix(made, others), amounts).predict(matrix(test, others))
    return auroc, float(mean_squared_error(actual, guess)), float(r2_score(actual, guess))


def scores(name: str, synthetic: pa.Table, data: Data) -> tuple[float, ...]:
    """What the paper's Table 1 has of a table."""
    if name == "credit":
        return credit_scores(synthetic, data)
    metric = "dimension-prediction-published"
    found = evaluate(data.train, synthetic, data.schema, test=data.test, metrics=[metric], jobs=1)
    score = found.score(metric, found.tables[0])
    return (math.nan if score is None else score.value,)
