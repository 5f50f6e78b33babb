"""The releases of a plan: one scale at which all of them together cost the budget."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

from nacre.errors import NacreError
from nacre.schema import Unit
from nacre.vault.accountant import calibrate, epsilon_of
from nacre.vault.bound import Adjacency
from nacre.vault.budget import LARGEST_DELTA
from nacre.vault.doors.keys import Keys
from nacre.vault.doors.steps import Steps
from nacre.vault.gaussian_dp import gaussian_mu
from nacre.vault.guarantee import unit_column, unit_name
from nacre.vault.question import AbstractQuestion
from nacre.vault.release import Release

USED_UP = (
    "What was released before has used the budget up (before training by steps it has a tenth of "
    "delta, and the rest adds). Raise epsilon or delta."
)


def calibrated(
    questions: Sequence[AbstractQuestion],
    prior: tuple[Release, ...],
    epsilon: float,
    delta: float,
    adjacency: Adjacency,
    unit: Unit | None,
) -> list[Release]:
    """The releases at the largest scale at which all of them together cost `epsilon`."""
    if not math.isfinite(epsilon):  # their noise is thrown away, so that any scale will do
        found = [_release(question, 1.0, LARGEST_DELTA, adjacency, prior) for question in questions]
        bare = [
            question.by_itself(adjacency)
            if isinstance(question, Steps) and question.alone
            else release.without_noise()
            for question, release in zip(questions, found, strict=True)
        ]
        return [_of_unit(release, unit) for release in bare]

    def releases(scale: float) -> list[Release]:
        return at_scale(questions, scale, delta, adjacency, prior, unit)

    before, left = 0.0, delta
    if adds(prior, questions):
        # What is asked may follow from a drafted schema: the rest keeps to a part fixed before it.
        left = _delta_left(delta, prior)
        before = epsilon_of(prior, delta - left, adjacency)
        if before >= epsilon:
            raise NacreError(USED_UP)

    def cost(noise: float) -> float:
        own = releases(1 / noise)
        return before + epsilon_of(own if before else [*prior, *own], left, adjacency)

    if all(isinstance(question, Keys) for question in questions):
        found = releases(1.0)
        if not cost(1.0) <= epsilon * (1 + 1e-9):
            raise NacreError(f"What is asked for costs more than epsilon={epsilon:g}.")
        return found
    guess = first_scale(questions, epsilon, delta)
    if any(isinstance(question, Steps) for question in questions):
        found = releases(1 / calibrate(cost, epsilon, guess=1 / guess))
        for question, release in zip(questions, found, strict=True):
            # Its noise is searched for after other answers, when it is too late to refuse.
            if isinstance(question, Steps) and release.mechanism == "approximate":
                question.require_noise(release)
        return found
    return releases(_scale(guess, lambda scale: cost(1 / scale) <= epsilon))


def at_scale(
    questions: Sequence[AbstractQuestion],
    scale: float,
    delta: float,
    adjacency: Adjacency,
    prior: tuple[Release, ...],
    unit: Unit | None,
) -> list[Release]:
    """The releases at a scale, whatever they cost; `delta` is that of all of them."""
    found = (_release(question, scale, delta, adjacency, prior) for question in questions)
    return [_of_unit(release, unit) for release in found]


def first_scale(questions: Sequence[AbstractQuestion], epsilon: float, delta: float) -> float:
    """Where the search for a scale begins."""
    shares = math.fsum(q.share for q in questions if not isinstance(q, Keys))
    return gaussian_mu(epsilon, delta) / math.sqrt(shares)


def adds(prior: Sequence[Release], questions: Sequence[AbstractQuestion]) -> bool:
    """Whether what came before and what is asked get parts of the budget that add up."""
    return bool(prior) and any(isinstance(question, Steps) for question in questions)


def _release(
    question: AbstractQuestion,
    scale: float,
    delta: float,
    adjacency: Adjacency,
    prior: tuple[Release, ...],
) -> Release:
    # Steps compose with other releases if their parameters were fixed before the first of them.
    if isinstance(question, Steps) and (question.rows is None or prior):
        return question.apart(scale, _delta_left(delta, prior) * question.share, adjacency)
    return question.release(scale, adjacency)


def _delta_left(delta: float, prior: tuple[Release, ...]) -> float:
    """What of delta is to be divided: what came before has its own, or needs some for its sums."""
    left = delta - math.fsum(release.delta for release in prior)
    if left <= 0:
        raise NacreError("What was released before has used delta up. Raise delta.")
    return left * (0.9 if prior else 1.0)


def _scale(guess: float, fits: Callable[[float], bool]) -> float:
    """The largest scale that fits, to one part in 10^9; `guess` is as good as it can get."""
    low, high = guess / 2, guess
    while not fits(low):
        low, high = low / 2, low
        if low < guess * 1e-6:
            raise NacreError(USED_UP)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _of_unit(release: Release, unit: Unit | None) -> Release:
    """The same release for rows, or for persons."""
    return dataclasses.replace(release, unit=unit_name(unit), by=unit_column(unit))
