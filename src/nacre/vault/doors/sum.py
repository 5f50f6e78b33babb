"""The door `sum`: one pass over the rows, integer sums, one discrete Gaussian."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.rows.stream import Stream
from nacre.vault.accountant import Release
from nacre.vault.bound import Adjacency, Bound
from nacre.vault.noise import LARGEST, add_discrete_gaussian, grid_bits
from nacre.vault.question import AbstractQuestion, Expected

THEOREM = "Gaussian DP of the clipped integer sum (Balle and Wang 2018; Dong et al. 2022)"
LARGEST_RELEASE = 4_000_000  # exact noise takes some 40 microseconds a number
FACTOR_ONE = 1 << 8  # what a label's weight of one is in integers

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
            standard error of a mean feature is noise / unit / rows.
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
) -> Sums:
    """The exact sum, the charge, then the noise."""
    from nacre.vault.exact_sum import BLOCK

    bound = question.bound
    if exact.bound != bound or exact.encoder is not stream.encoder:
        raise NacreError("The program of this sum was made for another question.")
    factors = _factors(question.weight, bound.classes)
    places = grid_places(release, bound, exact.units, exact.whole)
    sums, counts = exact(stream.blocks(BLOCK, on_pass), public)
    columns, steps = [], []
    for j, segment in enumerate(bound.segments):
        step = math.floor(segment.weight * exact.units[j] * 2.0**places)
        part = sums[:, bound.offsets[j] : bound.offsets[j + 1]]
        columns.append(_scaled(part, factors[:, None] * step))
        steps.append(step / exact.units[j])
    count_step = math.floor(bound.count / exact.whole * 2.0**places)
    if bound.count:
        columns.append(_scaled(counts[:, None], factors[:, None] * count_step))
    scale = release.noise * 2.0**places * FACTOR_ONE
    charge()
    noisy = add_discrete_gaussian(np.concatenate(columns, axis=1), scale).astype(np.float64)
    undo = np.array(factors, np.float64)[:, None]
    values = [
        noisy[:, bound.offsets[j] : bound.offsets[j + 1]] / (steps[j] * undo)
        for j in range(len(steps))
    ]
    return Sums(
        values=np.concatenate(values or [np.zeros((bound.classes, 0))], axis=1),
        noise=tuple(scale / (step * FACTOR_ONE) for step in steps),
        counts=noisy[:, -1] / (count_step * exact.whole * undo[:, 0]) if bound.count else None,
        count_noise=scale / (count_step * exact.whole * FACTOR_ONE) if bound.count else 0.0,
    )


def grid_places(release: Release, bound: Bound, units: Sequence[float], whole: int = 1) -> int:
    """Binary places of the one fine grid on which one discrete Gaussian serves every segment.

    `units` are those of the sums; a count of one is `whole` in integers.
    """
    sizes = [u * s.weight for u, s in zip(units, bound.segments, strict=True)]
    finest = min([*sizes, bound.count / whole] if bound.count else sizes)
    # Steps are rounded down, which wastes noise: hardly any of parts of persons, which are no
    # powers of two.
    more = 8 if whole == 1 else 14
    places = max(grid_bits(release.noise, release.size), math.ceil(-math.log2(finest)) + more)
    if release.noise * 2.0**places * FACTOR_ONE * 2**6 >= LARGEST:
        raise NacreError(
            "The segments' norms or weights are too far apart for one grid of 64-bit integers. "
            "Bring them closer together, or ask in two sums."
        )
    return places


def _factors(weight: Sequence[float] | None, classes: int) -> NDArray[np.int64]:
    """Public weights by class as whole multiples of 2^-8."""
    given = (1.0,) * classes if weight is None else weight
    return np.array([max(1, math.floor(w * FACTOR_ONE)) for w in given], np.int64)


def _scaled(sums: NDArray[np.int64], steps: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """sums * steps, clamped before 64 bits end: a clamp never moves two tables further apart.

    A product that wrapped around would; `grid_places` keeps the steps themselves far below that.
    """
    most = LARGEST // np.asarray(steps, np.int64)
    return np.clip(sums, -most, most) * np.asarray(steps, np.int64)
