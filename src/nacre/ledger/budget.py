"""How much of a budget is spent and whether one more charge fits: the ledger's arithmetic, pure.

Both rules are *filters*: they stay valid when each fit (its epsilon, method and settings) is chosen
after looking at the outputs of the fits before it.

- `add`: epsilon and delta of all fits add up (Rogers, Roth, Ullman and Vadhan, 2016, "Privacy
  odometers and filters": the basic-composition filter).
- `gaussian`: for fits that release nothing but Gaussian sums and choices (both mu-Gaussian-DP).
  mu^2 adds up, and the total is compared with the budget by the exact
  delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).  A proved filter:
  Smith and Thakurta, 2022, "Fully adaptive composition for Gaussian differential privacy"; Koskela,
  Tobaben and Honkela, 2023, "Individual privacy accounting with Gaussian differential privacy".

The rule is part of the budget: to choose it after seeing outputs would not be a proved filter.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Sequence

from nacre.errors import BudgetExceeded, LedgerError
from nacre.vault.accountant import LARGEST_EPSILON, LEAST_DELTA, SLACK_DELTA, SLACK_EPSILON
from nacre.vault.bound import Adjacency
from nacre.vault.gaussian_dp import gaussian_delta, gaussian_epsilon, gaussian_mu

# Ten fits at 0.1 must fit into a budget of 1 although 0.1 is no binary fraction.
HAIR = 1e-9


class Composition(enum.StrEnum):
    """How charges add up."""

    ADD = "add"
    GAUSSIAN = "gaussian"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Budget:
    """What may be spent on one data set, ever, and the rule by which charges add up."""

    dataset: str
    epsilon: float
    delta: float
    adjacency: Adjacency
    composition: Composition

    def __post_init__(self) -> None:
        if not (isinstance(self.dataset, str) and self.dataset.strip()):
            raise LedgerError("A budget needs the name of a data set, such as dataset='census'.")
        _check("A budget's", self.epsilon, self.delta)
        if self.composition is Composition.GAUSSIAN and not (
            self.epsilon <= LARGEST_EPSILON and self.delta >= LEAST_DELTA * (self.delta > 0)
        ):
            raise LedgerError(
                f"A budget with composition='gaussian' needs epsilon up to {LARGEST_EPSILON:g} and "
                f"delta from {LEAST_DELTA:g}: beyond, what discrete noise costs is not proved."
            )
        if self.composition is Composition.GAUSSIAN and not self.delta > 0:
            raise LedgerError(
                "A budget with composition='gaussian' needs delta above 0: no Gaussian release "
                "is private at delta=0. Give a delta far below 1/rows, or use composition='add'."
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Charge:
    """What one fit costs.

    `mu` is its Gaussian-DP parameter if it releases sums and choices only, and `releases` how many:
    each costs the small slack of discrete noise that the accountant proves.
    """

    epsilon: float
    delta: float
    mu: float | None = None
    releases: int = 1
    adjacency: Adjacency

    def __post_init__(self) -> None:
        _check("A reservation's", self.epsilon, self.delta)
        if self.mu is not None and not (math.isfinite(self.mu) and self.mu > 0):
            raise LedgerError(
                f"A reservation's mu must be positive and finite or None, got {self.mu}."
            )
        if self.releases < 1:
            raise LedgerError(f"A reservation makes at least one release, got {self.releases}.")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Balance:
    """A budget, what is spent of it and what is left.

    Under 'add', spent and left are sums.  Under 'gaussian', `spent_epsilon` is the epsilon of
    everything so far at the budget's delta and `left_epsilon` that of the largest single release
    that still fits at the budget's delta; they do not sum to the budget, the squares of mu do.
    """

    dataset: str
    epsilon: float
    delta: float
    adjacency: Adjacency
    composition: Composition
    entries: int
    spent_epsilon: float
    spent_delta: float
    left_epsilon: float
    left_delta: float
    spent_mu: float | None = None
    left_mu: float | None = None


def balance(budget: Budget, charges: Sequence[Charge]) -> Balance:
    """What `charges` leave of `budget`."""
    if budget.composition is Composition.GAUSSIAN:
        numbers = _gaussian_balance(budget, charges)
    else:
        epsilon = math.fsum(charge.epsilon for charge in charges)
        delta = math.fsum(charge.delta for charge in charges)
        numbers = {
            "spent_epsilon": epsilon,
            "spent_delta": delta,
            "left_epsilon": max(0.0, budget.epsilon - epsilon),
            "left_delta": max(0.0, budget.delta - delta),
        }
    return Balance(
        dataset=budget.dataset,
        epsilon=budget.epsilon,
        delta=budget.delta,
        adjacency=budget.adjacency,
        composition=budget.composition,
        entries=len(charges),
        **numbers,
    )


def admit(budget: Budget, charges: Sequence[Charge], charge: Charge) -> None:
    """Raise unless `charge` fits into `budget` after `charges`.

    Guarantee:
        if every charge was admitted in turn, the whole history is (epsilon, delta)-private with the
        budget's numbers, however each was chosen from the outputs before it.
    """
    if charge.adjacency != budget.adjacency:
        raise LedgerError(
            f"The budget of {budget.dataset!r} is kept in {budget.adjacency} adjacency, this fit "
            f"uses {charge.adjacency}: the two cannot be added up. "
            f"Fit with adjacency='{budget.adjacency}'."
        )
    if budget.composition is Composition.GAUSSIAN and charge.mu is None:
        raise LedgerError(
            f"The budget of {budget.dataset!r} was opened with composition='gaussian', which only "
            "covers fits that release Gaussian sums or choices only; this one releases something "
            "else. Use such a method, or open a budget with composition='add' under another name "
            "for data that has not been used."
        )
    if not _fits(budget, [*charges, charge]):
        raise BudgetExceeded(_refusal(budget, charges, charge))


def _fits(budget: Budget, charges: Sequence[Charge]) -> bool:
    if budget.composition is Composition.GAUSSIAN:
        epsilon, delta = _after_slack(budget, _releases(charges))
        return epsilon > 0 and gaussian_delta(_mu(charges), epsilon) <= delta * (1 + HAIR)
    return math.fsum(c.epsilon for c in charges) <= budget.epsilon * (1 + HAIR) and math.fsum(
        c.delta for c in charges
    ) <= budget.delta * (1 + HAIR)


def _gaussian_balance(budget: Budget, charges: Sequence[Charge]) -> dict[str, float]:
    spent, releases = _mu(charges), _releases(charges)
    _, delta = _after_slack(budget, releases)
    epsilon, left_delta = _after_slack(budget, releases + 1)
    left = math.sqrt(max(0.0, gaussian_mu(epsilon, left_delta) ** 2 - spent**2)) if epsilon else 0.0
    return {
        "spent_mu": spent,
        "spent_epsilon": gaussian_epsilon(spent, delta) + SLACK_EPSILON * releases,
        "spent_delta": budget.delta if charges else 0.0,
        "left_mu": left,
        "left_epsilon": gaussian_epsilon(left, left_delta) if left else 0.0,
        "left_delta": budget.delta if left else 0.0,
    }


def _after_slack(budget: Budget, releases: int) -> tuple[float, float]:
    """The budget less what discrete noise in place of Gaussian noise costs `releases` times."""
    return (
        max(0.0, budget.epsilon - SLACK_EPSILON * releases),
        budget.delta * max(0.0, 1 - SLACK_DELTA * releases),
    )


def _mu(charges: Sequence[Charge]) -> float:
    return math.hypot(*(charge.mu or 0.0 for charge in charges))


def _releases(charges: Sequence[Charge]) -> int:
    return sum(charge.releases for charge in charges)


def _refusal(budget: Budget, charges: Sequence[Charge], charge: Charge) -> str:
    now = balance(budget, charges)
    mu = "" if now.left_mu is None else f", mu={charge.mu:.6g}"
    left_mu = "" if now.left_mu is None else f", mu={now.left_mu:.6g}"
    fits = "fit" if now.entries == 1 else "fits"
    lines = [
        f"The budget of {budget.dataset!r} does not cover this fit; nothing was charged.",
        f"  asked:  epsilon={charge.epsilon:.6g}, delta={charge.delta:.6g}{mu}",
        f"  left:   epsilon={now.left_epsilon:.6g}, delta={now.left_delta:.6g}{left_mu}",
        f"  budget: epsilon={budget.epsilon:.6g}, delta={budget.delta:.6g}, "
        f"composition '{budget.composition}', {now.entries} {fits} so far",
        "Ask for no more than what is left. To sample again from a model that you have costs "
        "nothing.",
    ]
    return "\n".join(lines)


def _check(whose: str, epsilon: float, delta: float) -> None:
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise LedgerError(
            f"{whose} epsilon must be positive and finite, got {epsilon}. "
            "A fit without privacy cannot be charged to a budget."
        )
    if not 0 <= delta < 1:
        raise LedgerError(f"{whose} delta must be at least 0 and below 1, got {delta}.")
