"""All releases of a fit before it happens: one scale makes their composition cost the budget."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, Self, final

from nacre.errors import NacreError
from nacre.schema import Unit
from nacre.vault.accountant import (
    LARGEST_EPSILON,
    LEAST_DELTA,
    LEAST_EPSILON,
    calibrate,
    epsilon_of,
    total_mu,
)
from nacre.vault.bound import Adjacency
from nacre.vault.doors.keys import Keys
from nacre.vault.doors.steps import Steps
from nacre.vault.doors.votes import Votes
from nacre.vault.gaussian_dp import gaussian_mu
from nacre.vault.guarantee import NOT_PRIVATE, per, unit_column, unit_name, upwards
from nacre.vault.question import AbstractQuestion, Expected
from nacre.vault.release import SHARED, Release

USED_UP = (
    "What was released before has used the budget up (before training by steps it has a tenth of "
    "delta, and the rest adds). Raise epsilon or delta."
)
LARGEST_DELTA = 0.01  # no table for which this would be small is worth a model


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Planned:
    """One question, the release that will answer it, and the error to expect."""

    question: AbstractQuestion
    release: Release
    expected: Expected


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """What will be asked of the rows, in order, and what it will cost; reads no row.

    Attributes:
        epsilon: of everything, `prior` included; infinite for answers without noise.
        delta: likewise; one for answers without noise.
        adjacency: under which the guarantee holds.
        prior: releases that were made before and count, too (a private draft's).
        asked: the questions with their releases.
        rows: a public number of rows, or of persons where there is a `unit`, if there is one.
        unit: whose privacy it is, where a person may have several rows.
        method: who asks.
        reason: why this method.
        outlook: what noise will leave of so many rows, in words.
    """

    epsilon: float
    delta: float
    adjacency: Adjacency
    asked: tuple[Planned, ...]
    prior: tuple[Release, ...] = ()
    rows: int | None = None
    unit: Unit | None = None
    method: str = ""
    reason: str = ""
    outlook: str = ""

    @classmethod
    def of(
        cls,
        questions: Sequence[AbstractQuestion],
        *,
        epsilon: float,
        delta: float | None = None,
        adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
        rows: int | None = None,
        unit: Unit | None = None,
        prior: Sequence[Release] = (),
        method: str = "",
        reason: str = "",
    ) -> Self:
        """Calibrate the whole composition by one search; nothing to do if epsilon is infinite.

        Guarantee:
            the releases, asked in this order with everything that is not said here chosen freely
            from earlier answers, are (epsilon, delta)-private: `epsilon_of`.
        """
        epsilon, delta = as_budget(epsilon, delta)
        adjacency = Adjacency(adjacency)
        if not questions:
            raise NacreError("A plan needs at least one question.")
        for question in questions:
            if not isinstance(question, Keys) and not 0 < question.share <= 1 + 1e-9:
                raise NacreError(
                    f"The share of '{question.name}' must lie in (0, 1], got {question.share}."
                )
        if any(release.by != unit_column(unit) for release in prior):
            raise NacreError(
                "What was released before (a private draft) was per row and this is per person, or "
                "the other way around, or persons are told apart by another column; their costs "
                "cannot be added. Draft again with the same unit."
            )
        own = [q.name for q in questions if isinstance(q, Steps) and q.alone]
        if own and math.isfinite(epsilon):
            raise NacreError(
                f"'{own[0]}' alone gets noise, and protects no whole row: no finite epsilon is "
                "true of all of it. Ask for epsilon=inf, which promises nothing; what "
                f"'{own[0]}' costs by itself is a setting of the method."
            )
        shares = [q.share for q in questions if not isinstance(q, Keys)]
        if math.fsum(shares) > 1 + 1e-9:
            raise NacreError("The shares of all questions must not add up to more than 1.")
        releases = _calibrated(questions, tuple(prior), epsilon, delta, adjacency, unit)
        return cls(
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            asked=tuple(
                Planned(
                    question=q,
                    release=r,
                    expected=q.expected(r, rows) if r.private else Expected(),
                )
                for q, r in zip(questions, releases, strict=True)
            ),
            prior=tuple(prior),
            rows=rows,
            unit=unit,
            method=method,
            reason=reason,
        )

    @property
    def private(self) -> bool:
        """Whether anything will be promised."""
        return math.isfinite(self.epsilon)

    @property
    def adds_prior(self) -> bool:
        """Whether what came before and what is asked get parts of the budget that add up.

        So it is where rows are trained on: what is asked may follow from a private draft.
        """
        return _adds(self.prior, [planned.question for planned in self.asked])

    @property
    def most_rows(self) -> int | None:
        """How many rows of a person count at most; None where a row is a person."""
        return None if self.unit is None else self.unit.rows

    @property
    def needs_all_rows(self) -> bool:
        """Whether rows are read many times over, so that they must be in one place."""
        return any(isinstance(planned.question, Steps | Votes) for planned in self.asked)

    @property
    def releases(self) -> tuple[Release, ...]:
        """What will be released, in order."""
        return tuple(planned.release for planned in self.asked)

    @property
    def mu(self) -> float | None:
        """The Gaussian-DP parameter of all of it, if it has one; for a ledger that adds mu^2."""
        every = (*self.prior, *self.releases)
        return total_mu(every) if all(release.one_shot for release in every) else None

    def noise(self, question: AbstractQuestion) -> float:
        """The noise of the answer to come; public."""
        return self.find(question).release.noise

    def find(self, question: AbstractQuestion) -> Planned:
        """The plan for a question, or an error if it was not announced."""
        for planned in self.asked:
            if planned.question == question:
                return planned
        raise NacreError(
            f"'{question.name}' was not announced: a plan lists every question before a row is "
            "read. Return it from the method's `questions`."
        )

    def __str__(self) -> str:
        claim = (
            f"(ε = {self.epsilon:g}, δ = {self.delta:g}), {self.adjacency.value}, "
            f"{per(unit_name(self.unit), self.most_rows)}"
        )
        each = f"{unit_name(self.unit)}s"
        head = f"{self.method} at {claim}." if self.private else f"{self.method}, {NOT_PRIVATE}."
        lines = [f"{head} {self.reason}".strip()]
        if self.unit is not None:
            lines.append(f"  {_counting(self.unit)}")
        for _, alike in itertools.groupby(self.asked, key=_alike):
            planned, *others = alike
            lines += [f"  {_headline(planned)}", f"    {planned.question.meaning}"]
            if others:
                lines.append(f"    and {len(others)} more like it, to '{others[-1].release.name}'")
            expected = planned.expected
            if expected.count_error is not None:
                lines.append(
                    f"    a count of {each} will be off by about {expected.count_error:.1f} "
                    "(one standard error)"
                )
            if expected.error is not None:
                lines.append(
                    f"    a share (or mean) of {self.rows:,} {each} will be off by about "
                    f"{expected.error:.2g}"
                )
            if expected.words:
                lines.append(f"    {expected.words}")
        if self.outlook:
            lines.append(f"  Among {self.rows:,} {each} {self.outlook}.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; without privacy epsilon and delta are null."""
        return {
            "method": self.method,
            "reason": self.reason,
            "outlook": self.outlook,
            "epsilon": self.epsilon if self.private else None,
            "delta": self.delta if self.private else None,
            "adjacency": self.adjacency.value,
            "rows": self.rows,
            "unit": unit_name(self.unit),
            "most_rows": self.most_rows,
            "releases": [
                {
                    **planned.release.to_dict(),
                    "share": planned.question.share,
                    "meaning": planned.question.meaning,
                    **dataclasses.asdict(planned.expected),
                }
                for planned in self.asked
            ],
        }


def _of_unit(release: Release, unit: Unit | None) -> Release:
    """The same release for rows, or for persons."""
    return dataclasses.replace(release, unit=unit_name(unit), by=unit_column(unit))


def _counting(unit: Unit) -> str:
    """What rows mean in a plan for persons."""
    if unit.rows == 1:
        return f"Of each person ('{unit.column}') one row, drawn at random, counts."
    return (
        f"Of each person ('{unit.column}') up to {unit.rows} rows, drawn at random, count as one "
        "row together; how many there are is a column of its own."
    )


def _alike(planned: Planned) -> tuple[Any, ...]:
    """What questions that are asked time and again have in common: all but their names."""
    release = dataclasses.replace(planned.release, name="")
    return release, planned.question.meaning, planned.question.share


def _headline(planned: Planned) -> str:
    release, share = planned.release, planned.question.share
    if not release.private:
        return f"{release.name}: no noise"
    if release.mechanism == "approximate":
        epsilon, delta = upwards(release.epsilon, 4), upwards(release.delta, 3)
        return f"{release.name}: at most (ε = {epsilon:g}, δ = {delta:g})"
    what = {
        "gaussian": f"{release.size:,} number{'' if release.size == 1 else 's'}",
        SHARED: f"{release.size:,} numbers, noise of {release.sites} sites",
        "exponential": f"{release.steps:,} choices among {release.size:,}",
        "subsampled-gaussian": f"{release.steps:,} steps, each on {release.rate:.2g} of the rows",
    }[release.mechanism]
    return (
        f"{release.name}: {what}, {share:.0%} of the budget, "
        f"noise {release.noise / release.sensitivity:.3g} x sensitivity"
    )


def _calibrated(
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
        found = (_release(question, scale, delta, adjacency, prior) for question in questions)
        return [_of_unit(release, unit) for release in found]

    before, left = 0.0, delta
    if _adds(prior, questions):
        # What is asked may follow from a drafted schema: the rest keeps to a part fixed before it.
        left = _delta_left(delta, prior)
        before = epsilon_of(prior, delta - left, adjacency)
        if before >= epsilon:
            raise NacreError(USED_UP)

    def cost(noise: float) -> float:
        own = releases(1 / noise)
        return before + epsilon_of(own if before else [*prior, *own], left, adjacency)

    scaled = [q for q in questions if not isinstance(q, Keys)]
    if not scaled:
        found = releases(1.0)
        if not cost(1.0) <= epsilon * (1 + 1e-9):
            raise NacreError(f"What is asked for costs more than epsilon={epsilon:g}.")
        return found
    guess = gaussian_mu(epsilon, delta) / math.sqrt(math.fsum(q.share for q in scaled))
    if any(isinstance(question, Steps) for question in questions):
        return releases(1 / calibrate(cost, epsilon, guess=1 / guess))
    return releases(_scale(guess, lambda scale: cost(1 / scale) <= epsilon))


def _adds(prior: Sequence[Release], questions: Sequence[AbstractQuestion]) -> bool:
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


def as_budget(epsilon: float, delta: float | None) -> tuple[float, float]:
    """The budget that was asked for; (inf, 1), which promises nothing, for epsilon=inf."""
    if isinstance(epsilon, Real) and epsilon == math.inf:
        if delta is not None:
            raise NacreError(
                "epsilon=inf fits without any privacy, so that delta means nothing. Leave delta "
                "out, or give an epsilon that is a finite number."
            )
        return math.inf, 1.0
    if delta is None:
        raise NacreError(
            "delta must be a number, got None: far below one over the number of rows, such as 1e-6."
        )
    check_budget(epsilon, delta)
    return float(epsilon), float(delta)


def check_budget(epsilon: float, delta: float) -> None:
    """Refuse budgets that mean nothing, before anything is spent."""
    for name, given in (("epsilon", epsilon), ("delta", delta)):
        if isinstance(given, bool) or not isinstance(given, Real):
            raise NacreError(f"{name} must be a number, got {given!r}.")
    if not LEAST_EPSILON < epsilon <= LARGEST_EPSILON:
        raise NacreError(
            f"epsilon must be a positive number, above {LEAST_EPSILON:g} and at most "
            f"{LARGEST_EPSILON:g}, got {epsilon}. Choose it between 0.1, which promises much and "
            "blurs much, and 10, which promises little; 1 is usual. To fit without any privacy, "
            "give epsilon=math.inf (on the command line --not-private) and no delta."
        )
    if not 0 < delta < 1:
        raise NacreError(f"delta must lie strictly between 0 and 1, got {delta}.")
    if delta <= LEAST_DELTA:
        raise NacreError(
            f"delta must be above {LEAST_DELTA:g}, got {delta:g}: what noise costs is not "
            "proved beyond. Choose it far below one over the number of rows, such as 1e-6."
        )
    if delta >= LARGEST_DELTA:
        raise NacreError(
            f"delta must be below {LARGEST_DELTA:g}, got {delta:g}: with a chance of delta nothing "
            "at all is promised. Choose it far below one over the number of rows, such as 1e-6."
        )
