"""The one grid of integers on which all segments of a sum lie, so that one noise serves them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self, final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.vault.bound import Bound
from nacre.vault.noise import LARGEST, grid_bits
from nacre.vault.release import Release

if TYPE_CHECKING:
    from nacre.vault.doors.sum import Sum
    from nacre.vault.exact_sum import ExactSum

FACTOR_ONE = 1 << 8  # what a label's weight of one is in integers, where labels have weights

Integers = NDArray[np.int64]


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Grid:
    """How sums become integers that get noise, and noisy integers answers; public.

    Attributes:
        bound: of the question.
        units: steps of the grid in one unit of a segment's integer sums.
        steps: steps of the grid in one unit of a segment's features.
        count_step: steps of the grid in one unit of the counts.
        whole: what a count of one is in integers.
        one: what a weight of one is in integers: 2^8, or 1 where no class has a weight of its own.
        factors: of each class, its public weight in these units.
        scale: of the noise, in steps.
    """

    bound: Bound
    units: tuple[int, ...]
    steps: tuple[float, ...]
    count_step: int
    whole: int
    one: int
    factors: Integers
    scale: float

    @classmethod
    def of(cls, question: Sum, release: Release, exact: ExactSum) -> Self:
        """Refuses segments that no grid of 64 bits can hold together."""
        bound, one = question.bound, 1 if question.weight is None else FACTOR_ONE
        places = grid_places(release, bound, exact.units, exact.whole, one)
        sizes = zip(bound.segments, exact.units, strict=True)
        units = tuple(math.floor(s.weight * unit * 2.0**places) for s, unit in sizes)
        return cls(
            bound=bound,
            units=units,
            steps=tuple(step / unit for step, unit in zip(units, exact.units, strict=True)),
            count_step=math.floor(bound.count / exact.whole * 2.0**places),
            whole=exact.whole,
            one=one,
            factors=_factors(question.weight, bound.classes, one),
            scale=release.noise * 2.0**places * one,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Of the integers: classes, and all segments with the count behind them."""
        return self.bound.classes, self.bound.size + (1 if self.bound.count else 0)

    def integers(self, sums: Integers, counts: Integers, *, parts: int = 1) -> Integers:
        """Exact sums on the grid; of each of several `parts`, if their total is to fit, too."""
        factors, offsets = self.factors[:, None], self.bound.offsets
        columns = [
            _scaled(sums[:, offsets[j] : offsets[j + 1]], factors * step, LARGEST // parts)
            for j, step in enumerate(self.units)
        ]
        if self.bound.count:
            columns.append(_scaled(counts[:, None], factors * self.count_step, LARGEST // parts))
        return np.concatenate(columns, axis=1)

    def values(self, noisy: Integers) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Noisy integers in the units of the features, and counts."""
        found, undo = noisy.astype(np.float64), self.factors.astype(np.float64)
        offsets = self.bound.offsets
        values = [
            found[:, offsets[j] : offsets[j + 1]] / (step * undo[:, None])
            for j, step in enumerate(self.steps)
        ]
        return (
            np.concatenate(values or [np.zeros((self.bound.classes, 0))], axis=1),
            found[:, -1] / (self.count_step * self.whole * undo) if self.bound.count else None,
        )


def grid_places(
    release: Release, bound: Bound, units: Sequence[float], whole: int = 1, one: int = 1
) -> int:
    """Binary places of the one fine grid on which one discrete Gaussian serves every segment.

    `units` are those of the sums; a count of one is `whole` in integers, a weight of one is `one`.
    """
    sizes = [u * s.weight for u, s in zip(units, bound.segments, strict=True)]
    finest = min([*sizes, bound.count / whole] if bound.count else sizes)
    # Steps are rounded down, which wastes noise: less than a thousandth of parts of persons, which
    # are no powers of two.  A finer grid would end within the tables that people have.
    more = 8 if whole == 1 else 10
    # What weights do not make finer, the grid is itself: the noise is at least 2^24 sqrt(size).
    fine = grid_bits(release.noise, release.size) + (FACTOR_ONE // one).bit_length() - 1
    places = max(fine, math.ceil(-math.log2(finest)) + more)
    if release.noise * 2.0**places * one * 2**6 >= LARGEST:
        raise NacreError(
            "The segments' norms or weights are too far apart for one grid of 64-bit integers. "
            "Bring them closer together, or ask in two sums."
        )
    return places


def _factors(weight: Sequence[float] | None, classes: int, one: int) -> Integers:
    """Public weights by class in integers, rounded down."""
    given = (1.0,) * classes if weight is None else weight
    return np.array([max(1, math.floor(w * one)) for w in given], np.int64)


def _scaled(sums: Integers, steps: Integers | int, largest: int = LARGEST) -> Integers:
    """sums * steps, clamped before 64 bits end: a clamp never moves two tables further apart.

    A product that wrapped around would; `grid_places` keeps the steps themselves far below that.
    """
    most = largest // np.asarray(steps, np.int64)
    return np.clip(sums, -most, most) * np.asarray(steps, np.int64)
