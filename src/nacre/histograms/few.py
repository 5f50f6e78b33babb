"""Numbers that have few values, most of which noise hides: how many rows each value has, expected.

Distances between stations, rates of a tariff, scores of a test: nearly all ticks are empty, and no
row lies between two values.  Whether a number is so is told by all its noisy counts together, long
before single ones stand out.  Each count is then read as a mixture: the tick is empty, or it holds
rows of which exponentially many are expected.
"""

from __future__ import annotations

import dataclasses
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from nacre.histograms.clean import SURE, expected

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

SHARES = 0.0, 0.25, 0.5, 0.75, 0.9, 1.0  # of the rows that lie at single values
MOST, SOME = 0.75, 0.25
NEARLY_ALL = 0.9  # above which rows elsewhere are taken for noise
MEANS = np.geomspace(0.5, 64, 15)  # rows of one value, in deviations of the noise
FULLEST = 0.5  # of the ticks hold rows, at most: otherwise values are not few
LIKELIER = 5.0  # in logarithms, than that at most `SOME` of the rows lie at single values
SPIKES = 2  # cells that say nothing of whether all are jagged
JAGGED = 0.2  # of the squares of counts are differences between neighbors


@final
@dataclasses.dataclass(frozen=True)
class FewValues:
    """What the counts of a number's ticks tell of its values.

    Attributes:
        occupied: share of the ticks that hold rows.
        mean: rows of one of these.
        rest: rows of every tick that lie nowhere in particular.
        noise: deviation of a count.
    """

    occupied: float
    mean: float
    rest: Array
    noise: float

    @staticmethod
    def of(counts: Array, even: Array, noise: float) -> FewValues | None:
        """From the counts of ticks, and what they would be if no value were like another.

        None unless it is likeliest that most rows lie at a few values, and by far likelier than
        that only some of them do.
        """
        found: list[tuple[float, float, FewValues]] = []
        for share in SHARES:
            for mean in MEANS * noise:
                occupied = share * even.sum() / (mean * len(counts))
                if occupied <= FULLEST:
                    own = FewValues(occupied, float(mean), (1 - share) * even, noise)
                    found.append((share, float(np.logaddexp(*own._logs(counts)).sum()), own))
        share, value, best = max(found, key=lambda each: each[1])
        others = max(each[1] for each in found if each[0] <= SOME)
        if share < MOST or value <= others + LIKELIER:
            return None
        return dataclasses.replace(best, rest=0 * even) if share >= NEARLY_ALL else best

    def rows(self, counts: Array) -> Array:
        """How many rows each tick is expected to hold as a value of its own."""
        empty, held = self._logs(counts)
        chance = np.exp(held - np.logaddexp(empty, held))
        return np.asarray(chance * expected(counts - self.rest, self.noise, self.mean))

    def _logs(self, counts: Array) -> tuple[Array, Array]:
        """Log densities of the counts with the tick empty, and with rows of a value on it."""
        z, ratio = (counts - self.rest) / self.noise, self.noise / self.mean
        normal = -0.5 * z * z - 0.5 * np.log(2 * np.pi)
        tail = np.log(ratio) + ratio * (ratio / 2 - z) + log_ndtr(z - ratio)
        return normal + np.log1p(-self.occupied), tail + np.log(max(self.occupied, 1e-300))


def jagged(counts: Array, noise: float, widths: Array) -> bool:
    """Whether neighboring cells surely differ as those of few values do, by counts for width.

    The fullest ones are left out: a spike or two in a smooth number are no reason.
    """
    usual = np.sort(np.argsort(counts)[: max(len(counts) - SPIKES, 0)])
    counts, widths = counts[usual], widths[usual]
    if len(counts) < 3:
        return False
    weight = 1 / (widths[1:] ** 2 + widths[:-1] ** 2)
    apart = counts[:-1] * widths[1:] - counts[1:] * widths[:-1]
    apart = apart * apart * weight - noise**2
    whole = float((counts**2).sum() - len(counts) * noise**2)
    sure = SURE * noise**2 * np.sqrt(3 * len(counts))
    return bool(apart.sum() > max(sure, JAGGED * whole))
