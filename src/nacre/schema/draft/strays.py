"""Values far from all others of a number, that several rows hold: 999 and 9999 for "not known"."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nacre.schema.draft.guess import ENOUGH, FEW

MOST = 3  # such values on one side: 97, 98 and 99 for three reasons
OTHERS = 20  # different values among which one can be far
APART = 1.0  # times as far from the nearest other as all others are from each other


class Strays(NamedTuple):
    """Such values, and the ends of all others.

    Attributes:
        codes: each held by ten rows or more.
        low: the least of the others.
        high: the largest of the others.
    """

    codes: tuple[float, ...]
    low: float
    high: float


def strays(values: NDArray[np.float64]) -> Strays | None:
    """The values far above or far below the others; None if there are none.

    One that fewer than ten rows hold is not told: it may be somebody's own, and no code.

    Examples:
        >>> ages = np.repeat(np.arange(20.0, 80.0), 10)
        >>> strays(np.append(ages, np.full(12, 999.0)))
        Strays(codes=(999.0,), low=20.0, high=79.0)
        >>> strays(np.append(ages, np.full(3, 999.0)))
    """
    held, rows = np.unique(values, return_counts=True)
    if len(values) < ENOUGH or len(held) < OTHERS + 2 * MOST:
        return None
    below = len(held) - _beyond(-held[::-1])
    above = _beyond(held)
    far = np.r_[0:below, above : len(held)]
    if not len(far) or rows[far].min() < FEW:
        return None
    return Strays(tuple(held[far].tolist()), float(held[below]), float(held[above - 1]))


def _beyond(held: NDArray[np.float64]) -> int:
    """The place from which on values are far above the others; their number if there are none.

    How far the others are from each other is told without the lowest, which may be codes as well.
    """
    for place in range(len(held) - 1, len(held) - 1 - MOST, -1):
        if held[place] - held[place - 1] >= APART * (held[place - 1] - held[MOST]):
            return place
    return len(held)
