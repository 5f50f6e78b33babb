"""R² of regressions: train on synthetic, test on real."""

from collections.abc import Iterator

from nacre.evaluate.metrics.auc import per_model
from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.extras import require


def compute(comparison: TableComparison) -> Iterator[Value]:
    """Of the label, for each of the regressions."""
    score = require("sklearn.metrics").r2_score
    return per_model(
        comparison,
        lambda p: float(score(p.truth, p.hard)) if len(p.truth) > 1 else float("nan"),
    )


METRIC = Metric(
    name="r2",
    title="R²",
    group="usefulness",
    goal="higher",
    low=-float("inf"),
    high=1,
    meaning="The share of the label's variance among held-out real rows that a regression trained "
    "on the synthetic table explains.",
    compute=compute,
    needs=frozenset({"label", "number"}),
    reference="real-trained",
    quick=True,
)
