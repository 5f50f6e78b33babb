"""The door `sum`: one pass over the rows, integer sums, one discrete Gaussian."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.rows.stream import Stream
from nacre.vault.bound import Adjacency, Bound
from nacre.vault.doors.grid import Grid
from nacre.vault.noise import LARGEST, add_discrete_gaussian
from nacre.vault.question import AbstractQuestion, Expected
from nacre.vault.release import Release

THEOREM = "Gaussian DP of the clipped integer sum (Balle and Wang 2018; Dong et al. 2022)"
LARGEST_RELEASE = 4_000_000  # exact noise takes some 40 microseconds a number

if TYPE_CHECKING:
    from nacre.vault.exact_sum import ExactSum
    from nacre.vault.view import ViewRows


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Sum(AbstractQuestion):
    """The noisy sum of a vector of one row over all rows, by label if the bound says so.

    Releases:
        sum_i weight_j f_j(x_i) per segment and class, and c times the count.

    Adjacency:
        the plan's.

    Sensitivity:
        `Bound.sensitivity`, enforced on the integers that are summed; `weight` only shrinks
        contributions.

    Guarantee:
        mu-Gaussian DP with mu = sqrt(share) * scale, by discrete Gaussian noise of scale
        sensitivity / mu; the discretization's slack is charged.

    Public:
        bound, share, weight, and so the noise; and the features.

    Attributes:
        bound: what one row may contribute.
        unit: what one is worth in the features' units, so that errors can be told in words: the
            standard error of a mean feature is noise / unit / rows, at most.
        weight: a public factor in (0, 1] for each value of the label, or none.
    """

    bound: Bound
    unit: float = 1.0
    weight: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        classes = 0 if self.bound.by is None else self.bound.classes
        if self.weight is not None and (
            len(self.weight) != classes or not all(0 < w <= 1 for w in self.weight)
        ):
            raise NacreError(
                f"`weight` must give each of the {classes} labels a number in (0, 1], and the "
                "bound must name the label in `by`."
            )
        if self.size > LARGEST_RELEASE:
            raise NacreError(
                f"'{self.name}' would release {self.size:,} numbers; at most {LARGEST_RELEASE:,} "
                "are allowed. Merge values of the columns with the longest lists, choose a label "
                "with fewer values, or lower the method's settings."
            )

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return self.bound.classes * (self.bound.size + (1 if self.bound.count else 0))

    def release(self, scale: float, adjacency: Adjacency) -> Release:
        """Noise in proportion to the sensitivity."""
        # One part in 10^9 more than needed, for the rounding of norms to floats.
        sensitivity = self.bound.sensitivity(adjacency) * (1 + 1e-9)
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
        """The error of a mean feature of the heaviest segment, and of a count."""
        weights = [segment.weight for segment in self.bound.segments]
        per_unit = release.noise / max(weights, default=math.inf) / self.unit
        return Expected(
            error=per_unit / rows if rows and weights else None,
            count_error=release.noise / self.bound.count if self.bound.count else None,
        )


def count_question(share: float) -> Sum:
    """How many rows there are, where that is private."""
    return Sum(
        name="number of rows",
        meaning="how many rows there are",
        bound=Bound(segments=(), count=1.0),
        share=share,
    )


@final
@dataclasses.dataclass(frozen=True)
class Sums:
    """A noisy sum, as it left the vault.

    Attributes:
        values: (classes, size).
        noise: the standard deviation of each value, by segment, in the units of the features
            (times one over the label's weight, where the sum was weighted).
        counts: (classes,), if the bound asked for them.
        count_noise: the standard deviation of each count.
    """

    values: NDArray[np.float64]
    noise: tuple[float, ...]
    counts: NDArray[np.float64] | None = None
    count_noise: float = 0.0

    @property
    def total(self) -> float:
        """The noisy number of rows."""
        if self.counts is None:
            raise NacreError("The bound of this sum asked for no count.")
        return float(self.counts.sum())


def answer(
    question: Sum,
    release: Release,
    exact: ExactSum,
    public: Any,
    stream: Stream | ViewRows,
    charge: Callable[[], None],
    on_pass: Callable[[], None],
    used: int | None = None,
    told: float | None = None,
) -> Sums:
    """The exact sum, the charge, then the noise; `told` is of an earlier answer: see `over`."""
    check_used(question, used)
    if exact.bound != question.bound or exact.encoder is not stream.encoder:
        raise NacreError("The program of this sum was made for another question.")
    Grid.of(question, release, exact)  # refuses before the pass
    sums, counts = exact.over(stream, public, on_pass, told)
    return noised(question, release, exact, sums, counts, charge, used)


def check_used(question: Sum, used: int | None) -> None:
    """Refuse to release more numbers than there are, before a row is read."""
    if used is not None and not 0 <= used <= question.bound.size:
        raise NacreError(
            f"'{question.name}' has {question.bound.size:,} numbers; `used` is {used:,}."
        )


def noised(
    question: Sum,
    release: Release,
    exact: ExactSum,
    sums: NDArray[np.int64],
    counts: NDArray[np.int64],
    charge: Callable[[], None],
    used: int | None = None,
) -> Sums:
    """The answer from exact sums: all segments on one grid, the charge, then the noise.

    Of all but the first `used` numbers of a class nothing is released: zeros stand in their places.
    What is released is a part of what was announced and charged.
    """
    grid = Grid.of(question, release, exact)
    integers = grid.integers(sums, counts)
    charge()
    wanted = np.ones(integers.shape[1], np.bool_)
    wanted[used : question.bound.size] = used is None  # the count stands behind them
    noisy = np.zeros_like(integers)
    noisy[:, wanted] = add_discrete_gaussian(integers[:, wanted], grid.scale)
    return released(grid, noisy, grid.scale)


def released(grid: Grid, noisy: NDArray[np.int64], scale: float) -> Sums:
    """The answer from integers on the grid in which noise of this scale is already.

    Noisy integers are public: where one lies at the end of the grid, that is said.
    """
    if np.abs(noisy.astype(np.float64)).max(initial=0.0) > 0.999 * LARGEST - 6 * scale:
        warnings.warn(
            "A sum reached the end of 64 bits and was cut off there: too many rows for one sum. "
            "The guarantee holds, but numbers made from it are too small.",
            stacklevel=2,
        )
    values, counts = grid.values(noisy)
    count_step = grid.count_step * grid.whole * grid.one
    return Sums(
        values=values,
        noise=tuple(scale / (step * grid.one) for step in grid.steps),
        counts=counts,
        count_noise=scale / count_step if grid.bound.count else 0.0,
    )
