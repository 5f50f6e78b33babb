"""Marginals and associations against pandas, SciPy and hand calculation."""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats.contingency import association

from nacre.evaluate.metrics import METRICS, range_queries
from nacre.evaluate.metrics.small_groups import BANDS
from nacre.evaluate.metrics.three_way import mean_and_error
from nacre.evaluate.metrics.three_way_100 import BINS, bin_by_real
from nacre.evaluate.tables import cells
from nacre.evaluate.tables.randomness import generator
from nacre.evaluate.tables.reading import read
from nacre.evaluate.tables.rows import Coded
from nacre.schema import Categorical, Integer, Schema


def values(name, comparison):
    return {str(v.part): v for v in METRICS[name].compute(comparison)}


def codes_of(rows):
    return pd.DataFrame({n: c.codes for n, c in zip(rows.names, rows.binned, strict=True)})


def by_pandas(comparison, columns):
    p, q = (
        codes_of(rows).value_counts(subset=list(columns), normalize=True)
        for rows in (comparison.real, comparison.synthetic)
    )
    return p.sub(q, fill_value=0).abs().sum() / 2


@pytest.mark.parametrize(("metric", "ways"), [("tv1", 1), ("tv2", 2), ("tv3", 3)])
def test_total_variation_is_pandas(metric, ways, comparison):
    found = values(metric, comparison)
    combinations = list(itertools.combinations(comparison.real.names, ways))
    expected = {" × ".join(c): by_pandas(comparison, c) for c in combinations}
    assert found[""].value == pytest.approx(np.mean(list(expected.values())))
    for part in set(found) - {""}:
        assert found[part].value == pytest.approx(expected[part])
    if ways < 3:
        assert set(found) == {"", *expected}


def test_marginal_l1_is_twice_the_total_variation(comparison):
    l1, tv = values("marginal-l1", comparison)[""], values("tv2", comparison)[""]
    assert l1.value == pytest.approx(2 * tv.value)


def test_a_table_is_at_distance_zero_from_itself(compare, real):
    same = compare(real, real)
    for metric in ("tv1", "tv2", "tv3", "association", "marginal-l1", "three-way-100"):
        assert values(metric, same)[""].value == 0, metric
    assert values("range-queries", compare(real, real))[""].value == 0
    assert values("coverage", same)[""].value == 1


def test_by_hand():
    schema = Schema({"a": Categorical(values=["x", "y"]), "b": Categorical(values=["u", "v"])})
    real = pa.table({"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"]})
    synthetic = pa.table({"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", "v"]})
    p, q = (read(t, schema, "t") for t in (real, synthetic))
    # Single columns agree; jointly the real quarter each, against two halves.
    assert [cells.total_variation(*b) for b in zip(p.binned, q.binned, strict=True)] == [0, 0]
    assert cells.total_variation(cells.joint(p.binned), cells.joint(q.binned)) == 0.5
    table = cells.shares(cells.joint(p.binned), cells.joint(q.binned))
    assert cells.cramers_v(table[0], table[1], (2, 2), 4) == 0
    assert cells.cramers_v(table[0], table[2], (2, 2), 4) == pytest.approx(1)


def test_sorting_and_counting_agree(monkeypatch):
    rng = np.random.default_rng(0)
    real, synthetic = (Coded(rng.integers(0, 500, n), 500) for n in (1000, 700))
    dense = cells.total_variation(real, synthetic)
    monkeypatch.setattr(cells, "DENSE", 10)
    assert cells.total_variation(real, synthetic) == pytest.approx(dense)


def test_joint_codes_do_not_overflow():
    wide = Coded(np.array([9_999], np.uint16), 10_000)
    assert cells.joint([wide, wide, wide]).codes.tolist() == [10**12 - 1]
    narrow = Coded(np.array([255], np.uint8), 256)
    assert cells.joint([narrow, narrow]).codes.tolist() == [65_535]


def by_bergsma(table):
    """Bergsma's V by his formulas, from SciPy's V, which is not corrected."""
    n, (r, c) = table.sum(), table.shape
    squared = association(table, method="cramer", correction=False) ** 2 * (min(r, c) - 1)
    phi = max(squared - (r - 1) * (c - 1) / (n - 1), 0)
    sizes = [size - (size - 1) ** 2 / (n - 1) for size in (r, c)]
    return np.sqrt(phi / (min(sizes) - 1))


def test_association_is_scipys_and_pandas(comparison, real):
    pairs = comparison.pairs
    names = list(pairs.names)
    codes = codes_of(comparison.real)
    for first, second in (("sex", "job"), ("degree", "income"), ("age", "income")):
        table = pd.crosstab(codes[first], codes[second]).to_numpy()
        found = pairs.real[names.index(first), names.index(second)]
        assert found == pytest.approx(by_bergsma(table))
    expected = real[["age", "wage", "size"]].corr().loc["age", "wage"]
    found = pairs.real[names.index("age"), names.index("wage")]
    assert found == pytest.approx(expected, abs=1e-5)


def test_correlation_is_pandas_with_and_without_missing_values(compare, real):
    for frame in (real, real.dropna(subset=["wage"])):
        pairs = compare(frame, frame).pairs
        names = ["age", "wage", "size"]
        places = [pairs.names.index(name) for name in names]
        found = pairs.real[np.ix_(places, places)]
        assert found == pytest.approx(frame[names].corr().to_numpy(), abs=1e-5)


def test_broken_links_are_seen(comparison):
    found = values("association", comparison)
    assert found["age × wage"].value > 0.5
    assert found["size × sex"].value < 0.2


def test_a_constant_column_has_no_association(compare, real):
    constant = real.assign(age=40, sex="Male")
    pairs = compare(constant, constant).pairs
    for name in ("age", "sex"):
        row = np.delete(pairs.real[pairs.names.index(name)], pairs.names.index(name))
        assert np.allclose(row, 0)


def test_three_way_100_follows_the_paper():
    schema = Schema({"x": Integer(low=-1000, high=1000)})
    real = pa.table({"x": [0, 1, 50, 99, 100]})
    synthetic = pa.table({"x": [-7, 0, 99, 100, 250]})
    first, second = bin_by_real(*(read(t, schema, "t") for t in (real, synthetic)), "x")
    assert first.codes.tolist() == [1, 2, 51, 100, 101]
    assert second.codes.tolist() == [0, 1, 100, 101, 102]


def test_coverage_counts_values(compare, real):
    synthetic = real[real["job"] != "a"]
    found = values("coverage", compare(real, synthetic))
    assert found["job"].value == pytest.approx(4 / 5)
    assert found["sex"].value == 1


def test_small_groups_by_hand():
    schema = Schema({"a": Categorical(values=["x", "y"]), "b": Categorical(values=["u"])})
    table = {"a": ["x"] * 80 + ["y"] * 20, "b": ["u"] * 100}
    wrong = {"a": ["x"] * 60 + ["y"] * 40, "b": ["u"] * 100}
    rows = [read(pa.table(t), schema, "t") for t in (table, wrong)]

    class Two:
        real, synthetic = rows

        @staticmethod
        def rng(purpose):
            return np.random.default_rng(0)

    found = {str(v.part): v.value for v in METRICS["small-groups"].compute(Two())}
    # Both groups have more than a tenth of the rows: errors 20/80 and 20/20, median 0.625.
    assert found == {"10% to 100% of rows": pytest.approx(0.625)}
    assert BANDS[-1].high == 1.0


def test_error_of_a_sample_has_the_finite_correction():
    sample = [0.0, 1.0, 2.0, 3.0]
    mean, error = mean_and_error(sample, 8)
    assert mean == 1.5
    assert error == pytest.approx(np.std(sample, ddof=1) / 2 * np.sqrt(0.5))
    assert mean_and_error(sample, 4) == (1.5, None)


def test_range_queries_on_one_changed_column(compare, real):
    # Moving every row of one column out of a query's reach changes at most that query's share.
    found = values("range-queries", compare(real, real.assign(age=17)))[""]
    assert 0.01 < found.value < 0.5
    assert 0 < found.error < 0.02


def test_three_way_100_is_numpys_histogram(compare):
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
    assert values("three-way-100", comparison)[""].value == pytest.approx(
        np.abs(shares[0] - shares[1]).sum()
    )


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
    monkeypatch.setattr(range_queries, "QUERIES", 60)
    found = values("range-queries", comparison)[""].value
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
