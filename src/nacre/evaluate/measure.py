"""The metrics that can be computed of some tables, and their scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from nacre.evaluate.scores.metric import Metric, scores_of
from nacre.evaluate.scores.references import References
from nacre.evaluate.scores.score import Score
from nacre.evaluate.tables.comparison import TableComparison

Progress = Callable[[str, float | None], None]


def lacking(metric: Metric, comparison: TableComparison) -> set[str]:
    """What a metric needs and the tables do not have."""
    met = {
        "label": comparison.label is not None,
        "classes": comparison.classes is not None,
        "number": comparison.label is not None and comparison.classes is None,
        "binary": comparison.classes == 2,
        "test": comparison.tested,
        "amount": any(map(comparison.real.is_number, comparison.real.names)),
    }
    return {need for need in metric.needs if not met[need]}


def measure(
    metrics: Sequence[Metric],
    comparisons: Mapping[str, TableComparison],
    report: Callable[[str, float | None], None],
) -> list[Score]:
    """Every metric of every table, each beside its reference."""
    references = References()
    results: list[Score] = []
    steps = [(metric, table) for metric in metrics for table in comparisons]
    for step, (metric, table) in enumerate(steps):
        report("evaluating", step / len(steps))
        comparison = comparisons[table]
        reference = references.of(metric, comparison)
        results += scores_of(metric, table, metric.compute(comparison), reference)
    report("evaluating", 1.0)
    return results


def averaged(metric: Metric, results: Sequence[Score]) -> Metric:
    """The metric, its meaning saying of which models the overall score is the mean."""
    models = dict.fromkeys(str(s.part) for s in results if s.metric == metric.name and s.part)
    if metric.group != "usefulness" or len(models) < 2:
        return metric
    names = f": {', '.join(models)}" if len(models) <= 3 else ""
    said = f"{metric.meaning} Here the mean of {len(models)} models{names}."
    return dataclasses.replace(metric, meaning=said)
