"""One answer that left the vault, as certificates and ledgers write it down."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from nacre.errors import NacreError
from nacre.vault.bound import Adjacency
from nacre.vault.gaussian_dp import choice_mu
from nacre.vault.parties import Parties

SHARED = "distributed-gaussian"  # noise in shares, each of one site
ONE_SHOT = ("gaussian", SHARED, "exponential")  # mechanisms that are mu-Gaussian-DP by themselves
UNITS = ("row", "person")
NONE = "none"  # the mechanism of an answer without noise
# Beyond what any fit asks for; a stranger may have written a release.
LARGEST_SIZE, LARGEST_STEPS = 10**15, 10**9
LARGEST = 1e300  # of any other number
LEAST_RATE = 2.0**-33  # rates are multiples of 2^-32


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
        if not all(isinstance(x, (int, float)) and 0 <= x <= LARGEST for x in numbers):
            raise NacreError(f"Release {self.name!r} has a number in it that means nothing.")
        if not all(type(x) is int and x >= 1 for x in (self.size, self.steps)):
            raise NacreError(f"Release {self.name!r} needs whole numbers as size and steps.")
        if self.size > LARGEST_SIZE or self.steps > LARGEST_STEPS or self.rate < LEAST_RATE:
            raise NacreError(
                f"Release {self.name!r} has a size, steps or a rate beyond {LARGEST_SIZE:.0e}, "
                f"{LARGEST_STEPS:.0e} and {LEAST_RATE:g}: what it costs cannot be worked out."
            )
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
