"""The test that decides about α-level marginal distribution privacy (PPEM, Definition 2.2).

α-LMDP hides an aggregate: the marginal of chosen columns must differ from the real one so clearly
that a test of level α rejects that they are equal. It protects no single row, and is no
differential privacy.
"""

import numpy as np

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
