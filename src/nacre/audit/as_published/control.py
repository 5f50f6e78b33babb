"""What a negative control is: one mistake, its claim, and the same thing mended."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from nacre.audit.bounds import CONFIDENCE, LowerBound, Scores, counted, shifted
from nacre.vault.gaussian_dp import gaussian_mu

EPSILON, DELTA = 1.0, 1e-5  # what most controls claim

Runs = Callable[[bool, int, np.random.Generator], Scores]
"""(whether the canary is there, how many runs, randomness) -> the attacker's score of each run."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Control:
    """A published mistake on its worst pair of tables, with the attacker's score.

    Attributes:
        name: of the mistake.
        source: where it was published.
        mistake: what was done, in a line.
        mend: what is done here instead.
        published: NOT PRIVATE: runs of the scheme as published.
        corrected: runs of the scheme as it should be, at the same claim.
        epsilon: that was claimed.
        delta: likewise.
        normal: whether the score is normal by construction, so that `shifted` applies: for
            mistakes that are too small to be counted.
    """

    name: str
    source: str
    mistake: str
    mend: str
    published: Runs
    corrected: Runs
    epsilon: float = EPSILON
    delta: float = DELTA
    normal: bool = False

    def audit(
        self,
        runs: Runs,
        size: int,
        rng: np.random.Generator,
        *,
        confidence: float = CONFIDENCE,
    ) -> LowerBound:
        """The bound from `size` runs of each world."""
        bound = shifted if self.normal else counted
        worlds = (runs(False, size, rng), runs(True, size, rng))
        return bound(*worlds, delta=self.delta, confidence=confidence)


def gaussian_noise(
    sensitivity: float, epsilon: float = EPSILON, delta: float = DELTA, *, steps: int = 1
) -> float:
    """The standard deviation that a claim needs: exact, for `steps` releases together."""
    return sensitivity * float(np.sqrt(steps)) / gaussian_mu(epsilon, delta)
