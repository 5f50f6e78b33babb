"""The door `votes`: teachers behind the wall, one for each part of the rows, vote with noise."""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.rows.stream import Stream
from nacre.vault.bound import Adjacency
from nacre.vault.noise import LARGEST, add_discrete_gaussian, grid_bits
from nacre.vault.question import AbstractQuestion, Expected
from nacre.vault.release import Release

THEOREM = "Gaussian DP of counts of votes of teachers on disjoint parts (docs, section 8)"
LARGEST_RELEASE = 4_000_000  # exact noise takes some 40 microseconds a number
MOST_PARTS = 1 << 16
MORE_BITS = 8  # places of the grid beyond `grid_bits`, as sums have them, too

if TYPE_CHECKING:
    from nacre.vault.teachers import Teachers
    from nacre.vault.view import ViewRows


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Votes(AbstractQuestion):
    """Counts of votes of `parts` teachers on `queries` queries in each of `rounds` rounds.

    Releases:
        for each query how many teachers voted for each class, with noise.

    Adjacency:
        the plan's.  Each row is drawn to one part, independently of all else; of a person with
        several rows one counts, drawn at random.

    Sensitivity:
        a teacher is a function of the rows of its own part, of public values and of public keys
        (`Teachers`), and casts one vote for each query.  Add-remove: one part changes, so one
        teacher, so for each of the Q = queries * rounds queries one vote leaves a class for
        another: sqrt(2 Q).  Replace-one: the row that goes and the row that comes may sit in two
        parts, and both teachers may leave the same class for the same other, which moves two
        counts by 2: sqrt(8 Q).

    Guarantee:
        mu-Gaussian DP with mu = sqrt(share) * scale, over all rounds together: what is asked in a
        round may follow from the answers of those before it (Dong, Roth and Su 2022, Corollary
        3.3), and the mixture over all ways to draw the parts costs no more (docs/privacy.md,
        section 8).

    Public:
        all of it; and queries, first states and what teachers are shown beside rows.

    Attributes:
        queries: of one round.
        parts: how many teachers there are.
        classes: what a teacher may vote for.
        rounds: how often teachers may learn and vote.
    """

    queries: int
    parts: int
    classes: int
    rounds: int = 1

    def __post_init__(self) -> None:
        if min(self.queries, self.rounds) < 1 or self.classes < 2:
            raise NacreError(
                "Votes need a query and a round at least, and two classes to vote for, got "
                f"{self.queries}, {self.rounds} and {self.classes}."
            )
        if not 1 <= self.parts <= MOST_PARTS:
            raise NacreError(
                f"There must be from 1 to {MOST_PARTS:,} parts of the rows, got {self.parts:,}."
            )
        if self.size > LARGEST_RELEASE:
            raise NacreError(
                f"'{self.name}' would release {self.size:,} numbers; at most {LARGEST_RELEASE:,} "
                "are allowed. Ask fewer queries, or fewer rounds of them."
            )

    @property
    def size(self) -> int:
        """How many numbers are released, over all rounds."""
        return self.queries * self.rounds * self.classes

    def capacity(self, rows: float) -> int:
        """Room that a part of so many rows hardly ever outgrows; `rows` is public, or noisy."""
        mean = max(rows, 1.0) / self.parts
        return math.ceil(mean + 6 * math.sqrt(mean) + 6)

    def sensitivity(self, adjacency: Adjacency | str) -> float:
        """The largest L2 change of all counts of votes between neighboring tables."""
        each = 2 if Adjacency(adjacency) is Adjacency.ADD_REMOVE else 8
        return math.sqrt(each * self.queries * self.rounds)

    def release(self, scale: float, adjacency: Adjacency) -> Release:
        """Noise in proportion to the sensitivity."""
        # One part in 10^9 more than needed, for the rounding of the root to a float.
        sensitivity = self.sensitivity(adjacency) * (1 + 1e-9)
        return Release(
            name=self.name,
            mechanism="gaussian",
            theorem=THEOREM,
            adjacency=adjacency,
            size=self.size,
            sensitivity=sensitivity,
            noise=sensitivity / (scale * math.sqrt(self.share)),
        )

    def expected(self, release: Release, rows: int | None) -> Expected:
        """The noise of a count of votes."""
        return Expected(
            words=f"a count of the votes of {self.parts:,} teachers will be off by about "
            f"{release.noise:.3g}"
        )


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Teacher:
    """What teachers do, as one value; `learn` and `predict` run behind the wall.

    Attributes:
        state: the first states, public: a tree of arrays whose first axis is that of the parts.
        learn: (state, rows, valid, public, key) -> state, of one teacher: the rows of its part,
            `capacity` of them on the first axis, and which of them there are.
        predict: (state, query) -> a class, a whole number; one that there is not counts as the
            nearest that there is.
        public: what teachers are shown in a round beside rows, a tree of arrays; here an example,
            of which the shapes count.
        query: one query; likewise.
        capacity: rows that a part has room for; those that come later in the table are left out.
    """

    state: Any
    learn: Callable[[Any, Any, Any, Any, Any], Any]
    predict: Callable[[Any, Any], Any]
    public: Any
    query: Any
    capacity: int

    def __post_init__(self) -> None:
        if not 1 <= self.capacity <= 1 << 31:
            raise NacreError(f"A part needs room for one row at least, got {self.capacity}.")


@final
class Ballots:
    """Up to `rounds` rounds of votes; teachers and their votes stay in here, behind the wall.

    Releases:
        for each call the counts of votes (queries, classes), with discrete Gaussian noise.

    Sensitivity:
        `Votes.sensitivity`, over all rounds: of every teacher one vote for each query.

    Exactness:
        votes are counted as integers, and the noise is exact (`add_discrete_gaussian`), on a grid
        that is fine enough for all rounds together.

    Public:
        queries and `public`: they may follow from earlier answers.
    """

    def __init__(
        self,
        teachers: Teachers,
        question: Votes,
        release: Release,
        on_round: Callable[[float], None],
    ):
        self._teachers, self._question, self._release = teachers, question, release
        self._on_round, self._left = on_round, question.rounds
        self._places = grid_places(release)
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """How many rounds may still be held."""
        return self._left

    def __call__(self, queries: Any, public: Any = None) -> NDArray[np.float64]:
        """Let all teachers learn and vote: noisy counts of votes, (queries, classes).

        Args:
            queries: a tree of arrays whose first axis is that of the queries.
            public: what teachers are shown, beside their rows, while they learn.
        """
        with self._lock:
            if not self._left:
                raise NacreError("All the rounds that were paid for have been held.")
            self._teachers.check(queries, public, self._question.queries)
            number = self._question.rounds - self._left
            self._left -= 1
            votes = self._teachers.votes(queries, public, number)
        exact = count(votes, self._question.classes)
        grid = 2.0**self._places
        noisy = add_discrete_gaussian(exact << self._places, self._release.noise * grid)
        self._on_round((number + 1) / self._question.rounds)
        return noisy.astype(np.float64) / grid


def count(votes: NDArray[np.integer], classes: int) -> NDArray[np.int64]:
    """Exact counts of votes (queries, classes) of votes (parts, queries).  NOT private.

    Every vote counts once: one for a class that there is not goes to the nearest.
    """
    cast = np.clip(votes, 0, classes - 1)
    return (cast[:, :, None] == np.arange(classes)).sum(axis=0, dtype=np.int64)


def grid_places(release: Release) -> int:
    """Binary places of the grid of counts: noise of at least 2^24 sqrt(size) of its steps."""
    places = grid_bits(release.noise, release.size) + MORE_BITS
    if release.noise * 2.0**places * 2**6 >= LARGEST or MOST_PARTS << places >= LARGEST:
        raise NacreError(
            "The noise of the votes does not fit 64-bit integers. Ask fewer queries, or choose "
            "another epsilon."
        )
    return places


def answer(
    question: Votes,
    release: Release,
    teacher: Teacher,
    stream: Stream | ViewRows,
    charge: Callable[[], None],
    on_round: Callable[[float], None],
    *,
    key: Any,
) -> Ballots:
    """Check the teachers, draw the parts, and charge for all rounds to come."""
    from nacre.vault.teachers import Teachers

    teachers = Teachers(teacher, question.parts, stream.encoder.shape, key)
    teachers.admit(stream.whole().one_each())
    ballots = Ballots(teachers, question, release, on_round)
    charge()
    return ballots
