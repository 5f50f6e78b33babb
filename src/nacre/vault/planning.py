"""What a release will be, before it is made: from public numbers only.

Here stand the noise of a sum, the grid on which it is drawn, and what is left of a budget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real

from nacre.errors import NacreError
from nacre.vault.accountant import Release, calibrate, choice_epsilon, epsilon_of, gaussian_mu
from nacre.vault.bound import Adjacency, Bound
from nacre.vault.noise import LARGEST, grid_bits

GAUSSIAN = "Gaussian DP of the clipped integer sum (Balle and Wang 2018; Dong et al. 2022)"
CHOICE = "Gaussian DP of the exponential mechanism (Durfee and Rogers 2019; docs, section 6)"
LARGEST_BLOCK = 1 << 18  # places of one segment to choose among, all classes together
LARGEST_RELEASE = 4_000_000  # exact noise takes some 40 microseconds a number
LARGEST_DELTA = 0.01  # no table for which this would be small is worth a model
FACTOR_ONE = 1 << 8  # what a label's weight of one is in integers


def plan_sum(
    bound: Bound, classes: int, share: float, mu: float, adjacency: Adjacency, name: str
) -> Release:
    """The release that `Vault.sum` would make; reads nothing but public numbers."""
    _check_share(share)
    size = classes * (bound.size + (1 if bound.count else 0))
    if size > LARGEST_RELEASE:
        raise NacreError(
            f"'{name}' would release {size:,} numbers; at most {LARGEST_RELEASE:,} are allowed. "
            "Merge values of the columns with the longest lists, choose a label with fewer values, "
            "or lower the method's settings."
        )
    # One part in 10^9 more than needed, for the rounding of norms to floats.
    sensitivity = bound.sensitivity(adjacency) * (1 + 1e-9)
    return Release(
        name=name,
        mechanism="gaussian",
        theorem=GAUSSIAN,
        adjacency=adjacency,
        size=size,
        sensitivity=sensitivity,
        noise=sensitivity / (mu * math.sqrt(share)),
    )


def plan_choice(
    bound: Bound, classes: int, count: int, share: float, mu: float, adjacency: Adjacency, name: str
) -> Release:
    """The release that `Vault.choose` would make; reads nothing but public numbers."""
    _check_share(share)
    if count < 1:
        raise NacreError(f"There must be at least one choice to make, got count={count}.")
    if any(classes * segment.size > LARGEST_BLOCK for segment in bound.segments):
        raise NacreError(
            f"'{name}' would choose among blocks of more than {LARGEST_BLOCK:,} numbers. "
            "Lower the method's settings, or choose a label with fewer values."
        )
    # Two scores may move in opposite directions, so their difference moves by twice as much.
    sensitivity = 2 * bound.block_change(adjacency) * (1 + 1e-9)
    each = choice_epsilon(mu * math.sqrt(share / count)) * (1 - 1e-8)
    return Release(
        name=name,
        mechanism="exponential",
        theorem=CHOICE,
        adjacency=adjacency,
        size=len(bound.segments),
        sensitivity=sensitivity,
        noise=sensitivity / each,
        steps=count,
    )


def _check_share(share: float) -> None:
    if not 0 < share <= 1 + 1e-9:
        raise NacreError(f"share must lie in (0, 1], got {share}.")


def remaining_mu(
    prior: Sequence[Release], epsilon: float, delta: float, adjacency: Adjacency
) -> float:
    """mu of the one Gaussian that, after the `prior` releases, completes (epsilon, delta)."""
    if not prior:
        # A handful of releases' discretization slack is kept back from the start.
        return gaussian_mu(epsilon - 1e-6, delta * (1 - 1e-6)) * (1 - 1e-9)

    def cost(multiplier: float) -> float:
        extra = Release(
            name="rest",
            mechanism="gaussian",
            theorem=GAUSSIAN,
            adjacency=adjacency,
            size=1,
            sensitivity=1.0,
            noise=multiplier,
        )
        return epsilon_of([*prior, extra], delta * (1 - 1e-6), adjacency)

    return 1 / calibrate(cost, epsilon - 1e-6, guess=1 / gaussian_mu(epsilon, delta))


def check_budget(epsilon: float, delta: float) -> None:
    """Refuse budgets that mean nothing, before anything is spent."""
    for name, given in (("epsilon", epsilon), ("delta", delta)):
        if isinstance(given, bool) or not isinstance(given, Real):
            raise NacreError(f"{name} must be a number, got {given!r}.")
    if not 1e-5 < epsilon <= 700:  # beyond it the proof of the discrete noise's slack ends
        raise NacreError(f"epsilon must be a positive number (1e-5 to 700), got {epsilon}.")
    if not 1e-20 < delta < 1:
        raise NacreError(f"delta must lie strictly between 0 and 1, got {delta}.")
    if delta >= LARGEST_DELTA:
        raise NacreError(
            f"delta must be below {LARGEST_DELTA:g}, got {delta:g}: with a chance of delta nothing "
            "at all is promised. Choose it far below one over the number of rows, such as 1e-6."
        )


def grid_places(release: Release, bound: Bound, units: Sequence[float]) -> int:
    """Binary places of the one fine grid on which one discrete Gaussian serves every segment."""
    sizes = [u * s.weight for u, s in zip(units, bound.segments, strict=True)]
    finest = min([*sizes, bound.count] if bound.count else sizes)
    places = max(grid_bits(release.noise, release.size), math.ceil(-math.log2(finest)) + 8)
    if release.noise * 2.0**places * FACTOR_ONE * 2**6 >= LARGEST:
        raise NacreError(
            "The segments' norms or weights are too far apart for one grid of 64-bit integers. "
            "Bring them closer together, or ask in two sums."
        )
    return places
