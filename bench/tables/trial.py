"""One result: a method fitted to one cut of one table, and what classifiers make of its rows."""

import dataclasses
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from bench.protocol import Split, features
from bench.tables.plans import PLANS, Plan, read
from bench.tables.published import STATISTICS
from nacre.evaluate.run import evaluate
from nacre.evaluate.tables.classifiers import Prediction, predict_all
from nacre.fit import fit
from nacre.methods import find

REAL = "real"
EPSILON, DELTA, ADJACENCY = 1.0, 1e-5, "replace-one"
WITH_STATISTICS = ("adult", "credit")


def measure(
    name: str, method: str, seed: int, classifiers: Sequence[str], jobs: int = 1
) -> dict[str, Any]:
    """Cut table `name` by the seed, fit, draw as many rows as were fitted, score.

    `method` is one of `METHODS`, or "real": then classifiers learn from the real rows themselves.
    """
    plan, split = PLANS[name], read(name, seed)
    found: dict[str, Any] = {"dataset": name, "method": method, "seed": seed}
    found["rows"] = {"fitted": split.train.num_rows, "scored": split.test.num_rows}
    start = time.process_time()
    rows = split.train
    if method != REAL:
        found["guarantee"] = {"epsilon": EPSILON, "delta": DELTA, "adjacency": ADJACENCY}
        settings = find(method)()
        found["settings"] = dataclasses.asdict(settings)
        rows = synthesize(settings, split, seed)
    found["fit_seconds"] = round(time.process_time() - start, 1)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predictions = learn(plan, split, rows, classifiers, seed, jobs)
        found["scores"] = {p.model: score(plan, split, p) for p in predictions}
        if method != REAL and name in WITH_STATISTICS:
            found["statistics"] = statistics(split, rows, seed)
    found["problems"] = {p.model: p.problem for p in predictions if p.problem}
    found["score_seconds"] = round(time.process_time() - start, 1)
    return found


def synthesize(method: Any, split: Split, seed: int) -> pa.Table:
    """As many synthetic rows as there are rows to fit."""
    model = fit(
        split.train,
        split.schema,
        method=method,
        epsilon=EPSILON,
        delta=DELTA,
        adjacency=ADJACENCY,
        seed=seed,
    )
    return model.sample_arrow(split.train.num_rows, seed=seed)


def learn(
    plan: Plan, split: Split, rows: pa.Table, classifiers: Sequence[str], seed: int, jobs: int
) -> list[Prediction]:
    """What each classifier, taught by `rows`, says about the rows to score on."""
    train, test = features(rows, split.schema), features(split.test, split.schema)
    if not plan.unit:
        # What a user of the synthetic table would do; wide declared bounds would otherwise
        # flatten every number, and Bernoulli naive Bayes cuts at zero.
        numbers = len(split.schema.layout.numbers)
        center = train[0][:, :numbers].mean(0)
        spread = train[0][:, :numbers].std(0)
        spread[spread == 0] = 1
        for x, _ in (train, test):
            x[:, :numbers] = (x[:, :numbers] - center) / spread
    return predict_all(classifiers, train, test, classes=_classes(split), seed=seed, jobs=jobs)


def score(plan: Plan, split: Split, prediction: Prediction) -> dict[str, float]:
    """ROC and PRC of hard labels, as the papers compute them, or weighted F1."""
    truth, hard = prediction.truth, prediction.hard
    if plan.positive is None:
        return {"f1": round(float(f1_score(truth, hard, average="weighted")), 4)}
    place = _code(split, plan.positive)
    truth, hard = truth == place, hard == place
    return {
        "roc": round(float(roc_auc_score(truth, hard)), 4),
        "prc": round(float(average_precision_score(truth, hard)), 4),
    }


def statistics(split: Split, rows: pa.Table, seed: int) -> dict[str, float]:
    """PEARL's three distances between the fitted rows and the synthetic ones."""
    names = list(STATISTICS)
    evaluation = evaluate(
        split.train, rows, split.schema, test=split.test, metrics=names, seed=seed, jobs=1
    )
    return {s.metric: float(s.value) for s in evaluation.results if s.metric in names}


def _classes(split: Split) -> int:
    layout = split.schema.layout
    return layout.codes[layout.code(split.schema.label or "")].size


def _code(split: Split, value: str) -> int:
    """The code of a label value."""
    schema = split.schema.select([split.schema.label or ""])
    row = schema.encode(pa.table({schema.names[0]: pa.array([value])}))
    return int(np.asarray(row.codes)[0, 0])
