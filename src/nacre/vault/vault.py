"""The vault: the only code that computes with private rows for a release.

It is opened on rows and a plan.  Each door answers a question that the plan announces, once, and
charges before noise is drawn.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, final

from nacre.errors import BudgetExceeded, NacreError, a_kind
from nacre.rows.encoder import AbstractEncoder
from nacre.rows.stream import Stream
from nacre.vault.accountant import epsilon_of
from nacre.vault.bound import Adjacency, Bound
from nacre.vault.doors import choose as choose_door
from nacre.vault.doors import keys as keys_door
from nacre.vault.doors import steps as steps_door
from nacre.vault.doors import sum as sum_door
from nacre.vault.doors import votes as votes_door
from nacre.vault.doors.choose import Choice, Choices
from nacre.vault.doors.keys import Keys
from nacre.vault.doors.steps import Program, Steps
from nacre.vault.doors.sum import Sum, Sums
from nacre.vault.doors.votes import Ballots, Teacher, Votes
from nacre.vault.guarantee import Guarantee, Hidden, unit_name
from nacre.vault.plan import Plan
from nacre.vault.question import AbstractQuestion
from nacre.vault.release import Release

if TYPE_CHECKING:
    import jax.numpy as jnp

    from nacre.vault.exact_sum import ExactSum
    from nacre.vault.view import View, ViewRows


class Charge(Protocol):
    """Where charges are written down before noise is drawn; `nacre.fit` passes a ledger's."""

    def __call__(self, release: Release, /) -> None:
        """Write the release down, or raise: then no noise is drawn."""


@final
class Vault:
    """Private rows behind doors that answer the questions of a plan, each once.

    Adjacency:
        the plan's, for one row.  Under replace-one the number of rows is public.  Where the schema
        has a `unit`, all of it is said of persons in place of rows, numbers of rows included.

    Public:
        the encoder, the plan, and every argument of every door.

    Attributes:
        encoder: what functions of one row see.
        plan: what may be asked.
        report: called with a stage's name and the part done (None if unknown).
    """

    def __init__(
        self,
        stream: Stream,
        plan: Plan,
        *,
        charge: Charge | None = None,
        on_progress: Callable[[str, float | None], None] | None = None,
    ):
        self.encoder: AbstractEncoder = stream.encoder
        self.plan = plan
        self.report = on_progress or (lambda stage, done: None)
        self._stream = stream
        self._charge_to = charge
        self._lock = threading.Lock()
        self._made: dict[int, Release] = {}  # by place in the plan
        self._last: tuple[Any, ExactSum] | None = None
        self._told: float | None = None  # the number of rows, as it was released
        self._views: dict[View, ViewRows] = {}
        if plan.unit != stream.encoder.unit:
            raise NacreError("The plan is for another unit of privacy than the schema's.")
        if plan.needs_all_rows:
            stream.require_memory()  # before anything is charged

    @property
    def adjacency(self) -> Adjacency:
        """Under which the guarantee holds."""
        return self.plan.adjacency

    @property
    def releases(self) -> tuple[Release, ...]:
        """What has been released so far, what came before the plan included."""
        return (*self.plan.prior, *self._made.values())

    def noise(self, question: AbstractQuestion) -> float:
        """The noise of an answer to come, in the units of the question's own sensitivity."""
        return self.plan.noise(question)

    # -- the doors -----------------------------------------------------------------------------

    def view(self, function: Callable[[Any], Any]) -> View:
        """All rows through one function of one row, kept behind the wall: see `View`.

        Nothing is released, so nothing is charged; doors can be asked through it.
        """
        from nacre.vault.view import View, ViewRows

        rows = ViewRows(function, self._stream, lambda: self.report("looking at the rows", None))
        view = View(rows.shape, rows.label)
        self._views[view] = rows
        return view

    def _rows(self, view: View | None) -> Stream | ViewRows:
        """The rows, or what a view of this vault shows of them; they never leave."""
        if view is None:
            return self._stream
        if view not in self._views:
            raise NacreError("This view was made by another vault.")
        return self._views[view]

    def sum(
        self,
        question: Sum,
        features: Callable[..., Any],
        *,
        public: Any = None,
        through: View | None = None,
        used: int | None = None,
    ) -> Sums:
        """The noisy sum of `features(row)` over all rows, or over what a view shows: see `Sum`.

        With `public`, a tree of arrays, that of `features(row, public)`: asked again with the same
        function and other arrays, it need not be compiled again.

        Where earlier answers say that only the first `used` numbers of each class are needed,
        the others are not released, which saves their noise's time: zeros stand in their places.
        """
        place, release = self._find(question, Sum)
        stream = self._rows(through)
        found = sum_door.answer(
            question,
            release,
            self._exact_sum(features, question.bound, stream, public),
            public,
            stream,
            lambda: self._charge(place, release),
            lambda: self.report(question.name, None),
            used,
            self._told,
        )
        if found.counts is not None:
            self._told = found.total
        self.report(question.name, 1.0)
        return found

    def _exact_sum(
        self, features: Callable[..., Any], bound: Bound, stream: Stream | ViewRows, public: Any
    ) -> ExactSum:
        """The program of a sum; the last one again, if nothing but `public` has changed."""
        from nacre.vault.exact_sum import ExactSum, kinds_of

        last, made_for = self._last, (features, bound, stream, kinds_of(public))
        if last is None or last[0] != made_for:
            last = made_for, ExactSum(features, bound, stream.encoder, public)
        if public is not None:
            self._last = last
        return last[1]

    def count(self, question: Sum) -> int:
        """The noisy number of rows, at least one: see `count_question`."""
        return count_with(self.sum, question)

    def choose(self, question: Choice, features: Callable[[Any], Any]) -> Choices:
        """Private choices among the segments of a sum: see `Choice`."""
        place, release = self._find(question, Choice)
        return choose_door.answer(
            question,
            release,
            features,
            self._stream,
            lambda: self._charge(place, release),
            lambda: self.report(question.name, None),
            self._told,
        )

    def train(
        self,
        question: Steps,
        program: Program,
        *,
        rows: float | None = None,
        through: View | None = None,
        key: Any,
    ) -> Any:
        """Run noisy updates on Poisson batches; the last state: see `Steps`.

        `rows` is a noisy number of rows, where the question has no public one; `through` is a view
        of the rows, if the program is to see that.
        """
        place, release = self._find(question, Steps)
        known = rows if question.rows is None else question.rows
        if known is None:
            raise NacreError(
                f"'{question.name}' needs a number of rows: a public one in the question, or a "
                "noisy one here, from a count that was announced."
            )
        if rows is not None and question.rows is not None:
            raise NacreError(
                f"'{question.name}' has a public number of rows; its rate cannot change any more."
            )
        if release.mechanism != "subsampled-gaussian":  # the rate was to follow from answers
            release = question.after_count(release, known)
        return steps_door.answer(
            question,
            release,
            program,
            self._rows(through),
            lambda: self._charge(place, release),
            lambda done: self.report(question.name, done),
            key=key,
        )

    def vote(
        self, question: Votes, teacher: Teacher, *, through: View | None = None, key: Any
    ) -> Ballots:
        """Noisy votes of teachers, each of which sees one part of the rows: see `Votes`.

        All rounds are charged here; each call of what is returned holds one.  `through` is a view
        of the rows, if teachers are to see that.
        """
        place, release = self._find(question, Votes)
        return votes_door.answer(
            question,
            release,
            teacher,
            self._rows(through),
            lambda: self._charge(place, release),
            lambda done: self.report(question.name, done),
            key=key,
        )

    def keys(self, question: Keys) -> tuple[str, ...]:
        """The values of a column that many rows hold: see `Keys`."""
        place, release = self._find(question, Keys)
        return keys_door.answer(
            question, release, self._stream, lambda: self._charge(place, release)
        )

    # -- what it cost --------------------------------------------------------------------------

    def guarantee(self, *, checked: bool = False, hidden: tuple[Hidden, ...] = ()) -> Guarantee:
        """What is promised, from all releases of the plan, at its delta.

        Those that were announced and not made count, too: what a total would be that depends on
        when somebody stopped asking is not proved.  `checked` says that all rows were found to fit,
        which then is known; `hidden` for which columns the method was asked for α-LMDP.
        """
        if not self._made:
            raise NacreError("Nothing has been released yet, so there is nothing to guarantee.")
        return promised(self.plan, self._made, checked=checked, hidden=hidden)

    def _find(self, question: AbstractQuestion, kind: type[Any]) -> tuple[int, Release]:
        """The place of a question in the plan, the first that was not asked yet."""
        if not isinstance(question, kind):
            raise NacreError(f"This door takes a {kind.__name__}, got {a_kind(question)}.")
        self.plan.find(question)
        for place, planned in enumerate(self.plan.asked):
            if planned.question == question and place not in self._made:
                return place, planned.release
        raise NacreError(f"'{question.name}' has been asked already, as often as was announced.")

    def _charge(self, place: int, release: Release) -> None:
        # One step for all threads: of two that ask the same question only one may pass.
        with self._lock:
            if place in self._made:
                raise NacreError(f"'{release.name}' has been asked already.")
            cost = epsilon_of([*self.releases, release], self.plan.delta, self.adjacency)
            if not cost <= self.plan.epsilon * (1 + 1e-9):
                raise BudgetExceeded(
                    f"'{release.name}' would bring epsilon to {cost:.4g} at "
                    f"delta={self.plan.delta:g}, above the {self.plan.epsilon:g} of the plan."
                )
            if self._charge_to is not None:
                self._charge_to(release)
            self._made[place] = release


def promised(
    plan: Plan, made: Mapping[int, Release], *, checked: bool, hidden: tuple[Hidden, ...]
) -> Guarantee:
    """What a plan promises of which these releases were made, by their places."""
    releases = (*plan.prior, *(made.get(place, r) for place, r in enumerate(plan.releases)))
    # A plan without a finite epsilon promises nothing, also where some release has noise.
    spent = epsilon_of(releases, plan.delta, plan.adjacency) if plan.private else math.inf
    if plan.private and plan.adds_prior:  # proved part by part: both together may seem to cost less
        spent = plan.epsilon
    return Guarantee(
        epsilon=spent,
        delta=plan.delta,
        adjacency=plan.adjacency,
        releases=releases,
        unit=unit_name(plan.unit),
        most_rows=plan.most_rows,
        checked=checked,
        hidden=hidden,
    )


def count_with(ask: Callable[[Sum, Callable[[Any], Any]], Sums], question: Sum) -> int:
    """A noisy number of rows, at least one, by a door that sums."""
    return max(1, round(ask(question, _nothing).total))


def _nothing(row: Any) -> jnp.ndarray:
    import jax.numpy as jnp

    return jnp.zeros(0, jnp.int32)
