"""How far two histograms are apart, when one is known through noise only."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray
from scipy.special import chndtr, ndtri

DRAWS = 4_000  # of the noise, for the quantile of its summed size
PRICES = np.geomspace(1e-5, 1e3, 161)  # tried for the multiplier of the ball
MOST = 27  # cells of a histogram up to which the ball is used
SIDES = np.linspace(0.0, 1.0, 41)  # tried for the multiplier of the sum
AT_ONCE = 512  # cells, so that memory does not grow with a long list of values

Array = NDArray[np.float64]


def distance_at_least(known: Array, noisy: Array, noise: Array, *, tail: float) -> float:
    """A total variation that the distance of `known` to the truth reaches, but for chance `tail`.

    By the triangle inequality it is at most half the summed size of the noise below that of the
    noisy shares.
    """
    return max(float(np.abs(noisy - known).sum()) / 2 - _reach(noise, tail), 0.0)


def _reach(noise: Array, tail: float) -> float:
    """Half the summed size of the noise, which it passes with chance `tail`."""
    if (noise == noise[0]).all():
        return float(noise[0]) * _unit_reach(len(noise), tail)
    return _quantile(noise, tail)


@functools.lru_cache(maxsize=1024)
def _unit_reach(cells: int, tail: float) -> float:
    """The same for noise of deviation 1 in each of so many cells."""
    return _quantile(np.ones(cells), tail)


def _quantile(noise: Array, tail: float) -> float:
    rng, draws = np.random.default_rng(0), np.zeros(DRAWS)
    for start in range(0, len(noise), AT_ONCE):
        part = noise[start : start + AT_ONCE]
        draws += np.abs(rng.standard_normal((DRAWS, len(part)))) @ part
    return float(np.quantile(draws, 1 - tail)) / 2


def distance_at_most(
    known: Array, noisy: Array, noise: Array, *, tail: float, fresh: bool = False
) -> float:
    """A total variation that the distance of `known` to the truth does not pass, but for `tail`.

    The smaller of two bounds, each with half of `tail`: the triangle inequality's, which is best
    where the two differ clearly, and that of a ball, which is best where noise hides how close
    they are.  The triangle inequality asks nothing of `known`.  The ball is proved for a `known`
    that was not fitted to `noisy`, as where counts are bought once the table is there (`fresh`);
    where it was, simulations show that the bound holds with few cells, but not with hundreds, so
    that it is used up to `MOST` only.
    """
    if len(noise) > MOST and not fresh:
        return min(float(np.abs(noisy - known).sum()) / 2 + _reach(noise, tail), 1.0)
    sure = float(np.abs(noisy - known).sum()) / 2 + _reach(noise, tail / 2)
    return min(sure, _ball(known, noisy, noise, tail / 2), 1.0)


def _ball(known: Array, noisy: Array, noise: Array, tail: float) -> float:
    """The largest distance within the ball in which the truth lies but for chance `tail`.

    With x = known - truth, Q = sum ((known - noisy) / noise)^2 is noncentral chi-square with
    noncentrality sum (x / noise)^2; the largest one under which a Q so small has chance `tail`
    is taken.  In that ball sum x_+ is largest under sum x = 0 and x <= known, as no share is
    negative: any multipliers of ball and sum give an upper bound (weak duality), the best of
    some thousands is taken.
    """
    size = len(noise)
    # A Q below its mean is luck: it is not taken as a proof of being very close.
    statistic = max(float((((known - noisy) / noise) ** 2).sum()), float(size))
    square = _noncentrality(statistic, size, tail)
    price, side = PRICES[:, None, None] * np.sqrt((noise**2).mean()), SIDES[:, None]
    values = price[..., 0] * square + np.zeros(len(SIDES))
    for start in range(0, size, AT_ONCE):
        part = slice(start, start + AT_ONCE)
        steep = noise[part] ** 2 / price
        below = side**2 * steep / 4
        best = np.minimum((1 - side) * steep / 2, known[part])  # the uncapped gain's largest
        above = (1 - side) * best - best**2 / steep
        values += np.maximum(above, below).sum(-1)
    return float(values.min())


def _noncentrality(statistic: float, size: int, tail: float) -> float:
    """The noncentrality at which a chi-square stays below `statistic` with chance `tail`."""
    low, high = 0.0, 1.0
    while chndtr(statistic, size, high) > tail:
        low, high = high, 2 * high
        if high > 1e6:  # beyond, the normal approximation is exact enough, and chndtr is not
            return float((np.sqrt(statistic) + ndtri(1 - tail)) ** 2)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if chndtr(statistic, size, middle) > tail else (low, middle)
    return high
