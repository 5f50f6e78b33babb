"""Distance to the closest record: are synthetic rows nearer to real ones than strangers are?"""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import DISTANCE_ROWS, TableComparison
from nacre.evaluate.tables.rows import Rows

ROWS = 2_000
_BLOCK = 256


def nearest(comparison: TableComparison, rows: Rows, among: Rows) -> np.ndarray:
    """For each of `rows`, the distance to the closest of `among`.

    Squared differences of numbers scaled to [0, 1], plus 1 for each category that differs; the
    root of their sum.
    """
    one = float(np.sqrt(0.5))
    y = comparison.features.matrix(among, one)
    x = comparison.features.matrix(rows, one)
    half = (y * y).sum(1) / 2
    found = np.empty(len(x))
    for start in range(0, len(x), _BLOCK):
        block = x[start : start + _BLOCK]
        # Which is closest, by one matrix product (half the time of scikit-learn's search); how
        # close, without its rounding.
        closest = y[np.argmin(half - block @ y.T, axis=1)]
        apart = block.astype(np.float64) - closest
        found[start : start + _BLOCK] = np.sqrt((apart * apart).sum(1))
    return found


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The median over 2,000 synthetic rows."""
    rng = comparison.rng("closest-record")
    among = comparison.train.sample(DISTANCE_ROWS, rng)
    found = nearest(comparison, comparison.synthetic.sample(ROWS, rng), among)
    yield Value("", float(np.median(found)))
    yield Value("closest 5%", float(np.quantile(found, 0.05)))


METRIC = Metric(
    name="closest-record",
    title="Distance to the closest record",
    group="privacy",
    goal="higher",
    low=0,
    high=float("inf"),
    meaning="How far a typical synthetic row is from the most similar real row; compare it with "
    "held-out real rows, which are strangers to the others. It proves nothing about privacy.",
    compute=compute,
    reference="held-out",
    quick=True,
)
