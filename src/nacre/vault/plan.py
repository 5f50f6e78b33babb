"""All releases of a fit before it happens: one scale makes their composition cost the budget."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Self, final

from nacre.errors import NacreError
from nacre.schema import Unit
from nacre.vault.accountant import total_mu
from nacre.vault.bound import Adjacency
from nacre.vault.budget import as_budget
from nacre.vault.calibration import adds, calibrated
from nacre.vault.doors.keys import Keys
from nacre.vault.doors.steps import Steps
from nacre.vault.doors.votes import Votes
from nacre.vault.guarantee import unit_column, unit_name
from nacre.vault.question import AbstractQuestion, Expected
from nacre.vault.release import Release
from nacre.vault.summary import summary


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
        releases = calibrated(questions, tuple(prior), epsilon, delta, adjacency, unit)
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
        return adds(self.prior, [planned.question for planned in self.asked])

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
        return summary(self)

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
