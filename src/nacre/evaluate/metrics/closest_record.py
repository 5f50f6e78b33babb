"""Distance to the closest record: are synthetic rows nearer to real ones than strangers are?"""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.comparison import DISTANCE_ROWS, Comparison
from nacre.evaluate.extras import require
from nacre.evaluate.metric import Metric, Value
from nacre.evaluate.rows import Rows

ROWS = 2_000


def nearest(comparison: Comparison, rows: Rows, among: Rows) -> np.ndarray:
    """For each of `rows`, the distance to the closest of `among`.

    Squared differences of numbers scaled to [0, 1], plus 1 for each category that differs; the
    root of their sum.
    """
    one = float(np.sqrt(0.5))
    neighbors = require("sklearn.neighbors").NearestNeighbors(n_neighbors=1, algorithm="brute")
    neighbors.fit(comparison.features.matrix(among, one))
    distance, _ = neighbors.kneighbors(comparison.features.matrix(rows, one))
    return np.asarray(distance[:, 0], np.float64)


def compute(comparison: Comparison) -> Iterator[Value]:
    """The median over 2,000 synthetic rows."""
    rng = comparison.rng(11)
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
