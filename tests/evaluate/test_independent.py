"""Metrics against computations that share no code with them: pandas, SciPy, scikit-learn."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from nacre.evaluate.metrics import METRICS, dimension_prediction, range_queries
from nacre.evaluate.metrics.three_way_100 import BINS
from nacre.evaluate.metrics.wasserstein import wasserstein2
from nacre.evaluate.tables.randomness import generator
from nacre.schema import Categorical, Integer, Schema


def whole(name, comparison):
    return next(iter(METRICS[name].compute(comparison))).value


def test_w2_is_the_linear_program_of_transport():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(15, 3)), rng.normal(0.5, 1, (15, 3))
    cost = cdist(x, y, "sqeuclidean")
    # A plan with uniform marginals: all couplings, not just matchings.
    rows, columns = np.kron(np.eye(15), np.ones(15)), np.kron(np.ones(15), np.eye(15))
    plan = linprog(
        cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.full(30, 1 / 15), method="highs"
    )
    assert wasserstein2(x, y) == pytest.approx(np.sqrt(plan.fun))


def test_three_way_100_is_numpys_histogram(compare, make_frame):
    schema = Schema({c: Integer(low=-1000, high=1000) for c in "abc"})
    rng = np.random.default_rng(0)
    real, synthetic = (
        pd.DataFrame(rng.normal(m, 60, (400, 3)).astype(int), columns=list("abc")) for m in (0, 20)
    )
    comparison = compare(real, synthetic, test=real, schema=schema, label=None)
    shares = []
    for frame in (real, synthetic):
        codes = [
            np.clip(np.floor(BINS * (frame[c] - real[c].min()) / np.ptp(real[c])), -1, BINS + 1)
            for c in "abc"
        ]
        edges = [np.arange(-1.5, BINS + 2)] * 3
        shares.append(np.histogramdd(np.column_stack(codes), bins=edges)[0] / len(frame))
    assert whole("three-way-100", comparison) == pytest.approx(np.abs(shares[0] - shares[1]).sum())


def test_range_queries_are_pandas_conditions(compare, monkeypatch):
    schema = Schema(
        {
            "a": Integer(low=0, high=9),
            "b": Integer(low=0, high=9),
            "c": Categorical(values=list("xyz")),
        }
    )
    rng = np.random.default_rng(0)

    def frame(n, top):
        return pd.DataFrame(
            {
                "a": rng.integers(0, top, n),
                "b": rng.integers(0, 10, n),
                "c": rng.choice(list("xyz"), n),
            }
        )

    real, synthetic = frame(300, 10), frame(200, 7)
    comparison = compare(real, synthetic, test=real, schema=schema, label=None)
    asked = []
    original = range_queries.random_range

    def listen(size, ordered, rng):
        asked.append(original(size, ordered, rng))
        return asked[-1]

    monkeypatch.setattr(range_queries, "random_range", listen)
    found = whole("range-queries", comparison)
    order = generator(0, "range-queries")
    errors = []
    for query in range(range_queries.QUERIES):
        columns = order.choice(3, 3, replace=False)
        conditions = dict(zip(columns, asked[3 * query : 3 * query + 3], strict=True))
        share = []
        for table in (real, synthetic):
            coded = table.assign(c=table["c"].map({"x": 0, "y": 1, "z": 2}))
            hit = np.ones(len(table), bool)
            for i, admitted in conditions.items():
                hit &= coded.iloc[:, i].isin(np.flatnonzero(admitted)).to_numpy()
            share.append(hit.mean())
        errors.append(abs(share[0] - share[1]))
        for i in columns:  # the same draws, to stay in step with the metric's own generator
            original(3 if i == 2 else 10, i != 2, order)
    assert found == pytest.approx(np.mean(errors))


def test_closest_record_is_scipys_median(compare, real, good):
    comparison = compare(real.head(300), good.head(200))
    one = np.sqrt(0.5)
    matrices = [
        comparison.features.matrix(rows, one).astype(float)
        for rows in (comparison.synthetic, comparison.train)
    ]
    nearest = cdist(*matrices).min(axis=1)
    found = {str(v.part): v.value for v in METRICS["closest-record"].compute(comparison)}
    assert found[""] == pytest.approx(np.median(nearest), abs=1e-4)
    assert found["closest 5%"] == pytest.approx(np.quantile(nearest, 0.05), abs=1e-4)


def test_closer_to_training_is_scipys(compare, real, good, held):
    comparison = compare(real.head(200), good.head(150), test=held.head(200))
    synthetic, train, test = (
        comparison.features.matrix(rows, np.sqrt(0.5)).astype(float)
        for rows in (comparison.synthetic, comparison.train, comparison.test)
    )
    to_train, to_test = (cdist(synthetic, m).min(axis=1) for m in (train, test))
    assert whole("closer-to-training", comparison) == pytest.approx(np.mean(to_train < to_test))


def test_copies_are_pandas_duplicates(compare, real, good):
    columns = ["sex", "degree", "member", "income", "job"]
    schema = Schema({c: compare(real, good).real.schema.columns[c] for c in columns})
    few, many = real[columns].head(40), good[columns].head(500)
    comparison = compare(few, many, test=few, schema=schema, label=None)
    # A job that is not listed is 'other'.
    known = {tuple(r) for r in few.fillna("-").replace("x", "other").to_numpy()}
    expected = np.mean(
        [tuple(r) in known for r in many.fillna("-").replace("x", "other").to_numpy()]
    )
    assert 0 < expected < 1
    assert whole("copies", comparison) == pytest.approx(expected)


def test_coverage_and_small_groups_are_pandas(compare, real, good):
    columns = ["sex", "degree", "member"]
    schema = Schema({c: compare(real, good).real.schema.columns[c] for c in columns})
    one, other = real[columns], good[columns].head(400)
    comparison = compare(one, other, test=one, schema=schema, label=None)
    seen = [other[c].nunique() / one[c].nunique() for c in columns]
    found = {str(v.part): v.value for v in METRICS["coverage"].compute(comparison)}
    assert [found[c] for c in columns] == pytest.approx(seen)
    errors = []
    for pair in itertools.combinations(columns, 2):
        p, q = (t.value_counts(list(pair), normalize=True) for t in (one, other))
        p = p[(p >= 0.1) & (p < 1)]
        errors += list((q.reindex(p.index).fillna(0) - p).abs() / p)
    found = {str(v.part): v.value for v in METRICS["small-groups"].compute(comparison)}
    assert found["10% to 100% of rows"] == pytest.approx(np.median(errors))


def test_dimension_probability_is_pandas(compare, real, broken):
    schema = compare(real, broken).real.schema
    changed = broken.assign(degree="low")
    comparison = compare(real, changed)
    gaps = []
    for column in ("sex", "job", "degree", "member", "income"):
        p, q = (
            t[column]
            .fillna("missing")
            .replace("x", "other")
            .astype(str)
            .value_counts(normalize=True)
            for t in (real, changed)
        )
        size = comparison.real.bin(column).size
        gap = p.sub(q, fill_value=0).abs()
        # Of two values one is counted; of more, each, also those that never occur.
        gaps += [gap.iloc[0]] if size == 2 else [*gap, *[0.0] * (size - len(gap))]
    assert schema.names == tuple(real.columns)
    assert whole("dimension-probability", comparison) == pytest.approx(np.mean(gaps))


def test_dimension_prediction_is_a_forest_of_sklearns(compare, real, good, held):
    columns = ["age", "sex", "income"]
    schema = Schema({c: compare(real, good).real.schema.columns[c] for c in columns})
    comparison = compare(
        real[columns], good[columns].head(500), test=held[columns], schema=schema, label=None
    )

    def features(frame):
        age = (frame["age"].to_numpy() - 17) / 73
        hot = [frame["sex"] == value for value in ("Female", "Male")]
        return np.column_stack([age, *hot]).astype(np.float32)

    forest = RandomForestClassifier(n_estimators=50, max_depth=14, random_state=0)
    forest.fit(features(good.head(500)), good["income"].head(500) == ">50K")
    chance = forest.predict_proba(features(held))[:, 1]
    found = dimension_prediction.goodness(comparison.synthetic, comparison.test, "income", 0)
    assert found == pytest.approx(roc_auc_score(held["income"] == ">50K", chance), abs=0.01)
