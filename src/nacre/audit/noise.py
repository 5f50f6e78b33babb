"""Is the noise as large as it is stated?  Of answers whose exact values the auditor knows."""

from __future__ import annotations

import dataclasses
import math

from scipy.stats import chi2

CERTAIN = 1 - 1e-6


@dataclasses.dataclass(frozen=True)
class Noise:
    """Numbers that are standard normal if the noise is what it says.

    Theorem:
        given all earlier answers, noise over its stated deviation is standard normal in every
        place, whatever was asked, so the sum of `numbers` squares is χ² with as many degrees of
        freedom (about so, where earlier noise decides how many); were the noise r times as large
        as stated, r² times that.

    Attributes:
        squares: their sum.
        numbers: how many.
    """

    squares: float = 0.0
    numbers: int = 0

    def __add__(self, other: Noise) -> Noise:
        return Noise(self.squares + other.squares, self.numbers + other.numbers)

    @property
    def ratio(self) -> float:
        """The deviation that was drawn over the one that is stated; NaN if nothing was seen."""
        return math.sqrt(self.squares / self.numbers) if self.numbers else math.nan

    def interval(self, confidence: float) -> tuple[float, float]:
        """Two ends between which the true ratio lies."""
        if not self.numbers:
            return 0.0, math.inf
        tails = (1 + confidence) / 2, (1 - confidence) / 2
        low, high = (math.sqrt(self.squares / chi2.ppf(tail, self.numbers)) for tail in tails)
        return low, high

    def too_small(self, among: int = 1) -> bool:
        """Whether less was drawn than stated: wrong once in a million audits of `among` answers.

        Noise that is no number is none.
        """
        if not math.isfinite(self.squares):
            return True
        return self.interval(1 - (1 - CERTAIN) / among)[1] < 1
