"""Wasserstein distance of whole tables and of their plane of principal components (DP-auto-GAN)."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.extras import require

ROWS = 800
REPEATS = 4


def wasserstein2(x: np.ndarray, y: np.ndarray) -> float:
    """The exact W2 between two samples of one size: the best matching, root mean squared.

    Examples:
        >>> wasserstein2(np.array([[0.0], [2.0]]), np.array([[3.0], [1.0]]))
        1.0
    """
    cost = cdist(x, y, "sqeuclidean")
    return float(np.sqrt(cost[linear_sum_assignment(cost)].mean()))


def principal_plane(
    comparison: TableComparison,
) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """The projection on the real table's first two components, and the variance it explains."""
    sample = comparison.real.sample(20_000, comparison.rng("principal plane"))
    matrix = comparison.features.matrix(sample)
    pca = require("sklearn.decomposition").PCA(
        n_components=min(2, *matrix.shape), random_state=comparison.seed
    )
    with np.errstate(invalid="ignore"):
        explained = float(pca.fit(matrix).explained_variance_ratio_.sum())
    # A table whose rows are all equal has no variance to explain.
    return pca.transform, explained if np.isfinite(explained) else 1.0


def distances(comparison: TableComparison, plane: bool) -> tuple[float, float, float]:
    """Mean W2 over samples, its standard error, and the variance that was looked at."""
    return comparison.once(("w2", plane), lambda: _distances(comparison, plane))


def _distances(comparison: TableComparison, plane: bool) -> tuple[float, float, float]:
    rng = comparison.rng("w2")
    project, explained = principal_plane(comparison) if plane else (lambda x: x, 1.0)
    # As many in every comparison, the one of held-out rows too: with fewer rows W2 is larger.
    rows = min(ROWS, *map(len, (comparison.train, comparison.test, comparison.synthetic)))
    values = [
        wasserstein2(
            *(
                project(comparison.features.matrix(table.sample(rows, rng)))
                for table in (comparison.real, comparison.synthetic)
            )
        )
        for _ in range(REPEATS)
    ]
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(REPEATS)), explained


def _metric(name: str, title: str, plane: bool, where: str) -> tuple[Metric, Metric]:
    def distance(comparison: TableComparison) -> Iterator[Value]:
        mean, error, _ = distances(comparison, plane)
        yield Value("", mean, error)

    def score(comparison: TableComparison) -> Iterator[Value]:
        mean, error, explained = distances(comparison, plane)
        largest = np.sqrt(explained) * comparison.features.largest_distance(comparison.real)
        if largest:
            yield Value("", float(1 - mean / largest), float(error / largest))

    sampled = f"{REPEATS} samples of {ROWS} rows"
    return (
        Metric(
            name=name,
            title=title,
            group="structure",
            goal="lower",
            low=0,
            high=float("inf"),
            meaning=f"How far rows have to move to turn one table into the other, {where} "
            f"({sampled}).",
            compute=distance,
            reference="held-out",
        ),
        Metric(
            name=f"{name}-score",
            title=f"{title}, score",
            group="structure",
            goal="higher",
            low=-float("inf"),
            high=1,
            meaning="1 - W2/(√v · largest squared distance) as in DP-auto-GAN, v the share of the "
            f"variance that is looked at, {where} ({sampled}).",
            compute=score,
            reference="held-out",
        ),
    )


WHOLE, WHOLE_SCORE = _metric("w2", "Wasserstein, whole table", False, "all columns together")
PLANE, PLANE_SCORE = _metric(
    "w2-pca", "Wasserstein, main plane", True, "on the real table's first two principal components"
)
