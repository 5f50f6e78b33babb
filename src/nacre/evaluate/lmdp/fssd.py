"""The finite set Stein discrepancy (Jitkrittum et al., 2017): a linear-time test with more power.

The witness of the kernel Stein discrepancy is looked at in a few places only. PPEM names it as a
test that one would rather have than the linear-time one.
"""

import numpy as np

from nacre.errors import NacreError
from nacre.evaluate.lmdp.stein import Score
from nacre.evaluate.metrics.mmd import median_distance

PLACES = 5
DRAWS = 2_000
FITTED = 0.2  # part of the rows that only says where to look


def fssd_test(
    x: np.ndarray,
    score: Score,
    *,
    rng: np.random.Generator,
    places: int = PLACES,
    bandwidth: float | None = None,
) -> tuple[float, float]:
    """n FSSD², unbiased, and its p-value.

    ξ(x, v) = s(x) k(x, v) + ∇_x k(x, v) has mean zero for every v if x is drawn from the density
    of `score`. With τ = ξ(x, v_1..J)/√(dJ), n FSSD² = (1/(n-1)) Σ_{i≠j} τ_i·τ_j, which under the
    null is, as n grows, Σ_a ω_a (Z_a² - 1) with ω the eigenvalues of the covariance of τ.

    Args:
        x: rows in random order, [n, d].
        score: the gradient of the log density at each row, [n, d] -> [n, d].
        rng: of the places, drawn from a Gaussian with the first rows' mean and covariance (they
            are then left out), and of the null distribution.
        places: how many there are.
        bandwidth: of the Gaussian kernel; the median distance of the first rows if not given.
    """
    first = max(int(FITTED * len(x)), 2)
    if len(x) - first < 4:
        raise NacreError(f"At least 8 rows are needed, not {len(x)}.")
    x = np.asarray(x, np.float64)
    looked, x = x[:first], x[first:]
    width = median_distance(looked) if bandwidth is None else bandwidth
    covariance = np.atleast_2d(np.cov(looked.T)) + 1e-9 * np.eye(x.shape[1])
    at = rng.multivariate_normal(looked.mean(0), covariance, places)
    tau = stein_features(x, np.asarray(score(x), np.float64), at, width)
    n = len(tau)
    total = tau.sum(0)
    statistic = float(total @ total - (tau**2).sum()) / (n - 1)
    omega = np.maximum(np.linalg.eigvalsh(np.atleast_2d(np.cov(tau.T))), 0.0)
    null = (rng.chisquare(1, (DRAWS, len(omega))) - 1) @ omega
    return statistic, (1 + int((null >= statistic).sum())) / (1 + DRAWS)


def stein_features(
    x: np.ndarray, scores: np.ndarray, places: np.ndarray, bandwidth: float
) -> np.ndarray:
    """τ of each row, [n, d·J]."""
    apart = x[:, None] - places  # [n, J, d]
    kernel = np.exp(-(apart**2).sum(2) / (2 * bandwidth**2))
    found = kernel[:, :, None] * (scores[:, None] - apart / bandwidth**2)
    return np.asarray(found.reshape(len(x), -1) / np.sqrt(found[0].size))
