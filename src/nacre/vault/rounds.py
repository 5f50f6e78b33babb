"""Questions that are answered in rounds, from sums that were added up at other places.

A method is run up to the first question that nobody has answered yet.  What was answered before is
given again, so that it comes to the same question at every place; and the sums of that question
are what each place works out of its own rows.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, final

import jax
import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.rows.encoder import AbstractEncoder
from nacre.vault.bound import Adjacency
from nacre.vault.doors import sum as sum_door
from nacre.vault.doors.choose import Choice, Choices
from nacre.vault.doors.sum import Sum, Sums
from nacre.vault.exact_sum import ExactSum
from nacre.vault.plan import Plan
from nacre.vault.question import AbstractQuestion
from nacre.vault.release import Release
from nacre.vault.vault import count_with

Integers = NDArray[np.int64]
ONLY_SUMS = (
    "{name} cannot be answered in rounds: only sums and choices add up over places. Use a method "
    "that asks for nothing else (mosaic, pearl, merf, functional, mst, aim). Nothing was spent."
)
WRONG_KIND = (
    "The answer to '{name}' is not of the kind that was asked for: a sum is answered by sums, a "
    "choice by picks. Was the file changed?"
)


@final
@dataclasses.dataclass(frozen=True)
class Answered:
    """An answer as it was released; public.

    Attributes:
        name: of the question.
        program: which program was summed, `Asked.program`.
        sums: of a `Sum`.
        picks: of a `Choice`, in order.
    """

    name: str
    program: str
    sums: Sums | None = None
    picks: tuple[int, ...] = ()


@final
class Asked(Exception):
    """The question that comes next; raised out of a method that has come so far."""

    def __init__(self, question: Sum | Choice, exact: ExactSum, public: Any):
        super().__init__(question.name)
        self.question, self.exact, self.public = question, exact, public

    @property
    def program(self) -> str:
        """A fingerprint of all that decides what a row counts as: places must agree on it."""
        traced = self.exact.features
        found = hashlib.sha256(f"{self.question!r}\n{traced.jaxpr}\n{jax.__version__}".encode())
        for array in (*traced.constants, *jax.tree.leaves(self.public)):
            value = np.asarray(array)
            found.update(f"{value.dtype} {value.shape}".encode() + value.tobytes())
        return found.hexdigest()


@final
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Exact:
    """The integer sums of a question before noise.  NOT private.

    Attributes:
        program: of the question, as `Asked.program`.
        sums: (classes, size).
        counts: (classes,), of rows that count.
    """

    program: str
    sums: Integers
    counts: Integers


@final
class RoundVault:
    """A vault without rows: it gives earlier answers again, and one new one if it has the sums.

    Releases:
        the answer to one question, from `fresh`; without it nothing.

    Adjacency:
        the plan's, for the rows of all places together.

    Sensitivity:
        that of the question, enforced by `ExactSum` at each place: a row is at one place, and
        integers of places are added as those of blocks are.

    Guarantee:
        that of the door; `charge` runs before noise is drawn.

    Public:
        plan, earlier answers, and everything that a method makes of them.
    """

    def __init__(
        self,
        encoder: AbstractEncoder,
        plan: Plan,
        given: Sequence[Answered],
        *,
        fresh: Exact | None = None,
        charge: Callable[[Release], None] | None = None,
        on_progress: Callable[[str, float | None], None] | None = None,
    ):
        self.encoder, self.plan = encoder, plan
        self.report = on_progress or (lambda stage, done: None)
        self.answers = list(given)
        self._asked: list[AbstractQuestion] = []
        self._fresh, self._charge = fresh, charge

    @property
    def adjacency(self) -> Adjacency:
        """Under which the guarantee holds."""
        return self.plan.adjacency

    def noise(self, question: AbstractQuestion) -> float:
        """The noise of an answer to come, in the units of the question's own sensitivity."""
        return self.plan.noise(question)

    def sum(
        self,
        question: Sum,
        features: Callable[..., Any],
        *,
        public: Any = None,
        through: Any = None,
        used: int | None = None,
    ) -> Sums:
        """See `Vault.sum`; raises `Asked` if nobody has answered yet."""
        if through is not None:
            raise NacreError(ONLY_SUMS.format(name="A sum through a view"))
        sum_door.check_used(question, used)
        if (known := self._known(question)) is not None:
            if known.sums is None:
                raise NacreError(WRONG_KIND.format(name=question.name))
            return known.sums
        asked = Asked(question, ExactSum(features, question.bound, self.encoder, public), public)
        fresh, release = self._take(asked)
        found = sum_door.noised(
            question,
            release,
            asked.exact,
            fresh.sums,
            fresh.counts,
            lambda: self._pay(release),
            used,
        )
        self.answers.append(Answered(question.name, fresh.program, sums=found))
        return found

    def count(self, question: Sum) -> int:
        """See `Vault.count`."""
        return count_with(self.sum, question)

    def choose(self, question: Choice, features: Callable[[Any], Any]) -> Any:
        """See `Vault.choose`; raises `Asked` if nobody has answered yet."""
        if (known := self._known(question)) is not None:
            if known.sums is not None:
                raise NacreError(WRONG_KIND.format(name=question.name))
            return _Again(known.picks, question.count)
        asked = Asked(question, ExactSum(features, question.bound, self.encoder), None)
        if not asked.exact.integer:
            raise NacreError("Choices need features that are integers, such as one-hot counts.")
        fresh, release = self._take(asked)
        choices = Choices(fresh.sums, question.bound, release, asked.exact.whole)
        self._pay(release)
        self.answers.append(Answered(question.name, fresh.program))
        return _Recorded(choices, self.answers, len(self.answers) - 1)

    def keys(self, question: Any) -> Any:
        """Refused."""
        raise NacreError(ONLY_SUMS.format(name="A list of values"))

    def view(self, function: Any) -> Any:
        """Refused."""
        raise NacreError(ONLY_SUMS.format(name="A view of rows"))

    def train(self, question: Any, *_: Any, **__: Any) -> Any:
        """Refused."""
        raise NacreError(ONLY_SUMS.format(name="Step-wise training"))

    def vote(self, question: Any, *_: Any, **__: Any) -> Any:
        """Refused."""
        raise NacreError(ONLY_SUMS.format(name="A vote of teachers"))

    def _known(self, question: AbstractQuestion) -> Answered | None:
        """The answer that was given, if there is one; they come in the plan's order."""
        self.plan.find(question)
        announced = sum(planned.question == question for planned in self.plan.asked)
        if self._asked.count(question) >= announced:
            raise NacreError(f"'{question.name}' was asked as often as was announced.")
        place = len(self._asked)
        self._asked.append(question)
        if place >= len(self.answers):
            return None
        found = self.answers[place]
        if found.name != question.name:
            raise NacreError(
                f"The method asks for '{question.name}' where '{found.name}' was answered. Use the "
                "same settings, seed and versions of nacre in every round."
            )
        return found

    def _take(self, asked: Asked) -> tuple[Exact, Release]:
        """The sums of what is asked, which are used up by it."""
        fresh, self._fresh = self._fresh, None
        if fresh is None:
            raise asked
        shape = (asked.question.bound.classes, asked.question.bound.size)
        if fresh.program != asked.program or fresh.sums.shape != shape:
            raise NacreError(
                "These sums are of another question than the one that comes next, or were worked "
                "out with other settings or versions. Sketch again with the same schema, method, "
                "settings, seed and versions of nacre and JAX. Nothing was spent."
            )
        return fresh, self.plan.find(asked.question).release

    def _pay(self, release: Release) -> None:
        if self._charge is not None:
            self._charge(release)


class _Again:
    """Choices that were made before."""

    def __init__(self, picks: Sequence[int], count: int):
        self._picks, self.left = list(picks), count

    def __call__(self, targets: Any, **_: Any) -> int:
        if not self._picks:
            raise NacreError("A choice is asked for that was not made. Run the round again.")
        self.left -= 1
        return self._picks.pop(0)


class _Recorded:
    """Choices as they are made, written down."""

    def __init__(self, choices: Choices, answers: list[Answered], place: int):
        self._choices, self._answers, self._place = choices, answers, place

    @property
    def left(self) -> int:
        return self._choices.left

    def __call__(self, targets: Any, **settings: Any) -> int:
        found = self._choices(targets, **settings)
        known = self._answers[self._place]
        self._answers[self._place] = dataclasses.replace(known, picks=(*known.picks, found))
        return found
