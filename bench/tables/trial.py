"""One result: a method fitted to one cut of one table, and what classifiers make of its rows."""

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from bench.protocol import Split, features
from bench.tables.plans import PLANS, Plan, read
from bench.tables.runs import REAL, Run
from bench.variants import variants
from nacre.evaluate.run import evaluate
from nacre.evaluate.tables.classifiers import Prediction, predict_all
from nacre.fit import fit
from nacre.methods import AbstractMethod
from nacre.methods.settings import as_data


def measure(run: Run, classifiers: Sequence[str], jobs: int = 1) -> dict[str, Any]:
    """Cut the table by the seed, fit, draw as many rows as were fitted, score."""
    plan, split = PLANS[run.dataset], read(run.dataset, run.seed)
    found: dict[str, Any] = {"dataset": run.dataset, "variant": run.variant, "seed": run.seed}
    found["rows"] = {"fitted": split.train.num_rows, "scored": split.test.num_rows}
    start = time.process_time()
    rows = split.train
    if run.variant != REAL:
        method = variants()[run.variant].make(run.settings)
        found |= {"guarantee": run.guarantee, "changed": dict(run.settings)}
        found["settings"] = as_data(method)
        rows = synthesize(method, run, split)
    found["fit_seconds"] = round(time.process_time() - start, 1)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predictions = learn(plan, split, rows, classifiers, run.seed, jobs)
        found["scores"] = {p.model: score(plan, split, p) for p in predictions}
        if run.metrics:
            found["statistics"] = statistics(split, rows, run)
    found["problems"] = {p.model: p.problem for p in predictions if p.problem}
    found["score_seconds"] = round(time.process_time() - start, 1)
    return found


def synthesize(method: AbstractMethod, run: Run, split: Split) -> pa.Table:
    """As many synthetic rows as there are rows to fit."""
    model = fit(
        split.train,
        split.schema,
        method=method,
        epsilon=run.epsilon,
        delta=run.delta,
        adjacency=run.adjacency,
        seed=run.seed,
    )
    return model.sample_arrow(split.train.num_rows, seed=run.seed)


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
    """Accuracy; ROC and PRC of hard labels, as the papers compute them, or weighted F1."""
    truth, hard = prediction.truth, prediction.hard
    found = {"accuracy": float(np.mean(truth == hard))}
    if plan.positive is None:
        found["f1"] = float(f1_score(truth, hard, average="weighted"))
    else:
        place = _code(split, plan.positive)
        found["roc"] = float(roc_auc_score(truth == place, hard == place))
        found["prc"] = float(average_precision_score(truth == place, hard == place))
    return {name: round(value, 4) for name, value in found.items()}


def statistics(split: Split, rows: pa.Table, run: Run) -> dict[str, float]:
    """The run's metrics of the synthetic rows, beside the fitted ones."""
    evaluation = evaluate(
        split.train,
        rows,
        split.schema,
        test=split.test,
        metrics=list(run.metrics),
        seed=run.seed,
        jobs=1,
    )
    return {s.metric: float(s.value) for s in evaluation.results if s.metric in run.metrics}


def _classes(split: Split) -> int:
    layout = split.schema.layout
    return layout.codes[layout.code(split.schema.label or "")].size


def _code(split: Split, value: str) -> int:
    """The code of a label value."""
    schema = split.schema.select([split.schema.label or ""])
    row = schema.encode(pa.table({schema.names[0]: pa.array([value])}))
    return int(np.asarray(row.codes)[0, 0])
