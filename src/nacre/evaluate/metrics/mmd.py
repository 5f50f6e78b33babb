"""Maximum mean discrepancy with a Gaussian kernel (Gretton et al., 2012)."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison

ROWS = 2_000
REPEATS = 5


def squared_distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """|x - y|² for each pair of rows, by one matrix product: ten times faster than by differences.

    Example:
        >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])).tolist()
        [[25.0]]
    """
    found: np.ndarray = x @ y.T
    found *= -2
    found += (x * x).sum(1)[:, None]
    found += (y * y).sum(1)[None, :]
    return np.maximum(found, 0, out=found)


def median_distance(x: np.ndarray, most: int = 500) -> float:
    """The median distance between rows that differ: the usual bandwidth of a Gaussian kernel."""
    apart = squared_distances(x[:most], x[:most])[np.triu_indices(min(len(x), most), 1)]
    # Rounding leaves something between equal rows.
    apart = apart[apart > 1e-4 * apart.max(initial=0)]
    return float(np.sqrt(np.median(apart))) if len(apart) else 1.0


def squared_mmd(x: np.ndarray, y: np.ndarray, bandwidth: float) -> float:
    """The unbiased estimate: mean k(x, x') + mean k(y, y') - 2 mean k(x, y), without diagonals.

    k(a, b) = exp(-|a - b|²/(2 bandwidth²)). Near 0 it may be slightly negative.
    """
    n, m = len(x), len(y)

    def total(a: np.ndarray, b: np.ndarray) -> float:
        exponent = squared_distances(a, b)
        exponent *= -1 / (2 * bandwidth**2)
        return float(np.exp(exponent, out=exponent).sum(dtype=np.float64))

    within_x = (total(x, x) - n) / (n * (n - 1))
    within_y = (total(y, y) - m) / (m * (m - 1))
    return within_x + within_y - 2 * total(x, y) / (n * m)


def compute(comparison: TableComparison) -> Iterator[Value]:
    """Mean over samples of 2,000 rows, with its standard error."""
    rng = comparison.rng(7)
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
