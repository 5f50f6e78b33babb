"""What a list of releases costs: exact Gaussian composition, privacy-loss distributions otherwise.

Adjacency is dealt with before this file: every release here is described by its noise divided by
its true sensitivity, so dp_accounting is always asked about add-or-remove of one unit.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nacre.errors import NacreError
from nacre.vault.bound import Adjacency
from nacre.vault.gaussian_dp import gaussian_epsilon
from nacre.vault.integers import leftover_delta, leftover_epsilon
from nacre.vault.release import Release

# The discrete Gaussian is not exactly a Gaussian: docs/privacy.md proves that with noise of at
# least 2^16 sqrt(D) grid steps each release costs at most this much more.  So
# does noise in shares of sites, whose sum is not a discrete Gaussian either (section 4, too).
SLACK_EPSILON = 1e-8
SLACK_DELTA = 1e-9
# Where that proof ends.
LEAST_EPSILON, LARGEST_EPSILON = 1e-5, 700.0
LEAST_DELTA = 1e-20
# Beyond these a list of releases is taken to cost more than anything: they bound time and memory
# (some 0.7 GB), as a stranger may have written it, and no fit within `LARGEST_EPSILON` comes near.
# They hold for all that is worked out of one list, together.
MOST_POINTS = 5e7  # of privacy-loss distributions
MOST_WORK = 2e9  # points times releases: each is convolved with those before it
MOST_STEPS = 2 * 10**6  # of batches: twice as many as a setting allows, as methods train two parts
MOST_EVENTS = 200  # releases in these distributions
MOST_NOISE = 1e6  # sensitivities, up to which noise is searched for


def epsilon_of(
    releases: Sequence[Release], delta: float, adjacency: Adjacency = Adjacency.ADD_REMOVE
) -> float:
    """The epsilon of all `releases` together at `delta`; infinite where delta is too small.

    It is infinite, too, if one of them had no noise, or if it cannot be worked out (`_computable`).

    Theorem:
        Gaussian sums (mu = sensitivity/noise; also in shares of sites) and choices (`choice_mu`),
        adaptively chosen, compose to mu^2 = sum mu_i^2 (Dong, Roth and Su, 2022, Corollary 3.3).
        With Poisson-subsampled ones among them, privacy-loss distributions compose (Koskela et al.,
        2020; pessimistic rounding, the worse of adding and removing).  Approximate releases add
        their epsilon and delta (basic composition), and so does a subsampled release whose rate was
        chosen after an earlier answer: whatever the rate, it is dominated by the worst (epsilon,
        delta)-private pair, and dominating pairs compose adaptively (Zhu, Dong and Wang, 2022,
        Theorem 10).

    Adjacency:
        each one-shot release already carries its sensitivity under `adjacency`.  Poisson
        subsampling is analyzed under add-remove; under replace-one its part (e, d) counts as (2e,
        (1 + exp(e)) d), a row leaving and another entering, and adds to the rest, which gets half
        of delta.
    """
    if other := [r.name for r in releases if r.adjacency is not adjacency]:
        raise NacreError(
            f"'{other[0]}' was released under another adjacency than {adjacency.value}; the two "
            "cannot be composed. Use the same adjacency throughout."
        )
    if len({r.by for r in releases}) > 1:
        raise NacreError(
            "Some releases are per row and some per person, or persons are told apart by different "
            "columns; their costs cannot be added. Draft and fit with the same `unit`."
        )
    if not all(r.private for r in releases):
        return math.inf
    fixed = [r for r in releases if r.mechanism == "approximate"]
    one_shot = [r for r in releases if r.one_shot]
    sampled = [r for r in releases if r.mechanism == "subsampled-gaussian"]
    apart, stepwise = ([r for r in sampled if (r.delta > 0) is alone] for alone in (True, False))
    spent = math.fsum(r.delta for r in (*fixed, *apart))
    together = [*one_shot, *stepwise] if adjacency is Adjacency.ADD_REMOVE else stepwise
    # Before anything is worked out: a stranger may have written a list that would take hours.
    if spent > delta * (1 + 1e-12) or not _computable(_compositions(apart, stepwise, together)):
        return math.inf
    epsilon = math.fsum(r.epsilon for r in fixed) + SLACK_EPSILON * len(one_shot)
    for release in apart:
        epsilon += _reserved_epsilon(release, adjacency)
        if math.isinf(epsilon):
            return math.inf
    left = (delta - spent) * (1 - SLACK_DELTA * len(one_shot))
    if not one_shot and not stepwise:
        return epsilon
    if left <= 0:
        return math.inf
    if not stepwise:
        return epsilon + gaussian_epsilon(total_mu(one_shot), left)
    if adjacency is Adjacency.ADD_REMOVE:
        return epsilon + _stepwise_epsilon(together, left, adjacency)
    if one_shot:
        left /= 2
        epsilon += gaussian_epsilon(total_mu(one_shot), left)
    return epsilon + _stepwise_epsilon(stepwise, left, adjacency)


def _reserved_epsilon(release: Release, adjacency: Adjacency) -> float:
    """What was reserved for a release before its rate was known; infinite if it costs more."""
    cost = _stepwise_epsilon([release], release.delta, adjacency)
    return release.epsilon if cost <= release.epsilon * (1 + 1e-9) else math.inf


def _stepwise_epsilon(releases: Sequence[Release], delta: float, adjacency: Adjacency) -> float:
    """The epsilon of releases of which some are step-wise, by privacy-loss distributions.

    Under replace-one 2e for the smallest e with (1 + exp(e)) d <= delta, where the releases are
    (e, d)-private under add-remove.
    """
    composed = _distribution(releases)
    sampled = [r for r in releases if not r.one_shot]
    far = math.fsum(leftover_delta(r.size, r.steps) for r in sampled)
    more = math.fsum(leftover_epsilon(r.size, r.steps) for r in sampled)
    if adjacency is Adjacency.ADD_REMOVE:
        return _drawn_epsilon(composed, delta, far, more)
    share = delta / 2
    for _ in range(50):
        epsilon = _drawn_epsilon(composed, share, far, more)
        if epsilon > LARGEST_EPSILON:
            break
        if (1 + math.exp(epsilon)) * share <= delta:
            return 2 * epsilon
        share = delta / (1 + math.exp(epsilon)) * (1 - 1e-9)
    return math.inf


def _drawn_epsilon(composed: Any, delta: float, far: float, more: float) -> float:
    """epsilon of noise as it is drawn: at distance `far` from discrete Gaussians.

    The smallest e found with exp(more) d + (1 + exp(e)) far <= delta, where real Gaussian noise
    would be (e - more, d)-private (docs/privacy.md, section 5).
    """
    epsilon = 0.0
    for _ in range(50):
        left = (delta - (1 + math.exp(epsilon)) * far) * math.exp(-more) * (1 - 1e-12)
        if left <= 0:
            return math.inf
        found = float(composed.get_epsilon(left)) + more
        if found <= epsilon:
            return epsilon
        if found > LARGEST_EPSILON:
            return math.inf
        epsilon = found * (1 + 1e-12)
    return math.inf


def total_mu(releases: Sequence[Release]) -> float:
    """mu of adaptively composed one-shot releases."""
    return math.sqrt(math.fsum(r.mu**2 for r in releases))


class _Composition(NamedTuple):
    """Releases as their cost depends on them: of each noise multiplier, rate (or None), steps."""

    events: tuple[tuple[float, float | None, int], ...]

    def get_epsilon(self, delta: float) -> float:
        """At this delta, by the composed privacy-loss distribution."""
        return _epsilon_at(self, delta)


def _distribution(releases: Sequence[Release]) -> _Composition:
    """What is composed: Gaussian noise, on Poisson batches where there is a rate."""
    return _Composition(
        tuple(
            (1 / release.mu, None, 1)
            if release.one_shot
            else (release.multiplier, release.rate, release.steps)
            for release in releases
        )
    )


def _compositions(
    apart: Sequence[Release], stepwise: Sequence[Release], together: Sequence[Release]
) -> list[_Composition]:
    """What is worked out of a list: each release with a cost of its own, and the others at once."""
    alone = [_distribution([release]) for release in apart]
    return [*alone, _distribution(together)] if stepwise else alone


def _computable(compositions: Sequence[_Composition]) -> bool:
    """Whether privacy-loss distributions have so few points that all can be worked out.

    A step's loss reaches 1 / (2 m^2) + 8 / m for a noise multiplier m, but for a chance of 1e-15;
    those of all steps add up to as much in each step with the row in its batch, and, by Markov's
    inequality, to no more than 35 beyond their Renyi divergence of order two.  Infinite is a safe
    answer: it refuses.
    """
    events = [event for composition in compositions for event in composition.events]
    trained = sum(steps for _, rate, steps in events if rate is not None)
    if len(events) > MOST_EVENTS or trained > MOST_STEPS:
        return False
    points = [_points(composition) for composition in compositions]
    work = (many * len(c.events) for many, c in zip(points, compositions, strict=True))
    return sum(points) <= MOST_POINTS and sum(work) <= MOST_WORK


def _points(composition: _Composition) -> float:
    """No fewer than the points of a composed privacy-loss distribution: see `_computable`."""
    points = 0.0
    for multiplier, rate, steps in composition.events:
        chance, inverse = 1.0 if rate is None else rate, 1 / multiplier**2
        loss, met = inverse / 2 + 8 / multiplier, 2 * chance * steps + 110
        # log(1 + q^2 (exp(1 / m^2) - 1)), or hardly more where that exponential is no number.
        renyi = inverse + max(-inverse, 2 * math.log(chance)) + 1
        if inverse < 700:
            renyi = math.log1p(chance**2 * math.expm1(inverse))
        points += min(steps * loss, steps * renyi + 35, met * loss)
    return points / _interval(composition)


@functools.lru_cache(maxsize=4096)
def _epsilon_at(composition: _Composition, delta: float) -> float:
    """Kept, as a fit asks again and again: for its plan, its charge, its guarantee, its file."""
    return float(_composed(composition).get_epsilon(delta))


@functools.lru_cache(maxsize=2)  # they can be large
def _composed(composition: _Composition) -> Any:
    """The composed privacy-loss distribution, as dp_accounting's accountant."""
    import dp_accounting
    from dp_accounting.pld import pld_privacy_accountant

    accountant = pld_privacy_accountant.PLDAccountant(
        dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
        value_discretization_interval=_interval(composition),
    )
    for multiplier, rate, steps in composition.events:
        event = dp_accounting.GaussianDpEvent(multiplier)
        if rate is not None:
            event = dp_accounting.PoissonSampledDpEvent(rate, event)
        accountant.compose(event, steps)
    return accountant


def _interval(composition: _Composition) -> float:
    """Between which losses a distribution is rounded: as coarse as hardly shows in epsilon.

    Whatever it is, rounding is pessimistic (Doroshenko et al., 2022, "connect the dots"), so that
    only time and tightness depend on it.  Measured, epsilon grows by at most 1.5 interval^2 a step:
    in all by 6e-6, or 4e-5 / multiplier^2 where that is more and a single step costs much, unless
    there are so many steps that the smallest interval is used.
    """
    steps = sum(steps for _, _, steps in composition.events)
    least = min(multiplier for multiplier, _, _ in composition.events)
    return min(1e-2, max(1e-4, max(2e-3, 5e-3 / least) / math.sqrt(steps)))


def calibrate(
    cost: Callable[[float], float], epsilon: float, *, guess: float, most: float = MOST_NOISE
) -> float:
    """A noise multiplier whose `cost` is at most `epsilon`, and hardly less (one part in 10^3).

    Regula falsi on logarithms, which are nearly a line.  It comes from above `guess`: privacy-loss
    distributions of too little noise are huge and slow.  It stops at a tenth of the guess.
    """
    aim = epsilon * (1 - 5e-4)
    noise, below, above = 1.3 * guess, None, None  # (noise, cost) beyond and within the budget
    while True:
        found = cost(noise)
        if found <= epsilon:
            above = (noise, found)
            if found >= epsilon * (1 - 1e-3) or noise <= guess / 10:
                return noise
        else:
            below = (noise, found)
        if below is None:
            noise *= min(0.95, max(0.5, (found / aim) ** 0.8))
        elif above is None:
            noise *= min(2.0, max(1.02, found / aim))
            if noise > most:
                raise NacreError(
                    f"No amount of noise up to {noise:g} sensitivities reaches epsilon="
                    f"{epsilon:g}: what was released before has used the budget up. Raise epsilon "
                    "or delta."
                )
        elif above[0] / below[0] < 1 + 1e-4:
            return above[0]
        else:
            noise = _between(below, above, aim)


def _between(below: tuple[float, float], above: tuple[float, float], aim: float) -> float:
    """Where a line through the logarithms of two points reaches `aim`, well inside of both."""
    (low, more), (high, less) = below, above
    part = 0.5
    if math.isfinite(more) and less > 0:
        part = math.log(more / aim) / math.log(more / less)
    return low * (high / low) ** min(0.98, max(0.02, part))


def subsampled_guess(mu: float, rate: float, steps: int) -> float:
    """The multiplier that the central limit theorem suggests (Bu et al., 2020): a start only."""
    return 1 / math.sqrt(math.log1p(mu**2 / (rate**2 * steps)))
