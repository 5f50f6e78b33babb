"""Kernel Stein discrepancies: are rows drawn from a density of which only the score is known?

Three forms of one test (PPEM, Equations 14, 16 and 17). All of them test a learnt density, such as
an energy; none says anything of the samples of a generator.
"""

from collections.abc import Callable

import numpy as np
from scipy.stats import chi2, norm

from nacre.errors import NacreError
from nacre.evaluate.metrics.mmd import median_distance

BOOTSTRAPS = 999
Score = Callable[[np.ndarray], np.ndarray]
"""The gradient of the log density at each row, [n, d] -> [n, d]."""


def stein_kernel(x: np.ndarray, y: np.ndarray, score: Score, bandwidth: float) -> np.ndarray:
    """u(x_i, y_i) for pairs of rows: mean zero if they are drawn from the density of `score`.

    u = k [ s(x)·s(y) + (x-y)·(s(x)-s(y))/h² + d/h² - |x-y|²/h⁴ ], k = exp(-|x-y|²/2h²); PPEM's
    Equation 15 with its misprint mended.
    """
    apart, squared = x - y, ((x - y) ** 2).sum(1)
    at_x, at_y = np.asarray(score(x)), np.asarray(score(y))
    inner = (
        (at_x * at_y).sum(1)
        + (apart * (at_x - at_y)).sum(1) / bandwidth**2
        + x.shape[1] / bandwidth**2
        - squared / bandwidth**4
    )
    return np.asarray(np.exp(-squared / (2 * bandwidth**2)) * inner)


def stein_matrix(x: np.ndarray, score: Score, bandwidth: float) -> np.ndarray:
    """u(x_i, x_j) for all pairs of rows, [n, n]."""
    at, square = np.asarray(score(x), np.float64), bandwidth**2
    cross, own = x @ at.T, (x * at).sum(1)
    squares = (x**2).sum(1)
    apart = np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0.0)
    inner = (
        at @ at.T
        + (own[:, None] + own - cross - cross.T) / square
        + x.shape[1] / square
        - apart / square**2
    )
    return np.asarray(np.exp(-apart / (2 * square)) * inner)


def ksd(
    x: np.ndarray,
    score: Score,
    *,
    rng: np.random.Generator,
    bandwidth: float | None = None,
    bootstraps: int = BOOTSTRAPS,
) -> tuple[float, float]:
    """The U-statistic of all pairs (Equation 14), and its p-value by the bootstrap.

    Degenerate under the null, so that weights w of a multinomial, each less its mean 1/n, give
    draws of it: Σ_{i≠j} (w_i - 1/n) u_ij (w_j - 1/n) (Liu, Lee and Jordan, 2016, Theorem 4.3).
    """
    x = _checked(x)
    u = stein_matrix(x, score, _width(x, bandwidth))
    np.fill_diagonal(u, 0.0)
    n = len(x)
    statistic = float(u.sum()) / (n * (n - 1))
    weights = rng.multinomial(n, np.full(n, 1 / n), bootstraps) / n - 1 / n
    drawn = np.einsum("bi,bi->b", weights @ u, weights)
    return statistic, (1 + int((drawn >= statistic).sum())) / (1 + bootstraps)


def ksd_linear(
    x: np.ndarray, score: Score, *, bandwidth: float | None = None
) -> tuple[float, float]:
    """The mean over disjoint pairs of consecutive rows (Equation 16), and its p-value.

    Normal as rows grow; one-sided, as its mean is never negative. In one pass over the rows.
    """
    u = _pairs(_checked(x), score, bandwidth)
    deviation = float(u.std(ddof=1))
    mean = float(u.mean())
    if deviation == 0:
        return mean, 0.0 if mean > 0 else 1.0
    return mean, float(norm.sf(np.sqrt(len(u)) * mean / deviation))


def ksd_normalized(
    x: np.ndarray, score: Score, *, bandwidth: float | None = None
) -> tuple[float, float]:
    """S = (N-1)(Σu)²/(N Σu²) over N disjoint pairs of consecutive rows (Equation 17), and p.

    χ²_1 under the null as N grows; two-sided, so that it has less power than `ksd_linear`.

    Args:
        x: rows in random order, [n, d].
        score: the gradient of the log density at each row, [n, d] -> [n, d].
        bandwidth: of the Gaussian kernel; the median distance if not given.
    """
    u = _pairs(_checked(x), score, bandwidth)
    squares, pairs = float((u**2).sum()), len(u)
    if squares == 0:
        return 0.0, 1.0
    statistic = (pairs - 1) * float(u.sum()) ** 2 / (pairs * squares)
    return statistic, float(chi2.sf(statistic, 1))


def _checked(x: np.ndarray) -> np.ndarray:
    if len(x) < 4:
        raise NacreError(f"At least 4 rows are needed, not {len(x)}.")
    return np.asarray(x, np.float64)


def _width(x: np.ndarray, bandwidth: float | None) -> float:
    return median_distance(x) if bandwidth is None else bandwidth


def _pairs(x: np.ndarray, score: Score, bandwidth: float | None) -> np.ndarray:
    """u of disjoint pairs of consecutive rows."""
    pairs = len(x) // 2
    return stein_kernel(x[: 2 * pairs : 2], x[1 : 2 * pairs : 2], score, _width(x, bandwidth))
