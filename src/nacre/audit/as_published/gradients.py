"""Gradients with less noise than it seems: PPEM's batch penalty, functional DP's detached noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from nacre.audit.as_published.control import DELTA, EPSILON, Control, gaussian_noise
from nacre.audit.bounds import Scores
from nacre.vault.gaussian_dp import gaussian_mu

# -- PPEM --------------------------------------------------------------------------------------

PAIRS, CLIP = 100, 1.0
CRITICAL = float(stats.chi2.ppf(0.95, 1))


def _stein_values(present: bool) -> np.ndarray:
    """u of 100 pairs of rows whose test statistic lies just below the critical value, or above."""
    values = np.where(np.arange(PAIRS) < 59, 1.0, -1.0)
    if present:
        values[-1] = 1.0  # one row changes, and with it the u of one pair
    return values


def _statistic(total: Any, squares: float) -> Any:
    """Of Stein's test, in its linear-time form: χ² with one degree of freedom under the null."""
    return (PAIRS - 1) * total**2 / (PAIRS * squares)


def _shared_switch(present: bool, runs: int, rng: np.random.Generator) -> Scores:
    """Gradients of [χ² - S]₊ clipped row by row, where S is that of the whole batch, exactly.

    Each row's has the norm `CLIP` while the penalty acts, and is zero when it does not.
    """
    values = _stein_values(present)
    acts = _statistic(values.sum(), (values**2).sum()) < CRITICAL
    return -(acts * PAIRS * CLIP + rng.normal(0, gaussian_noise(2 * CLIP), runs))


def _noisy_switch(present: bool, runs: int, rng: np.random.Generator) -> Scores:
    """Σu with noise first (|u| = 1, so a row moves it by 2 and Σu² not at all), then the switch.

    Half of mu² for each.  The switch follows from noisy numbers, and given these one row moves its
    own gradient only.  The attacker sees both: the sum of gradients repeats what the switch said.
    """
    values = _stein_values(present)
    share = math.sqrt(0.5) * gaussian_mu(EPSILON, DELTA)
    total = values.sum() + rng.normal(0, 2 / share, runs)
    acts = _statistic(total, (values**2).sum()) < CRITICAL
    gradients = acts * PAIRS * CLIP + rng.normal(0, 2 * CLIP / share, runs)
    return total - 1e-3 * gradients


BATCH_PENALTY = Control(
    name="penalty of the whole batch",
    source="PPEM with differential privacy",
    mistake="a test statistic of the batch switches every row's gradient, and has no noise",
    mend="the statistic's sums are released with noise, and the switch follows from them",
    published=_shared_switch,
    corrected=_noisy_switch,
)

# -- functional Rényi DP -----------------------------------------------------------------------

WIDTH, ROWS = 1.0, 100
POINT = np.zeros(2)  # where the generator is, public


def _kernel_rows(present: bool) -> np.ndarray:
    rows = np.tile([0.5, 0.0], (ROWS, 1))
    if present:
        rows[0] = [0.0, 1.0]
    return rows


def _gradient(present: bool) -> np.ndarray:
    """The exact gradient, at the point, of the mean of kernels around the rows."""
    away = _kernel_rows(present) - POINT
    kernel = np.exp(-(away**2).sum(1) / (2 * WIDTH**2))
    return (kernel[:, None] * away / WIDTH**2).mean(axis=0)


def _detached(present: bool, runs: int, rng: np.random.Generator) -> Scores:
    """The loss is the square of a noisy value: its gradient is a noisy number times the exact one.

    So its direction, which is all that the attacker looks at, has no noise at all.
    """
    kernel = np.exp(-((_kernel_rows(present) - POINT) ** 2).sum(1) / (2 * WIDTH**2))
    value = kernel.mean() + rng.normal(0, gaussian_noise(2 / ROWS), runs)
    released = value[:, None] * _gradient(present)
    return released[:, 1] / released[:, 0]


def _noisy_gradient(present: bool, runs: int, rng: np.random.Generator) -> Scores:
    """The gradient as linear functionals ∂k(w, ·), whose covariance at one point is I / width²."""
    scale = gaussian_noise(2 / ROWS) / WIDTH
    released = _gradient(present) + rng.normal(0, scale, (runs, 2))
    return released @ (_gradient(True) - _gradient(False)) / scale


DETACHED_NOISE = Control(
    name="detached noise",
    source="Functional Rényi DP (Jiang et al. 2023), as applied",
    mistake="values of a function have noise, and its exact gradient trains the generator",
    mend="the gradient itself is released, with the kernel's covariance",
    published=_detached,
    corrected=_noisy_gradient,
)
