"""What is known of a plan before its noise is searched for, and whether that search is worth it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from nacre.schema import Unit
from nacre.vault.accountant import epsilon_of, subsampled_guess
from nacre.vault.bound import Adjacency
from nacre.vault.calibration import at_scale, first_scale
from nacre.vault.doors.steps import ODDS, Steps
from nacre.vault.gaussian_dp import gaussian_mu
from nacre.vault.guarantee import Guarantee
from nacre.vault.plan import Plan, Planned
from nacre.vault.question import AbstractQuestion, Expected
from nacre.vault.release import Release

SHORT = 2e-3  # by which what noise costs may stay below what it was searched for, in parts of it
EDGE = 1e-3  # of the noise: with so much less the budget may be exceeded at once
ENDS = 10 * (1 - 1e-9)  # times less noise than a first guess: there a search ends, whatever it cost


def sketched(
    questions: Sequence[AbstractQuestion],
    *,
    epsilon: float,
    delta: float,
    adjacency: Adjacency,
    rows: int | None,
    unit: Unit | None,
    prior: tuple[Release, ...],
) -> Plan:
    """A private plan with any noise, and any epsilon reserved; all else is as it will be."""
    found = at_scale(questions, 1.0, delta, adjacency, prior, unit)
    return Plan(
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        asked=tuple(
            Planned(question=q, release=_rated(q, r), expected=Expected())
            for q, r in zip(questions, found, strict=True)
        ),
        prior=prior,
        rows=rows,
        unit=unit,
    )


def _rated(question: AbstractQuestion, release: Release) -> Release:
    """What was reserved, with the rate where it follows from a public number of rows."""
    if not isinstance(question, Steps) or question.rows is None or release.rate != 1:
        return release
    rate = question.threshold(question.rows) / ODDS
    return question.as_reserved(release, rate, 1.0)


def shortfalls(plan: Plan, guarantee: Guarantee) -> Iterator[tuple[str, float, float]]:
    """Of what a budget was searched for that the releases listed do not use: name, cost, budget.

    The noise of steps is searched for, which takes long where there are many of them and the
    budget is large.  What a search leaves costs nearly the budget, unless it ended at a tenth of
    its guess, or where a little less noise costs more than the budget at once.  A rate that
    followed from a noisy count is taken as it is listed.
    """
    adjacency = guarantee.adjacency
    steps = [p.question for p in plan.asked if isinstance(p.question, Steps)]
    listed = {release.name: release for release in guarantee.releases}
    rated = [(q, listed[q.name]) for q in steps if q.name in listed]
    for question, release in rated:
        if release.delta > 0 and release.mechanism == "subsampled-gaussian":
            mu = gaussian_mu(release.epsilon, release.delta)
            ended = release.multiplier <= subsampled_guess(mu, release.rate, question.steps) / ENDS
            alone = dataclasses.replace(release, epsilon=0.0, delta=0.0)
            cost = _short([alone], release.epsilon, release.delta, adjacency)
            if cost is not None and not ended:
                yield f"'{release.name}'", cost, release.epsilon
    if not steps or plan.adds_prior:
        return
    scale = ENDS * first_scale([p.question for p in plan.asked], plan.epsilon, plan.delta)
    ended = any(r.delta == 0 and r.noise <= q.release(scale, adjacency).noise for q, r in rated)
    cost = None if ended else _short(guarantee.releases, plan.epsilon, plan.delta, adjacency)
    if cost is not None:
        yield "all of it", cost, plan.epsilon


def _short(
    releases: Sequence[Release], epsilon: float, delta: float, adjacency: Adjacency
) -> float | None:
    """What releases cost, if a search for noise that costs `epsilon` had not ended there."""
    cost = epsilon_of(releases, delta, adjacency)
    if cost >= epsilon * (1 - SHORT):
        return None
    quieter = [
        dataclasses.replace(r, noise=r.noise * (1 - EDGE)) if r.delta == 0 else r for r in releases
    ]
    return None if epsilon_of(quieter, delta, adjacency) > epsilon else cost
