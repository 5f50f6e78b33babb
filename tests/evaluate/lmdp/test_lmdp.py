"""α-LMDP: the tests have their level and their power, and the report promises no more."""

import json

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import kstest
from sklearn.metrics.pairwise import rbf_kernel

import nacre
from nacre.evaluate import evaluate
from nacre.evaluate.lmdp.stein import ksd_normalized
from nacre.evaluate.lmdp.two_sample import mmd_test
from nacre.evaluate.metrics.mmd import squared_mmd
from nacre.evaluate.report.chapters import hidden
from nacre.report.builder import fill
from nacre.vault import Hidden


def normal_score(x):
    return -x


def test_mmd_is_the_metrics_own():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 2)), rng.normal(0.5, 1, (30, 2))
    assert mmd_test(x, y, rng=rng, bandwidth=1.2)[0] == pytest.approx(squared_mmd(x, y, 1.2))


def test_p_is_that_of_permutations_made_by_hand():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12, 1)), rng.normal(0.6, 1, (10, 1))
    pooled = np.concatenate([x, y])
    k = rbf_kernel(pooled, gamma=0.5)

    def statistic(order):
        a, b = order[:12], order[12:]
        inner = [(k[np.ix_(s, s)].sum() - len(s)) / len(s) / (len(s) - 1) for s in (a, b)]
        return sum(inner) - 2 * k[np.ix_(a, b)].mean()

    drawn = [statistic(rng.permutation(22)) for _ in range(4000)]
    expected = np.mean(np.array(drawn) >= statistic(np.arange(22)))
    found = mmd_test(x, y, rng=rng, bandwidth=1.0, permutations=4000)[1]
    assert found == pytest.approx(expected, abs=0.03)


def test_under_the_null_p_is_uniform():
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
        found.append(mmd_test(x, y, rng=rng, permutations=99)[1])
    assert kstest(found, "uniform").pvalue > 0.01
    assert np.mean(np.array(found) <= 0.05) < 0.11


def test_a_shift_is_rejected():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 2)), rng.normal(0.7, 1, (200, 2))
    assert mmd_test(x, y, rng=rng, permutations=199)[1] == pytest.approx(1 / 200)


def test_a_table_is_not_told_from_itself():
    x = np.random.default_rng(0).normal(size=(50, 2))
    assert mmd_test(x, x, rng=np.random.default_rng(1), permutations=99)[1] > 0.5


@pytest.mark.parametrize(
    "call",
    [
        lambda: mmd_test(np.zeros((1, 2)), np.zeros((5, 2)), rng=None),
        lambda: ksd_normalized(np.zeros((3, 1)), normal_score),
    ],
)
def test_too_few_rows_say_so(call):
    with pytest.raises(ValueError, match="rows are needed"):
        call()


def test_report_is_satisfied_only_where_samples_differ(real, good, schema):
    shifted = good.assign(age=np.clip(good["age"] + 25, 17, 90))
    report = nacre.lmdp_report(
        shifted, real, schema, columns=[["age", "wage"], ["sex"]], alpha=[0.05, 0.001], seed=1
    )
    first, second = report.tests
    assert first.lmdp_satisfied and not second.lmdp_satisfied
    assert (first.alpha, second.alpha) == (0.05, 0.001)
    assert not report.lmdp_satisfied
    assert "no differential privacy" in str(report)
    assert "age, wage: α-LMDP satisfied" in str(report)
    assert json.loads(json.dumps(report.to_dict()))["tests"][0]["lmdp_satisfied"] is True


def test_a_stein_test_that_rejects_is_not_enough(real, good, schema):
    # The energy is far from the data, the samples are not: nothing is hidden.
    report = nacre.lmdp_report(
        good, real, schema, columns=["size"], scores=[lambda x: -(x - 5.0) * 10]
    )
    assert report.tests[0].density.stein_p < 1e-6
    assert not report.lmdp_satisfied


def test_a_model_is_sampled(real, schema):
    class Model:
        def __init__(self):
            self.schema = schema

        def sample_arrow(self, rows, seed=None):
            import pyarrow as pa

            return pa.Table.from_pandas(real.head(rows).assign(sex="Male"), preserve_index=False)

    assert nacre.lmdp_report(Model(), real, columns="sex").lmdp_satisfied


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": ["salary"]}, "Not columns of the schema: salary"),
        ({"columns": []}, "is empty"),
        ({"columns": [["age"], []]}, "is empty"),
        ({"alpha": 2}, "strictly between 0 and 1"),
        ({"columns": [["age"], ["sex"]], "alpha": [0.05]}, "1 levels were given for 2 sets"),
        ({"schema": None}, "No schema"),
        ({"scores": [None, None]}, "2 scores were given for 1 sets"),
    ],
)
def test_wrong_requests(change, message, real, good, schema):
    asked = {"schema": schema, "columns": ["age"], **change}
    with pytest.raises(ValueError, match=message):
        nacre.lmdp_report(good, real, asked.pop("schema"), **asked)


def test_the_evaluation_shows_it_when_asked(real, good, schema):
    found = evaluate(real, good, schema, metrics=["tv1"], lmdp={("age", "sex"): 0.1, "job": 0.01})
    tests = found.lmdp["synthetic"].tests
    assert [(t.columns, t.alpha) for t in tests] == [(("age", "sex"), 0.1), (("job",), 0.01)]
    assert "no differential privacy" in found.summary()
    assert json.loads(found.to_json())["lmdp"]["synthetic"]["lmdp_satisfied"] is False
    page = fill("hidden.html", view=hidden(found))
    assert "is itself a secret" in page and "no differential privacy" in page
    assert "not satisfied" in page
    assert page.count("<figure>") == 3  # a density for each of the columns


def test_the_evaluation_tests_what_a_guarantee_says_was_hidden(real, good, schema):
    hides = (Hidden(("age", "sex"), 0.02),)
    guarantee = nacre.Guarantee(
        epsilon=float("inf"), delta=1.0, adjacency=nacre.Adjacency.ADD_REMOVE, hidden=hides
    )
    found = evaluate(real, good, schema, metrics=["tv1"], guarantee=guarantee)
    (test,) = found.lmdp["synthetic"].tests
    assert (test.columns, test.alpha) == (("age", "sex"), 0.02)
    assert "Hidden columns" in found.to_html()


def test_a_column_of_many_values_drawn_from_the_real_law_does_not_satisfy():
    values = [f"v{i}" for i in range(1000)]
    schema = nacre.Schema({"c": nacre.Categorical(values=values)})
    rng = np.random.default_rng(0)
    rejected = 0
    for seed in range(20):
        real, same = (pa.table({"c": rng.choice(values, 400)}) for _ in range(2))
        found = nacre.lmdp_report(same, real, schema, columns=["c"], permutations=99, seed=seed)
        rejected += found.tests[0].mmd_p <= 0.05
    assert rejected <= 4
