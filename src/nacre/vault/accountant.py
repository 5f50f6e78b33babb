"""What a list of releases costs: exact Gaussian composition, privacy-loss distributions otherwise.

Adjacency is dealt with before this file: every release here is described by its noise divided by
its true sensitivity, so dp_accounting is always asked about add-or-remove of one unit.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from scipy.special import expit, log_ndtr, logit, ndtr, ndtri

from nacre.errors import NacreError
from nacre.vault.bound import Adjacency
from nacre.vault.integers import leftover_delta, leftover_epsilon
from nacre.vault.parties import Parties

# The discrete Gaussian is not exactly a Gaussian: docs/privacy.md proves that with noise of at
# least 2^16 sqrt(D) grid steps each release costs at most this much more.  So
# does noise in shares of sites, whose sum is not a discrete Gaussian either (section 4, too).
SLACK_EPSILON = 1e-8
SLACK_DELTA = 1e-9

SHARED = "distributed-gaussian"  # noise in shares, each of one site
ONE_SHOT = ("gaussian", SHARED, "exponential")  # mechanisms that are mu-Gaussian-DP by themselves
UNITS = ("row", "person")
NONE = "none"  # the mechanism of an answer without noise


@dataclasses.dataclass(frozen=True, kw_only=True)
class Release:
    """One answer that left the vault, with all that is needed to recompute its cost.

    Mechanisms:
        - 'gaussian': a sum with discrete Gaussian noise.
        - 'distributed-gaussian': a sum whose noise is that of several sites, in shares of discrete
          Gaussian noise; `noise` is that of the honest ones that are left if `dropouts` of `sites`
          are missing and `colluding` tell others theirs.
        - 'exponential': `steps` choices by Gumbel noise of scale `noise` on scores whose
          differences change by at most `sensitivity`.
        - 'subsampled-gaussian': `steps` noisy sums of `size` numbers in all over Poisson batches
          at rate `rate`; with an `epsilon` and a `delta` if its rate or steps were chosen after an
          earlier answer: these were reserved before it, it costs no more, and they are added.
        - 'approximate': a mechanism proved (`epsilon`, `delta`)-private by itself.
        - 'none': the answer as it is, without noise; nothing is promised.

    Its cost is that of one row of the table, or of one person, by `unit`; the column `by` tells
    persons apart.
    """

    name: str
    mechanism: str
    theorem: str
    adjacency: Adjacency
    size: int
    sensitivity: float = 0.0
    noise: float = 0.0
    rate: float = 1.0
    steps: int = 1
    epsilon: float = 0.0
    delta: float = 0.0
    unit: str = "row"
    by: str = ""
    sites: int = 0
    dropouts: int = 0
    colluding: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.by, str) or bool(self.by) is not (self.unit == "person"):
            raise NacreError("A release per person says by which column, and no other does.")
        if self.unit not in UNITS:
            raise NacreError(f"A release is per row or per person, not per {self.unit!r}.")
        if self.mechanism not in (*ONE_SHOT, "subsampled-gaussian", "approximate", NONE):
            raise NacreError(f"Unknown mechanism {self.mechanism!r} in release {self.name!r}.")
        if not all(isinstance(x, str) for x in (self.name, self.theorem)):
            raise NacreError("A release needs a name and a theorem, as text.")
        numbers = (self.sensitivity, self.noise, self.rate, self.epsilon, self.delta)
        if not all(isinstance(x, (int, float)) and math.isfinite(x) and x >= 0 for x in numbers):
            raise NacreError(f"Release {self.name!r} has a number in it that means nothing.")
        if not all(type(x) is int and x >= 1 for x in (self.size, self.steps)):
            raise NacreError(f"Release {self.name!r} needs whole numbers as size and steps.")
        if not self.private:
            if any((self.sensitivity, self.noise, self.epsilon, self.delta)):
                raise NacreError(f"Release {self.name!r} has no noise, so it cannot claim any.")
        elif self.mechanism == "approximate":
            if not self.epsilon > 0 or self.noise or self.sensitivity:
                raise NacreError(f"Release {self.name!r} needs an epsilon, and nothing else.")
        elif not (self.noise > 0 and self.sensitivity > 0):
            raise NacreError(f"Release {self.name!r} needs noise and a sensitivity, no epsilon.")
        elif not 1e-6 < self.noise / self.sensitivity < 1e15:
            raise NacreError(f"Release {self.name!r} has hardly any noise, or nothing but noise.")
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        sampled, chosen = (
            self.mechanism in (m, NONE) for m in ("subsampled-gaussian", "exponential")
        )
        if (self.rate != 1 and not sampled) or (self.steps != 1 and not (sampled or chosen)):
            raise NacreError(f"Release {self.name!r} cannot have steps or a rate.")
        reserved = self.epsilon > 0 and self.delta > 0
        if self.mechanism != "approximate" and not (
            (sampled and reserved) or self.epsilon == self.delta == 0
        ):
            raise NacreError(f"Release {self.name!r} has an epsilon or delta that mean nothing.")
        if self.one_shot and not 0 < self.mu < math.inf:
            raise NacreError(f"Release {self.name!r} has too little noise to mean anything.")
        if not 0 < self.rate <= 1 or not self.delta < 1:
            raise NacreError(f"Release {self.name!r} has a rate or delta outside its range.")
        if self.mechanism == SHARED:
            self.parties  # noqa: B018 (refuses what they cannot be)
        elif self.sites or self.dropouts or self.colluding:
            raise NacreError(f"Release {self.name!r} has no shares of sites in its noise.")

    @property
    def private(self) -> bool:
        """Whether noise was added, so that anything is promised at all."""
        return self.mechanism != NONE

    @property
    def parties(self) -> Parties:
        """Who shares the noise of a 'distributed-gaussian'."""
        return Parties(sites=self.sites, dropouts=self.dropouts, colluding=self.colluding)

    @property
    def multiplier(self) -> float:
        """Noise standard deviation over sensitivity."""
        return self.noise / self.sensitivity

    @property
    def one_shot(self) -> bool:
        """Whether it is mu-Gaussian-DP, and so composes by adding mu^2."""
        return self.mechanism in ONE_SHOT

    @property
    def mu(self) -> float:
        """The Gaussian-DP parameter of a one-shot release."""
        if self.mechanism == "exponential":
            return math.sqrt(self.steps) * choice_mu(1 / self.multiplier)
        return 1 / self.multiplier

    def without_noise(self) -> Release:
        """The same answer with its noise off: epsilon is infinite, whatever else is released."""
        return Release(
            name=self.name,
            mechanism=NONE,
            theorem="none: no noise was added",
            adjacency=self.adjacency,
            size=self.size,
            rate=self.rate,
            steps=self.steps,
            unit=self.unit,
            by=self.by,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; without noise no epsilon of zero, which might be believed."""
        said = {**dataclasses.asdict(self), "adjacency": self.adjacency.value}
        unsaid = set() if self.private else {"sensitivity", "epsilon", "delta"}
        if self.unit == "row":
            unsaid |= {"unit", "by"}
        if self.mechanism != SHARED:
            unsaid |= {"sites", "dropouts", "colluding"}
        return {name: value for name, value in said.items() if name not in unsaid}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Release:
        """The inverse of `to_dict`; unknown fields are refused."""
        return Release(**data)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """delta(epsilon) of a mu-Gaussian-DP mechanism, exactly (Balle and Wang, 2018, Theorem 8)."""
    if mu == 0:
        return 0.0
    second = math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))
    return max(0.0, float(ndtr(mu / 2 - epsilon / mu)) - second)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon >= 0 at which a mu-Gaussian-DP mechanism is (epsilon, delta)-private."""
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    high = 1.0
    while gaussian_delta(mu, high) > delta:
        high *= 2
    return _bisect(lambda epsilon: gaussian_delta(mu, epsilon) <= delta, 0.0, high)


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu for which mu-Gaussian-DP implies (epsilon, delta)-privacy."""
    high = 1.0
    while gaussian_delta(high, epsilon) <= delta:
        high *= 2
    return -_bisect(lambda negative: gaussian_delta(-negative, epsilon) <= delta, -high, -1e-300)


def choice_mu(epsilon: float) -> float:
    """mu of one choice by the exponential mechanism whose privacy loss has range `epsilon`.

    Theorem (docs/privacy.md, section 6): losses within an interval of length epsilon are dominated
    by two points whose log odds differ by epsilon; the worst such pair is the symmetric one,
    so mu = 2 Phi^-1(1 / (1 + exp(-epsilon / 2))), about 0.627 epsilon for small epsilon.
    """
    return -2 * float(ndtri(expit(-epsilon / 2)))


def choice_epsilon(mu: float) -> float:
    """The inverse of `choice_mu`."""
    return -2 * float(logit(ndtr(-mu / 2)))


def epsilon_of(
    releases: Sequence[Release], delta: float, adjacency: Adjacency = Adjacency.ADD_REMOVE
) -> float:
    """The epsilon of all `releases` together at `delta`; infinite where delta is too small.

    It is infinite, too, if one of them had no noise.

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
    epsilon = math.fsum(r.epsilon for r in fixed) + SLACK_EPSILON * len(one_shot)
    epsilon += math.fsum(_reserved_epsilon(r, adjacency) for r in apart)
    spent = math.fsum(r.delta for r in (*fixed, *apart))
    left = (delta - spent) * (1 - SLACK_DELTA * len(one_shot))
    if not one_shot and not stepwise:
        return epsilon if left >= -1e-12 * delta else math.inf
    if left <= 0:
        return math.inf
    if not stepwise:
        return epsilon + gaussian_epsilon(total_mu(one_shot), left)
    if adjacency is Adjacency.ADD_REMOVE:
        return epsilon + _stepwise_epsilon([*one_shot, *stepwise], left, adjacency)
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
        if epsilon > 700:
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
        if found > 700:
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


def calibrate(cost: Callable[[float], float], epsilon: float, *, guess: float) -> float:
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
            if noise > 1e6:
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


def _bisect(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest number in [low, high] at which the monotone `holds` is true."""
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
