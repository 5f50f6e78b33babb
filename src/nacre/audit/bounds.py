"""Lower bounds on epsilon from an attacker's scores in two worlds, each with its theorem.

In one world a canary row is in the table, in the other it is not (or is another row).  An attack
gives each run a score; higher means "it was there".  A bound that exceeds a claim refutes it at the
given confidence.  One that does not proves nothing: a better attack, or a worse table, may exist.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import betaincinv, ndtri

from nacre.vault.gaussian_dp import gaussian_epsilon

CONFIDENCE = 0.95

Scores = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, kw_only=True)
class LowerBound:
    """What an audit has shown: epsilon is at least this, or an event of 1 - confidence happened.

    Attributes:
        epsilon: the bound at `delta`; 0 if nothing is shown.
        delta: of the claim that is tested.
        confidence: over all runs of such an audit.
        theorem: why it holds, and under which premise.
        runs: of both worlds together.
        mu: the bound on the Gaussian-DP parameter, where the theorem is about that.
    """

    epsilon: float
    delta: float
    confidence: float
    theorem: str
    runs: int
    mu: float | None = None

    def refutes(self, claimed: float) -> bool:
        """Whether a claim of so small an epsilon cannot stand."""
        return self.epsilon > claimed


def counted(
    without: ArrayLike, present: ArrayLike, *, delta: float, confidence: float = CONFIDENCE
) -> LowerBound:
    """By counting how often an event happens in either world; no premise about the mechanism.

    Theorem:
        (ε, δ)-privacy means P(E) ≤ e^ε P'(E) + δ for every event E and both orders of the worlds;
        so ε ≥ log((p - δ) / q) if p ≤ P(E) and q ≥ P'(E).  p and q are the ends of Clopper and
        Pearson's intervals, each one-sided at (1 + confidence) / 2, hence both hold with
        `confidence` (union bound).  The event is chosen on the first half of the runs of each
        world and counted on the second, so that choosing it costs no confidence.

    Args:
        without: scores of runs in which the canary was not there.
        present: scores of runs in which it was.
        delta: of the claim.
        confidence: that the bound is no larger than the true epsilon.
    """
    zeros, ones = _scores(without, present)
    alpha = (1 - confidence) / 2

    def shown(likely: Any, of: int, unlikely: Any, among: int) -> Any:
        low, high = lower_end(likely, of, alpha), upper_end(unlikely, among, alpha)
        return np.log(np.maximum(low - delta, 1e-300) / high)

    epsilon = _most_shown_apart(zeros, ones, shown)
    return LowerBound(
        epsilon=epsilon,
        delta=delta,
        confidence=confidence,
        theorem="Clopper-Pearson on an event chosen on other runs; holds for every mechanism",
        runs=len(zeros) + len(ones),
    )


def tradeoff(
    without: ArrayLike, present: ArrayLike, *, delta: float, confidence: float = CONFIDENCE
) -> LowerBound:
    """A bound on mu of a mechanism that claims Gaussian DP, and its epsilon at delta.

    Theorem:
        mu-Gaussian DP means that no test has errors (α, β) with Φ⁻¹(1 - α) - Φ⁻¹(β) > mu (Dong,
        Roth and Su, 2022, Definition 2.6).  With Clopper and Pearson's upper ends of both errors,
        together at `confidence`, that refutes every smaller mu (Nasr et al., 2023, section 4).
        As for `counted` the threshold is chosen on the first half of the runs.

    Premise:
        the claim to be tested is mu-Gaussian DP, as that of every one-shot release here is.  A
        mechanism that is (ε, δ)-private in another way may exceed this number.
    """
    zeros, ones = _scores(without, present)
    alpha = (1 - confidence) / 2

    def shown(likely: Any, of: int, unlikely: Any, among: int) -> Any:
        power, false = lower_end(likely, of, alpha), upper_end(unlikely, among, alpha)
        return ndtri(np.maximum(power, 1e-300)) - ndtri(np.minimum(false, 1 - 1e-16))

    mu = _most_shown_apart(zeros, ones, shown)
    return LowerBound(
        epsilon=_gaussian(mu, delta),
        delta=delta,
        confidence=confidence,
        theorem="trade-off curve of Gaussian DP, errors by Clopper-Pearson on other runs",
        runs=len(zeros) + len(ones),
        mu=mu,
    )


def shifted(
    without: ArrayLike, present: ArrayLike, *, delta: float, confidence: float = CONFIDENCE
) -> LowerBound:
    """A bound on mu where the score is known to be normal with one variance in both worlds.

    Theorem:
        of n runs a world the means' difference d has d/σ - mu ~ N(0, 2/n), mu = |shift| / σ, and
        (2n - 2) s²/σ² is χ² with 2n - 2 degrees of freedom.  With σ⁺ the upper end of σ at
        (1 + confidence) / 2, mu ≥ d/σ⁺ - z √(2/n), z the normal quantile there (union bound).
        Sees differences of mu of a few percent, for which counting would need 10^10 runs.

    Premise:
        the noise is Gaussian and the score a linear function of the release: true by construction
        of the Gaussian mechanism whatever its scale, so a scale that is too small is found.
    """
    zeros, ones = _scores(without, present)
    n, m = len(zeros), len(ones)
    alpha, degrees = (1 - confidence) / 2, len(zeros) + len(ones) - 2
    pooled = ((n - 1) * zeros.var(ddof=1) + (m - 1) * ones.var(ddof=1)) / degrees
    widest = math.sqrt(degrees * pooled / stats.chi2.ppf(alpha, degrees))
    apart = float(ones.mean() - zeros.mean())
    if widest == 0:
        mu = math.inf if apart > 0 else 0.0
    else:
        mu = max(0.0, apart / widest + float(ndtri(alpha)) * math.sqrt(1 / n + 1 / m))
    return LowerBound(
        epsilon=_gaussian(mu, delta),
        delta=delta,
        confidence=confidence,
        theorem="shift over standard deviation of a normal score, by normal and χ² quantiles",
        runs=n + m,
        mu=mu,
    )


def most_shown(runs: int, *, delta: float, confidence: float = CONFIDENCE) -> float:
    """The largest epsilon that `counted` could show with so many runs a world: a perfect attack."""
    used, alpha = runs // 2, (1 - confidence) / 2
    low, high = lower_end(used, used, alpha), upper_end(0, used, alpha)
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def lower_end(hits: Any, of: int, alpha: float) -> Any:
    """Clopper and Pearson's lower bound on a probability: wrong with chance at most alpha."""
    hits = np.asarray(hits)
    return np.where(hits > 0, betaincinv(np.maximum(hits, 1), of - hits + 1.0, alpha), 0.0)


def upper_end(hits: Any, of: int, alpha: float) -> Any:
    """Clopper and Pearson's upper bound on a probability: wrong with chance at most alpha."""
    hits = np.asarray(hits)
    return np.where(hits < of, betaincinv(hits + 1.0, np.maximum(of - hits, 1), 1 - alpha), 1.0)


def _gaussian(mu: float, delta: float) -> float:
    return math.inf if mu == math.inf else gaussian_epsilon(mu, delta) if mu > 0 else 0.0


def _scores(without: ArrayLike, present: ArrayLike) -> tuple[Scores, Scores]:
    zeros, ones = (np.asarray(given, np.float64).ravel() for given in (without, present))
    if min(len(zeros), len(ones)) < 4:
        raise ValueError("An audit needs at least four runs of each world.")
    if not (np.isfinite(zeros).all() and np.isfinite(ones).all()):
        raise ValueError("A score is not a finite number.")
    return zeros, ones


def _most_shown_apart(zeros: Scores, ones: Scores, shown: Callable[..., Any]) -> float:
    """What the event shows on one half of the runs that shows most on the other half; or zero.

    An event is 'the score is at least t' or 'at most t', likely in one world or in the other.  t
    lies between two scores: at a score itself, one run of the other half in two would fall beyond.
    """
    first = zeros[::2], ones[::2]
    values = np.unique(np.concatenate(first))
    values = values[:-1] / 2 + values[1:] / 2 if len(values) > 1 else values
    # A few hundred thresholds are as good as all, and quick.
    places = np.unique(np.linspace(0, len(values) - 1, min(len(values), 400)).astype(int))
    events = _at(values[places], *first, shown)
    kind, place = np.unravel_index(events.argmax(), events.shape)
    found = _at(values[places[[place]]], zeros[1::2], ones[1::2], shown)
    return max(0.0, float(found[kind, 0]))


def _at(
    thresholds: Scores, zeros: Scores, ones: Scores, shown: Callable[..., Any]
) -> NDArray[np.float64]:
    """What the four kinds of event at each threshold show."""
    sides = [np.sort(scores) for scores in (ones, zeros)]
    high = [len(scores) - np.searchsorted(scores, thresholds, "left") for scores in sides]
    low = [np.searchsorted(scores, thresholds, "right") for scores in sides]
    (n, m), found = map(len, sides), []
    for with_canary, without in (high, low):
        found += [shown(with_canary, n, without, m), shown(without, m, with_canary, n)]
    return np.array(found)
