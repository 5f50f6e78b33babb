"""Sets of values as closed spans: sorted, apart from each other, exact on numbers and codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Value: TypeAlias = int | float
Spans: TypeAlias = tuple[tuple[Value, Value], ...]
Neighbor: TypeAlias = Callable[[Value], Value]


def join(spans: Iterable[tuple[Value, Value]]) -> Spans:
    """The union of some spans; those that end before they start are empty."""
    found: list[tuple[Value, Value]] = []
    for low, high in sorted(span for span in spans if span[0] <= span[1]):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


def meet(left: Spans, right: Spans) -> Spans:
    """What is in both.

    Examples:
        >>> meet(((0, 5), (8, 9)), ((4, 8),))
        ((4, 5), (8, 8))
    """
    return join((max(a, c), min(b, d)) for a, b in left for c, d in right)


def outside(spans: Spans, low: Value, high: Value, before: Neighbor, after: Neighbor) -> Spans:
    """What lies between `low` and `high` but in none of the spans."""
    found = []
    for first, last in spans:
        found.append((low, before(first)))
        low = after(last)
    return join([*found, (low, high)])


def contains(spans: Spans, values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Which values are in one of the spans."""
    if not spans:
        return np.zeros(len(values), bool)
    starts, ends = np.array(spans).T
    place = np.searchsorted(starts, values, side="right") - 1
    return np.asarray((place >= 0) & (values <= ends[np.maximum(place, 0)]))
