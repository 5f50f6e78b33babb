"""Kernel distance of features (Bińkowski et al., 2018): squared MMD with a cubic kernel."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.images.comparison import ImageComparison
from nacre.evaluate.images.metric import ImageMetric, as_real
from nacre.evaluate.scores.metric import Value

SIZE = 1_000


def kid(x: np.ndarray, y: np.ndarray) -> float:
    """The unbiased squared MMD with k(a, b) = (a·b/d + 1)³; near 0 it may be slightly negative."""
    (n, d), m = x.shape, len(y)

    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        base = a @ b.T / d + 1
        return base * base * base  # ten times faster than a power

    within = [
        (k.sum() - np.trace(k)) / (len(k) * (len(k) - 1)) for k in (kernel(x, x), kernel(y, y))
    ]
    return float(within[0] + within[1] - 2 * kernel(x, y).sum() / (n * m))


def subset_kid(
    x: np.ndarray,
    y: np.ndarray,
    rng: np.random.Generator,
    subsets: int = 100,
    size: int = SIZE,
) -> tuple[float, float]:
    """The mean over random subsets of both sets, and their standard deviation.

    Subsets are at most half of a set, so that they differ and the deviation means something.
    """
    size = max(min(size, len(x) // 2, len(y) // 2), 2)
    values = [
        kid(*(z[rng.choice(len(z), size, replace=False)] for z in (x, y))) for _ in range(subsets)
    ]
    return float(np.mean(values)), float(np.std(values, ddof=1))


def compute(comparison: ImageComparison) -> Iterator[Value]:
    """Against the test images, as PEARL has it."""
    rng, subsets = comparison.real.rng("kid"), comparison.effort.subsets
    yield Value("", *subset_kid(comparison.real.features, comparison.features, rng, subsets))


METRIC = ImageMetric(
    name="kid",
    title="KID on LeNet features",
    group="likeness",
    goal="lower",
    low=float("-inf"),
    high=float("inf"),
    meaning="Squared MMD of the same features with a cubic kernel (mean of 100 subsets of 1,000 ± "
    "their standard deviation). Papers print it times 1,000.",
    compute=compute,
    reference=as_real(compute),
)
