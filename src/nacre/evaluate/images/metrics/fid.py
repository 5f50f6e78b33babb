"""Fréchet distance of features (Heusel et al., 2017), here those of a LeNet as in PEARL."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.images.comparison import ImageComparison
from nacre.evaluate.images.metric import ImageMetric, as_real
from nacre.evaluate.scores.metric import Value


def frechet(
    mean: np.ndarray, covariance: np.ndarray, other_mean: np.ndarray, other: np.ndarray
) -> float:
    """|m - m'|² + tr(C + C' - 2 (C C')^½): the squared W2 distance of two Gaussians.

    tr (C C')^½ is the sum of the roots of the eigenvalues of R C' R with R = C^½, which is
    symmetric, so no complex numbers and no convergence are to be worried about.

    Examples:
        >>> frechet(np.zeros(1), np.eye(1), np.full(1, 3.0), 4 * np.eye(1))
        10.0
    """
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    inner = np.linalg.eigvalsh(root @ other @ root)
    mixed = np.sqrt(np.maximum(inner, 0)).sum()
    apart = float(((mean - other_mean) ** 2).sum())
    return apart + float(np.trace(covariance) + np.trace(other) - 2 * mixed)


def fid(x: np.ndarray, y: np.ndarray) -> float:
    """The Fréchet distance of Gaussians fitted to two sets of features, [n, d] and [m, d]."""
    return frechet(*_fitted(x), *_fitted(y))


def bootstrapped_fid(
    x: np.ndarray, y: np.ndarray, rng: np.random.Generator, bootstraps: int = 10
) -> tuple[float, float]:
    """The mean over resamplings of both sets with replacement, and their standard deviation."""
    values = [fid(*(z[rng.integers(0, len(z), len(z))] for z in (x, y))) for _ in range(bootstraps)]
    return float(np.mean(values)), float(np.std(values, ddof=1))


def _fitted(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x.mean(axis=0), np.atleast_2d(np.cov(x, rowvar=False))


def compute(comparison: ImageComparison) -> Iterator[Value]:
    """Against the test images, as PEARL has it."""
    rng, bootstraps = comparison.real.rng("fid"), comparison.effort.bootstraps
    yield Value(
        "", *bootstrapped_fid(comparison.real.features, comparison.features, rng, bootstraps)
    )


METRIC = ImageMetric(
    name="fid",
    title="FID on LeNet features",
    group="likeness",
    goal="lower",
    low=0,
    high=float("inf"),
    meaning="Fréchet distance of the features of the test images and of up to 60,000 synthetic "
    "ones, by a LeNet that was trained on the private images (mean of 10 bootstraps ± their "
    "standard deviation). It compares with no other network's, and is larger for fewer images.",
    compute=compute,
    reference=as_real(compute),
)
