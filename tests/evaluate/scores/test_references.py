"""The column of real data: what a perfect table of the same size would score."""

import pytest

from nacre.evaluate import METRICS, evaluate
from nacre.evaluate.scores.references import References, _power

FRESH = [name for name, metric in METRICS.items() if metric.reference == "fresh"]


@pytest.mark.parametrize(("rows", "synthetic"), [(4000, 4000), (4000, 1000), (2000, 8000)])
def test_fresh_rows_score_what_the_reference_says(rows, synthetic, make_frame, schema):
    # A perfect table is fresh rows; larger, equal or smaller than the real one.
    names = ["tv1", "tv2", "tv3", "marginal-l1", "three-way-100"]
    found = [
        evaluate(
            make_frame(rows, seed=s), make_frame(synthetic, seed=s + 50), schema, metrics=names
        )
        for s in range(6)
    ]
    for name in names:
        value, reference = (
            sum(getattr(f.score(name), kind) for f in found) / 6 for kind in ("value", "reference")
        )
        assert value == pytest.approx(reference, rel=0.15), name


def test_every_metric_of_counts_has_such_a_reference(compare, real, good):
    assert {"tv1", "tv2", "tv3", "coverage", "association", "small-groups"} <= set(FRESH)
    comparison, references = compare(real, good), References()
    for name in FRESH:
        found = references.of(METRICS[name], comparison)
        parts = {value.part for value in METRICS[name].compute(comparison)}
        assert "" in found and parts & set(found) == parts, name
        assert METRICS[name].low <= found[""] <= METRICS[name].high


def test_more_rows_leave_less_to_chance(compare, real, make_frame):
    references = References()
    few, many = (compare(real, make_frame(n, seed=9)) for n in (300, 20_000))
    for name in ("tv1", "tv2", "small-groups"):
        metric = METRICS[name]
        assert references.of(metric, many)[""] < 0.7 * references.of(metric, few)[""]


def test_a_reference_is_computed_once(compare, real, good):
    calls = []

    class Counted(References):
        def _expected(self, metric, comparison):
            calls.append(metric.name)
            return super()._expected(metric, comparison)

    references, comparison = Counted(), compare(real, good)
    first, second = (references.of(METRICS["tv1"], comparison) for _ in range(2))
    assert first == second
    assert calls == ["tv1"]


def test_few_rows_are_enough(make_frame, schema):
    found = evaluate(make_frame(12), make_frame(11, seed=1), schema, metrics=["tv1", "coverage"])
    assert 0 < found.score("tv1").reference < 1


@pytest.mark.parametrize(
    ("whole", "halves", "power"),
    [(1.0, [2**0.5], 0.5), (1.0, [1.0], 0.0), (1.0, [9.0], 0.5), (0.0, [1.0], 0.5), (1.0, [], 0.5)],
)
def test_how_chance_falls_with_size(whole, halves, power):
    assert _power(whole, halves) == pytest.approx(power)


def test_wasserstein_compares_equal_numbers(compare, make_frame, real, good):
    # With fewer rows W2 is larger: 60 test rows against 800 synthetic ones would look worse.
    comparison = compare(real, good, test=make_frame(60, seed=8))
    metric = METRICS["w2"]
    value = next(iter(metric.compute(comparison))).value
    assert value == pytest.approx(References().of(metric, comparison)[""], rel=0.1)
