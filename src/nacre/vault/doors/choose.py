"""The door `choose`: private choices among the blocks of one exact sum, by Gumbel noise."""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.rows.stream import Stream
from nacre.rows.unit import MOST
from nacre.vault.bound import Adjacency, Bound
from nacre.vault.gaussian_dp import choice_epsilon
from nacre.vault.question import AbstractQuestion, Expected
from nacre.vault.release import Release

THEOREM = "Gaussian DP of the exponential mechanism (Durfee and Rogers 2019; docs, section 6)"
LARGEST_BLOCK = 1 << 18  # places of one segment to choose among, all classes together
TARGET_BITS = 6  # targets and penalties are rounded to 2^-6 of a count
CELL_LIMIT = 1 << 36  # counts beyond it are clamped, so that 64 bits hold all scores
ERROR_LIMIT = 1 << 49

Integers = NDArray[np.int64]


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Choice(AbstractQuestion):
    """Up to `count` private choices among the bound's segments, from one pass over the rows.

    Releases:
        the segments chosen, one for each call of what is returned (`Choices`).

    Adjacency:
        the plan's.

    Sensitivity:
        2 * `Bound.block_change`, enforced on the integers that are summed.

    Guarantee:
        together mu-Gaussian DP with mu = sqrt(share) * scale: every choice gets an equal part of it
        (`choice_mu`); all are charged before the first is made.

    Public:
        bound, count, share, and so the noise; and the features.

    Attributes:
        bound: what one row may contribute; its segments are what is chosen among.
        count: how many choices may be made.
    """

    bound: Bound
    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise NacreError(f"There must be at least one choice to make, got {self.count}.")
        if any(self.bound.classes * s.size > LARGEST_BLOCK for s in self.bound.segments):
            raise NacreError(
                f"'{self.name}' would choose among blocks of more than {LARGEST_BLOCK:,} numbers. "
                "Lower the method's settings, or choose a label with fewer values."
            )

    def release(self, scale: float, adjacency: Adjacency) -> Release:
        """Gumbel noise for `count` choices."""
        # Two scores may move in opposite directions, so their difference moves by twice as much.
        sensitivity = 2 * self.bound.block_change(adjacency) * (1 + 1e-9)
        each = choice_epsilon(scale * math.sqrt(self.share / self.count)) * (1 - 1e-8)
        return Release(
            name=self.name,
            mechanism="exponential",
            theorem=THEOREM,
            adjacency=adjacency,
            size=len(self.bound.segments),
            sensitivity=sensitivity,
            noise=sensitivity / each,
            steps=self.count,
        )

    def expected(self, release: Release, rows: int | None) -> Expected:
        """How far apart two candidates must be to be told apart."""
        apart = math.pi / math.sqrt(3) * release.noise  # the deviation of a difference of Gumbels
        return Expected(words=f"candidates that are {apart:,.0f} rows apart can be told apart")


@final
class Choices:
    """Up to `count` choices among blocks; the exact sums stay in here, behind the wall.

    Releases:
        for each call the index r of a block, drawn with probability proportional to exp(score_r /
        noise), score_r = ||S_r - target_r||_1 - penalty_r.

    Adjacency:
        the vault's.

    Sensitivity:
        a row (or a person: a mean of rows, see `nacre.rows.unit`) moves ||S_r - target_r||_1 by at
        most its own L1 norm in the block, B (`Bound.block_change`), twice that under replace-one.
        So the difference of two scores changes by at most twice that: the release's sensitivity.

    Guarantee:
        the privacy loss of one choice lies in an interval of length sensitivity / noise (Durfee and
        Rogers, 2019), hence mu-Gaussian DP with `choice_mu` of it.

    Exactness:
        scores are integers; the draw is OpenDP's, exact, by the system's entropy.

    Public:
        targets, penalties and `among`: they may follow from earlier answers.
    """

    def __init__(self, sums: Integers, bound: Bound, release: Release, whole: int = 1):
        # Of persons' sums one is `whole`, so that they are on a grid that is fine enough already.
        self._steps = 2**TARGET_BITS if whole == 1 else whole
        self._limit = CELL_LIMIT if whole == 1 else MOST
        limit = self._limit * whole
        self._sums = np.clip(sums, -limit, limit) * (self._steps // whole)
        self._offsets, self._left = bound.offsets, release.steps
        self._lock, self._blocks = threading.Lock(), len(bound.segments)
        self._draw = _noisy_max(release, self._steps)

    @property
    def left(self) -> int:
        """How many choices may still be made."""
        return self._left

    def __call__(
        self,
        targets: NDArray[np.floating],
        *,
        penalties: Sequence[float] | None = None,
        among: Sequence[int] | None = None,
    ) -> int:
        """The block that is probably furthest from its target.

        Args:
            targets: what each sum is expected to be, in the sums' shape (classes, size).
            penalties: what is taken off each block's distance.
            among: the blocks that may be chosen; all by default.
        """
        chosen = list(range(self._blocks) if among is None else among)
        if not chosen or any(place not in range(self._blocks) for place in chosen):
            raise NacreError(f"`among` must name some of the {self._blocks} blocks.")
        scores = self._scores(targets, penalties)
        with self._lock:
            if not self._left:
                raise NacreError("All the choices that were paid for have been made.")
            self._left -= 1
        return int(chosen[self._draw([scores[place] for place in chosen])])

    def _scores(self, targets: Any, penalties: Any) -> list[int]:
        """The exact scores in steps of the grid.  NOT private."""
        expected = self._on_grid(targets, self._sums.shape, "targets")
        penalty = self._on_grid(penalties, (self._blocks,), "penalties")
        scores = []
        for place in range(self._blocks):
            span = slice(self._offsets[place], self._offsets[place + 1])
            distance = int(np.abs(self._sums[:, span] - expected[:, span]).sum())
            # A clamp moves no two tables further apart.
            scores.append(min(max(distance - int(penalty[place]), -ERROR_LIMIT), ERROR_LIMIT))
        return scores

    def _on_grid(self, values: Any, shape: tuple[int, ...], name: str) -> Integers:
        """Public numbers as whole steps of the grid; zeros if there are none."""
        found = np.zeros(shape) if values is None else np.asarray(values, np.float64)
        if found.shape != shape or not np.isfinite(found).all():
            raise NacreError(f"`{name}` must be finite numbers of shape {shape}.")
        limit = float(self._limit * self._steps)
        return np.clip(np.rint(found * self._steps), -limit, limit).astype(np.int64)


def answer(
    question: Choice,
    release: Release,
    features: Callable[[Any], Any],
    stream: Stream,
    charge: Callable[[], None],
    on_pass: Callable[[], None],
    told: float | None = None,
) -> Choices:
    """The exact sums, behind the wall, and the charge for all choices to come.

    `told` is the number of rows by an earlier answer: see `ExactSum.over`.
    """
    from nacre.vault.exact_sum import ExactSum

    exact = ExactSum(features, question.bound, stream.encoder)
    if not exact.integer:
        raise NacreError("Choices need features that are integers, such as one-hot counts.")
    sums, _ = exact.over(stream, None, on_pass, told)
    choices = Choices(sums, question.bound, release, exact.whole)
    charge()
    return choices


def _noisy_max(release: Release, steps: int = 2**TARGET_BITS) -> Any:
    """OpenDP's exact Gumbel argmax, refused if its own privacy map says more than the release.

    Without noise it is the plain argmax.  `steps` of the integer scores are one unit of the score.
    """
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.measures import zero_concentrated_divergence
    from opendp.metrics import linf_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    measurement = make_noisy_max(
        vector_domain(atom_domain(T="i64")),
        linf_distance(T="i64"),
        zero_concentrated_divergence(),
        scale=release.noise * steps,
    )
    # One score moves by half of what a difference of two does.  A loss of range e is e^2/8-zCDP.
    change = math.floor(release.sensitivity / 2 + 1e-6) * steps
    proved = math.sqrt(8 * measurement.map(change))
    if release.private and not proved <= release.sensitivity / release.noise * (1 + 1e-6):
        raise NacreError("OpenDP does not confirm the cost of the choices; nothing was spent.")
    return measurement
