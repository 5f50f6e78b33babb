"""Which group each code belongs to, from noisy counts: a hidden Markov chain along the codes.

Lists of codes often keep those of one group together, and groups have unlike numbers of codes.
How much so is learned from the noisy counts themselves (Baum et al., 1970), so that a list in any
order loses next to nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

ROUNDS = 30  # of expectation and maximization


def likeliest(
    counts: NDArray[np.float64], noise: float, allowed: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The group of each code, and how sure it is, from 0 to 1.  Post-processing.

    A code has rows in one group only, exponentially many by prior; its group is that of the code
    before it with a chance that is learned, or else one of the groups by learned shares.

    Args:
        counts: (codes, groups), noisy.
        noise: standard deviation of each count.
        allowed: (groups,), those that constraints leave.

    Examples:
        >>> counts = np.array([[90.0, 2.0], [-1.0, 40.0], [3.0, 1.0]])
        >>> likeliest(counts, 2.0, np.array([True, True]))[0].tolist()
        [0, 1, 0]
    """
    evidence = _evidence(counts, noise)
    evidence = np.where(allowed, evidence, -math.inf)
    evidence = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    groups = counts.shape[1]
    shares, same = np.full(groups, 1 / groups), 0.5
    for _ in range(ROUNDS):
        chances, shares, same = _round(evidence, shares, same)
    return chances.argmax(axis=1), chances.max(axis=1)


def _evidence(counts: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    """Log likelihood ratio of 'all rows of the code are here' to 'none is', for each cell.

    With t rows it is exp((n t - t^2 / 2) / noise^2); over t of an exponential distribution whose
    mean is that of the codes that is a normal distribution function, up to a constant.
    """
    mean = max(counts.sum() / len(counts), noise)
    off = counts / noise - noise / mean
    return np.asarray(off**2 / 2 + log_ndtr(off))


def _round(
    evidence: NDArray[np.float64], shares: NDArray[np.float64], same: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Forward and backward: the chances of each group, then shares and `same` from them."""
    codes = len(evidence)
    ahead, behind = np.empty_like(evidence), np.ones_like(evidence)
    ahead[0] = _whole(shares * evidence[0])
    for code in range(1, codes):
        ahead[code] = _whole((same * ahead[code - 1] + (1 - same) * shares) * evidence[code])
    stayed, began = 0.0, np.zeros_like(shares)
    for code in range(codes - 1, 0, -1):
        seen = evidence[code] * behind[code]
        stay, begin = same * ahead[code - 1] * seen, (1 - same) * shares * seen
        total = stay.sum() + begin.sum()
        stayed += stay.sum() / total
        began += begin / total
        back = same * seen + (1 - same) * (shares * seen).sum()
        behind[code - 1] = back / back.max()
    chances = ahead * behind
    chances /= chances.sum(axis=1, keepdims=True)
    # One more of each, as a prior: no group is ruled out, and no chain is certain.
    return chances, _whole(began + chances[0] + 1), float((stayed + 1) / (codes + 1))


def _whole(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(weights / weights.sum())
