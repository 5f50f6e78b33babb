"""Evenly spaced decimal numbers as whole numbers, so that reading and writing them is exact."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from decimal import Decimal
from typing import final

import numpy as np
from numpy.typing import NDArray

DIGITS = 15  # so many decimal digits survive float64
# Where public tables keep what is no measurement (none, unknown, never, refused), so that these get
# a cell of their own for nothing: 0, 1 and rows of nines, with either sign.
COMMON = (0, *(sign * n for n in (1, 9, 99, 999, 9_999, 99_999) for sign in (1, -1)))
# What people round numbers to, in units of the last decimal: a number that is a multiple of two of
# these is one of their least common multiple, which is here, too.
ROUND = tuple(sorted(d * 10**k for d in (1, 5, 25) for k in range(DIGITS)))


@final
@dataclasses.dataclass(frozen=True)
class Grid:
    """The numbers (first + step * tick) / 10^decimals for tick = 0, 1, 2, ...

    Examples:
        >>> Grid.of(low=0.5, step=0.25).values(np.array([0, 3])).tolist()
        [0.5, 1.25]
    """

    first: int
    step: int
    decimals: int

    @classmethod
    def of(cls, *, low: float, step: float, decimals: int | None = None) -> Grid:
        """The grid from `low` on, with as many decimals as the two have, or more."""
        needed = max(digits(low), digits(step))
        decimals = needed if decimals is None else decimals
        unit = 10**decimals
        return cls(int(np.rint(low * unit)), int(np.rint(step * unit)), decimals)

    @property
    def unit(self) -> int:
        """How many units of the last decimal make one."""
        return 10**self.decimals

    def ticks(self, units: NDArray[np.int64]) -> NDArray[np.int64]:
        """The nearest tick of whole numbers of units, of two equally near the upper one."""
        if self.step == 1:
            return units - self.first
        return (units - self.first + self.step // 2) // self.step

    def units(self, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Whole numbers of units."""
        return self.first + self.step * ticks

    def values(self, ticks: NDArray[np.int64]) -> NDArray[np.float64]:
        """The numbers themselves."""
        return np.asarray(self.units(ticks) / float(self.unit))

    def tick(self, value: float, most: int) -> int | None:
        """The tick of a number; None if it is not one of the numbers up to tick `most`."""
        units = round(Decimal(repr(float(value))) * self.unit)
        tick, rest = divmod(units - self.first, self.step)
        there = units / float(self.unit) == value and not rest and 0 <= tick <= most
        return tick if there else None


def lattices(
    first: int, step: int, rounds: Iterable[int], ticks: int
) -> tuple[tuple[int, int], ...]:
    """(every, start) for each of `rounds`: the ticks whose first + step * tick are its multiples.

    These are `start` and every so many ticks from there on; those that all ticks or none up to
    `ticks` are on are left out.

    Examples:
        >>> lattices(17, 1, (1, 5, 10, 1000), 90)
        ((5, 3), (10, 3))
        >>> lattices(0, 25, (1, 5, 10, 50, 100), 1000)
        ((2, 0), (4, 0))
    """
    found = {}
    for each in rounds:
        common = math.gcd(step, each)
        every = each // common
        if first % common == 0 and 1 < every <= ticks:
            found[every] = -(first // common) * pow(step // common, -1, every) % every
    return tuple(sorted(found.items()))


def endings(first: int, step: int, ticks: int) -> tuple[tuple[int, int], ...]:
    """`lattices` of the steps that people round numbers to, and of prices, just below a hundred.

    Examples:
        >>> endings(0, 25, 1000)
        ((2, 0), (4, 0), (10, 0), (20, 0), (40, 0), (100, 0), (200, 0), (400, 0), (1000, 0))
        >>> (100, 99) in endings(0, 1, 100_000)  # 19.99 in cents
        True
    """
    found = [*lattices(first, step, ROUND, ticks), *lattices(first + 1, step, (100,), ticks)]
    return tuple(sorted(found, key=lambda each: each[0]))


def digits(value: float) -> int:
    """How many digits after the point a number has, as people would write it.

    Examples:
        >>> [digits(value) for value in (100.0, 0.25, 1e-05)]
        [0, 2, 5]
    """
    exponent = Decimal(repr(float(value))).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else DIGITS + 1


def dense_tick(value: float, low: float, high: float, ticks: int) -> int:
    """The tick nearest to a number, where so many ticks share the range from `low` to `high`."""
    return round(min(max((value - low) / (high - low), 0), 1) * ticks)
