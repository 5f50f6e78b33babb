"""How Adult is split and scored: the papers' way and the official way.

Papers (DP-MERF, PEARL): 22,561 of the official training rows (seeded), all 14 features, each
negative kept with probability 0.4, 90/10 split; replace-one, delta 1e-5; as many synthetic rows as
training rows; ROC and PRC of *hard* labels, averaged over classifiers.
Official: 32,561 / 16,281 rows, fnlwgt dropped; add-remove; AUC from scores.
"""

import dataclasses

import numpy as np
import pyarrow as pa
from sklearn.metrics import average_precision_score, roc_auc_score

from nacre.datasets import adult, adult_schema
from nacre.evaluate.tables.classifiers import available, make
from nacre.schema import Schema


@dataclasses.dataclass(frozen=True)
class Split:
    """A table to fit and one to score on."""

    train: pa.Table
    test: pa.Table
    schema: Schema


def papers_split(seed: int) -> Split:
    """The papers' protocol."""
    rng = np.random.default_rng(seed)
    table = adult().train
    table = table.take(rng.permutation(table.num_rows)[:22_561])
    negative = np.asarray(table["income"]) == "<=50K"
    table = table.filter(pa.array(~negative | (rng.random(table.num_rows) < 0.4)))
    order = rng.permutation(table.num_rows)
    cut = int(0.9 * len(order))
    return Split(table.take(order[:cut]), table.take(order[cut:]), adult_schema())


def official_split() -> Split:
    """The official protocol."""
    schema = adult_schema()
    schema = schema.select([name for name in schema.names if name != "fnlwgt"])
    data = adult()
    names = list(schema.names)
    return Split(data.train.select(names), data.test.select(names), schema)


def features(table: pa.Table, schema: Schema) -> tuple[np.ndarray, np.ndarray]:
    """Numbers in [0, 1] and one-hot codes, and the label's codes."""
    encoded = schema.encode(table)
    label = schema.layout.code(schema.label or "")
    hot = [
        np.eye(code.size, dtype=np.float32)[encoded.codes[:, place]]
        for place, code in enumerate(schema.layout.codes)
        if place != label
    ]
    x = np.concatenate([encoded.units().astype(np.float32), *hot], axis=1)
    return x, encoded.codes[:, label]


def hard_scores(
    train: pa.Table, split: Split, names: tuple[str, ...], seed: int
) -> dict[str, tuple[float, float]]:
    """ROC and PRC of hard predictions by classifier, as the papers compute them."""
    x, y = features(train, split.schema)
    x_test, y_test = features(split.test, split.schema)
    found = {}
    for name in available(names):
        hard = make(name, seed=seed).fit(x, y).predict(x_test)
        roc, prc = roc_auc_score(y_test, hard), average_precision_score(y_test, hard)
        found[name] = float(roc), float(prc)
    return found


def auc(train: pa.Table, split: Split, name: str, seed: int) -> float:
    """AUC from probabilities."""
    x, y = features(train, split.schema)
    x_test, y_test = features(split.test, split.schema)
    model = make(name, seed=seed).fit(x, y)
    return float(roc_auc_score(y_test, model.predict_proba(x_test)[:, 1]))
