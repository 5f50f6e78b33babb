"""Are synthetic rows closer to the rows they were made from than to rows never seen?"""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.metrics.closest_record import ROWS, nearest
from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import DISTANCE_ROWS, TableComparison


def compute(comparison: TableComparison) -> Iterator[Value]:
    """Ties count half; both sides have the same number of rows, so 1/2 means no difference."""
    rng = comparison.rng("closer-to-training")
    size = min(len(comparison.train), len(comparison.test), DISTANCE_ROWS)
    rows = comparison.synthetic.sample(ROWS, rng)
    to_train = nearest(comparison, rows, comparison.train.sample(size, rng))
    to_test = nearest(comparison, rows, comparison.test.sample(size, rng))
    closer = np.where(np.isclose(to_train, to_test, atol=1e-5), 0.5, to_train < to_test)
    yield Value("", float(closer.mean()), float(closer.std() / np.sqrt(len(closer))))


METRIC = Metric(
    name="closer-to-training",
    title="Closer to training rows",
    group="privacy",
    goal="lower",
    low=0,
    high=1,
    meaning="The share of synthetic rows that are closer to a training row than to any of as many "
    "unseen real rows; 0.5 if nothing was memorized.",
    compute=compute,
    needs=frozenset({"test"}),
)
