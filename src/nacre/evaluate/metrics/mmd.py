"""Maximum mean discrepancy with a Gaussian kernel (Gretton et al., 2012)."""

from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import pdist

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.extras import require

ROWS = 2_000
REPEATS = 5


def gaussian_kernel(x: np.ndarray, y: np.ndarray, bandwidth: float) -> np.ndarray:
    """exp(-|x - y|²/(2 bandwidth²)) for each pair of rows."""
    kernel: np.ndarray = require("sklearn.metrics.pairwise").rbf_kernel(
        x, y, gamma=1 / (2 * bandwidth**2)
    )
    return kernel


def median_distance(x: np.ndarray, most: int = 500) -> float:
    """The median distance between rows that differ: the usual bandwidth of a Gaussian kernel."""
    apart = pdist(x[:most])
    apart = apart[apart > 0]
    return float(np.median(apart)) if len(apart) else 1.0


def squared_mmd(x: np.ndarray, y: np.ndarray, bandwidth: float) -> float:
    """The unbiased estimate: mean k(x, x') + mean k(y, y') - 2 mean k(x, y), without diagonals.

    k is the Gaussian kernel. Near 0 the estimate may be slightly negative.
    """
    n, m = len(x), len(y)

    def total(a: np.ndarray, b: np.ndarray) -> float:
        return float(gaussian_kernel(a, b, bandwidth).sum(dtype=np.float64))

    within_x = (total(x, x) - n) / (n * (n - 1))
    within_y = (total(y, y) - m) / (m * (m - 1))
    return within_x + within_y - 2 * total(x, y) / (n * m)


def compute(comparison: TableComparison) -> Iterator[Value]:
    """Mean over samples of 2,000 rows, with its standard error."""
    rng = comparison.rng("mmd")
    values = []
    if min(len(comparison.real), len(comparison.synthetic)) < 2:
        return
    for _ in range(REPEATS):
        x, y = (
            comparison.features.matrix(rows.sample(ROWS, rng))
            for rows in (comparison.real, comparison.synthetic)
        )
        values.append(squared_mmd(x, y, median_distance(x)))
    error = float(np.std(values, ddof=1) / np.sqrt(REPEATS))
    yield Value("", float(np.mean(values)), error)


METRIC = Metric(
    name="mmd",
    title="Squared MMD",
    group="structure",
    goal="lower",
    low=-1,
    high=2,
    meaning="A distance between whole tables that is 0 only if all their distributions agree "
    f"(Gaussian kernel, median bandwidth; {REPEATS} samples of {ROWS:,} rows).",
    compute=compute,
    reference="held-out",
)
