"""A smooth density behind noisy counts of ordered cells: a penalized spline of its logarithm.

Counts are normal around width * exp(f), where the second differences of f from cell to cell are
normal, too (Silverman, 1982; Kitagawa and Gersch, 1984): nothing is negative, and what has no
evidence goes on as an exponential tail.  How rough f may be is what makes the counts likeliest
(Laplace's approximation; Wood, 2011).  All of it is post-processing of noisy counts.
"""

from __future__ import annotations

import dataclasses
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky_banded, solveh_banded

Array = NDArray[np.float64]

FEWEST = 8  # cells: fewer have no shape that could be smooth
SHARPEST = 1e5  # deviations of the noise above which counts need no smoothing
PENALTIES = np.geomspace(3e4, 0.03, 13)  # of roughness, from nearly straight to nearly free
STEPS = 25  # of Newton, at most, for each penalty
NEAR = 1e-3  # of log likelihood: gains below end the search
FARTHEST = 3.0  # that the logarithm of a density moves in one step
TRIES = 8  # of a step that is ever shorter
LEAST = 0.05  # deviations of the noise, of a cell in which nothing was seen


def smooth_density(counts: Array, noise: Array | float, widths: Array, start: Array) -> Array:
    """What the counts of cells would be without noise if their density were smooth.

    Args:
        counts: of ordered cells.
        noise: deviation of each, or of all.
        widths: of the cells.
        start: a first guess of the answer; returned as it is where nothing can be won.
    """
    unit = float(np.min(noise))
    if len(counts) < FEWEST or np.abs(counts).max() > SHARPEST * unit:
        return start
    precision = (unit / noise) ** 2 * np.ones(len(counts))
    fit = _Fit(counts / unit, precision, widths, second_differences(len(counts)))
    level = np.log(np.maximum(start / unit, LEAST) / widths)
    best, found = np.inf, level
    for penalty in PENALTIES:
        level = fit.mode(level, float(penalty))
        unlikely = fit.evidence(level, float(penalty))
        if unlikely < best:
            best, found = unlikely, level
    return unit * fit.expected(found)


def second_differences(size: int) -> Array:
    """The matrix of the sum of squared second differences, its upper bands (3, size)."""
    bands = np.zeros((3, size))
    weights = np.array([1.0, -2.0, 1.0])
    for apart in range(3):
        for first in range(3 - apart):
            last = first + apart
            bands[2 - apart, last : size - 2 + last] += weights[first] * weights[last]
    return bands


@final
@dataclasses.dataclass(frozen=True)
class _Fit:
    """Counts, their precision, the cells' widths, and what is rough about a curve.

    Counts are in deviations of the noise that the most precise of them have.
    """

    counts: Array
    precision: Array
    widths: Array
    rough: Array

    def expected(self, level: Array) -> Array:
        return np.asarray(self.widths * np.exp(np.minimum(level, 60.0)))

    def mode(self, level: Array, penalty: float) -> Array:
        """The likeliest log density, by Newton's steps from `level` (Levenberg, 1944)."""
        value, mean = self._unlikely(level, penalty)
        damping = 1e-3
        for _ in range(STEPS):
            slope = penalty * self._times(level) - mean * self.precision * (self.counts - mean)
            for _ in range(TRIES):
                step = -solveh_banded(self._curvature(mean, penalty, damping), slope)
                step *= min(1.0, FARTHEST / max(float(np.abs(step).max()), 1e-12))
                new, there = self._unlikely(level + step, penalty)
                if new <= value:
                    break
                damping *= 10
            else:
                return level
            gain, level, value, mean = value - new, level + step, new, there
            damping = max(damping / 5, 1e-6)
            if gain < NEAR:
                break
        return level

    def evidence(self, level: Array, penalty: float) -> float:
        """Minus the log likelihood of the counts at this penalty, by Laplace's approximation."""
        value, mean = self._unlikely(level, penalty)
        root = cholesky_banded(self._curvature(mean, penalty, 0.0))
        return value + float(np.log(root[2]).sum()) - (len(level) - 2) / 2 * float(np.log(penalty))

    def _unlikely(self, level: Array, penalty: float) -> tuple[float, Array]:
        mean = self.expected(level)
        misfit = self.precision @ (self.counts - mean) ** 2 + penalty * level @ self._times(level)
        return float(misfit) / 2, mean

    def _curvature(self, mean: Array, penalty: float, damping: float) -> Array:
        """Of what is minimized, nearly: positive, as where counts are linear in the level."""
        bands, square = penalty * self.rough, self.precision * mean * mean
        bands[2] += square + damping * (square + 1e-3 * square.max()) + 1e-9 * (1 + square.max())
        return np.asarray(bands)

    def _times(self, level: Array) -> Array:
        bands = self.rough
        found = bands[2] * level
        for apart in (1, 2):
            band = bands[2 - apart, apart:]
            found[:-apart] += band * level[apart:]
            found[apart:] += band * level[:-apart]
        return np.asarray(found)
