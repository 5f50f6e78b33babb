"""Noise of the wrong scale, or that somebody knows; and noise as it should be."""

from __future__ import annotations

import math

import numpy as np

from nacre.audit.as_published.control import DELTA, EPSILON, Control, gaussian_noise
from nacre.audit.bounds import Scores

# -- the textbook's σ at a large ε ----------------------------------------------------------------

LARGE = 10.0


def _gaussian(present: bool, runs: int, rng: np.random.Generator, scale: float) -> Scores:
    """A count, which one row moves by one."""
    return present + rng.normal(0, scale, runs)


TEXTBOOK_SIGMA = Control(
    name="textbook σ at ε = 10",
    source="σ = √(2 ln(1.25/δ)) / ε, proved for ε < 1 only",
    mistake="the formula is used beyond its proof: μ = 2.064 where ε = 10 allows 2.000",
    mend="σ from the exact curve of the Gaussian (Balle and Wang 2018)",
    published=lambda present, runs, rng: _gaussian(
        present, runs, rng, math.sqrt(2 * math.log(1.25 / DELTA)) / LARGE
    ),
    corrected=lambda present, runs, rng: _gaussian(
        present, runs, rng, gaussian_noise(1.0, LARGE, DELTA)
    ),
    epsilon=LARGE,
    normal=True,
)

# -- seeded noise ---------------------------------------------------------------------------------


def _seeded(present: bool, runs: int, rng: np.random.Generator, *, known: bool) -> Scores:
    """A noisy count; the attacker takes away the noise of the seed, where that is known."""
    seed = int(rng.integers(1 << 32))
    draws = [np.random.default_rng(s).normal(0, gaussian_noise(1.0), runs) for s in (seed, seed)]
    return present + draws[0] - draws[1] * known


SEEDED_NOISE = Control(
    name="seeded noise",
    source="every example that sets a seed before it fits",
    mistake="noise comes from a seed that is in the script or in the settings",
    mend="noise comes from the operating system, and no seed reaches it",
    published=lambda present, runs, rng: _seeded(present, runs, rng, known=True),
    corrected=lambda present, runs, rng: _seeded(present, runs, rng, known=False),
)

# -- a sensitivity that is too small --------------------------------------------------------------


def _marginal(present: bool, runs: int, rng: np.random.Generator, sensitivity: float) -> Scores:
    """Two cells of a marginal with Laplace noise; the canary moves from one to the other."""
    cells = np.array([10.0 - present, 10.0 + present])
    noisy = cells + rng.laplace(0, sensitivity / EPSILON, (runs, 2))
    # The log-likelihood ratio of the two worlds, up to a factor.
    worlds = [np.abs(noisy - [10.0 - world, 10.0 + world]).sum(1) for world in (0, 1)]
    return worlds[0] - worlds[1]


PRIVBAYES = Control(
    name="sensitivity too small",
    source="PrivBayes under replace-one with the sensitivity of add-remove",
    mistake="a replaced row moves two cells of a marginal; noise is added for one",
    mend="an L1 sensitivity of 2",
    published=lambda present, runs, rng: _marginal(present, runs, rng, 1.0),
    corrected=lambda present, runs, rng: _marginal(present, runs, rng, 2.0),
)

PLAIN = Control(
    name="plain Gaussian",
    source="no mistake: what a sound release looks like to the audit",
    mistake="none",
    mend="none",
    published=lambda present, runs, rng: _gaussian(present, runs, rng, gaussian_noise(1.0)),
    corrected=lambda present, runs, rng: _gaussian(present, runs, rng, gaussian_noise(1.0)),
    normal=True,
)
