"""Tests of α-level marginal distribution privacy (PPEM, Definition 2.1): pure functions of samples.

α-LMDP hides an aggregate: the marginal of chosen columns must differ from the real one so clearly
that a test of level α rejects that they are equal. It protects no single row, and is no
differential privacy.
"""

from collections.abc import Callable

import numpy as np
from scipy.stats import chi2

from nacre.errors import NacreError
from nacre.evaluate.metrics.mmd import gaussian_kernel, median_distance

PERMUTATIONS = 499


def mmd_test(
    x: np.ndarray,
    y: np.ndarray,
    *,
    rng: np.random.Generator,
    bandwidth: float | None = None,
    permutations: int = PERMUTATIONS,
) -> tuple[float, float]:
    """Are two samples of one distribution? Squared MMD, and its p-value by permutations.

    Exact at every level: under the null each assignment of rows to samples is as likely as the one
    observed, so p = (1 + #{permuted ≥ observed})/(1 + permutations) is at most uniform.

    Args:
        x: one sample, [n, d].
        y: the other, [m, d].
        rng: of the permutations.
        bandwidth: of the Gaussian kernel; the median distance of the pooled rows if not given.
        permutations: how many.
    """
    if min(len(x), len(y)) < 2:
        raise NacreError(f"Two samples of at least 2 rows are needed, not {len(x)} and {len(y)}.")
    pooled = np.concatenate([x, y]).astype(np.float64)
    if bandwidth is None:
        bandwidth = median_distance(pooled[rng.permutation(len(pooled))])
    kernel = gaussian_kernel(pooled, pooled, bandwidth)
    first = np.zeros((permutations + 1, len(pooled)))
    first[:, : len(x)] = 1
    first[1:] = rng.permuted(first[1:], axis=1)
    values = _unbiased(kernel, first)
    # Equal up to rounding counts as equal: a table against itself must not look special.
    reached = int((values[1:] >= values[0] - 1e-12).sum())
    return float(values[0]), (1 + reached) / (1 + permutations)


def _unbiased(kernel: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Squared MMD without diagonals for each row of `first`, which says who is in sample one."""
    n, total = first[0].sum(), len(kernel)
    m = total - n
    inside = np.einsum("pi,pi->p", first @ kernel, first)
    reach = first @ kernel.sum(1)
    outside = kernel.sum() - 2 * reach + inside
    return (
        (inside - n) / (n * (n - 1))
        + (outside - m) / (m * (m - 1))
        - 2 * (reach - inside) / (n * m)
    )


def stein_kernel(
    x: np.ndarray, y: np.ndarray, score: Callable[[np.ndarray], np.ndarray], bandwidth: float
) -> np.ndarray:
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
    return np.exp(-squared / (2 * bandwidth**2)) * inner


def stein_test(
    x: np.ndarray,
    score: Callable[[np.ndarray], np.ndarray],
    *,
    bandwidth: float | None = None,
) -> tuple[float, float]:
    """Are rows drawn from the density whose score is given? The statistic S, and its p-value.

    S = (N-1)(Σu)²/(N Σu²) over N disjoint pairs of consecutive rows; χ²_1 under the null as N
    grows. One pass over the rows (Liu, Lee and Jordan, 2016, linear-time form).

    Args:
        x: rows in random order, [n, d].
        score: the gradient of the log density at each row, [n, d] -> [n, d].
        bandwidth: of the Gaussian kernel; the median distance if not given.
    """
    if len(x) < 4:
        raise NacreError(f"At least 4 rows are needed, not {len(x)}.")
    x = np.asarray(x, np.float64)
    pairs = len(x) // 2
    width = median_distance(x) if bandwidth is None else bandwidth
    u = stein_kernel(x[: 2 * pairs : 2], x[1 : 2 * pairs : 2], score, width)
    squares = float((u**2).sum())
    if squares == 0:
        return 0.0, 1.0
    statistic = (pairs - 1) * float(u.sum()) ** 2 / (pairs * squares)
    return statistic, float(chi2.sf(statistic, 1))
