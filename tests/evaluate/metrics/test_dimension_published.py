"""Dimension-wise prediction as DP-auto-GAN scores it, against scikit-learn by hand."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from nacre.evaluate.metrics import METRICS
from nacre.schema import Boolean, Schema

NAMES = list("abcde")


def flags(rows, seed, constant=()):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(rows, 1))
    found = shared + rng.normal(size=(rows, len(NAMES))) > np.array([0, 1, -1, 0.5, 1.5])
    for name in constant:
        found[:, NAMES.index(name)] = False
    return found


def compared(compare, train, test):
    schema = Schema({name: Boolean() for name in NAMES})
    tables = [pa.table(list(table.T), names=NAMES) for table in (test, train, test)]
    comparison = compare(*tables, schema=schema, label=None)
    values = METRICS["dimension-prediction-published"].compute(comparison)
    return {str(value.part): value.value for value in values}


# Column c is mostly true, so that its rarer value is the other one: the coding must not matter.
def test_two_valued_columns_by_logistic_regression(compare):
    train, test = flags(400, 0), flags(300, 1)
    found = compared(compare, train, test)
    for place, name in enumerate(NAMES):
        x, unseen = (np.delete(table, place, axis=1) for table in (train, test))
        model = LogisticRegression(max_iter=5000, tol=1e-10).fit(x, train[:, place])
        expected = roc_auc_score(test[:, place], model.decision_function(unseen))
        assert found[name] == pytest.approx(expected, abs=1e-9)
    assert found[""] == pytest.approx(np.mean([found[name] for name in NAMES]))


def test_a_column_that_teaches_nothing_is_left_out(compare):
    found = compared(compare, flags(200, 0, constant="bd"), flags(200, 1))
    assert set(found) == {"", "a", "c", "e"}


def test_mixed_tables_by_trees_and_the_lasso(compare, real, broken, good):
    values = [
        {str(v.part): v.value for v in METRICS["dimension-prediction-published"].compute(c)}
        for c in (compare(real, good), compare(real, broken))
    ]
    kept, lost = values
    assert kept["wage"] > 0.5 > lost["wage"] and kept["income"] > 0.7 > lost["income"]
    assert kept[""] > lost[""]
