"""Look-ups and searches in public tables, for functions of one row.

In JAX's own primitives: what `jax.numpy` adds for negative indices and for numbers of all kinds
doubles a program that is mostly look-ups, and the time that it takes to trace and to compile it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOM = 1 << 17  # places of all numbers that are looked up, so that they stay in a cache
LEADING_BITS = 10, 16  # of a position, by which its cell is looked up first: at least and at most
GROUPS = 8  # of numbers that are searched for apart; more take long to compile


def offsets(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Where each stretch of a concatenation starts, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def placed(values: Any, kind: type[np.generic] = np.int32) -> Any:
    """Public values as an array of JAX; put there as they are, as a program would be compiled."""
    import jax

    return jax.device_put(np.array(values, kind))


def look_up(table: Any, places: Any) -> Any:
    """table[places], a vector at places that it has, all of them zero or more."""
    from jax import lax

    found = lax.expand_dims(places, (np.ndim(places),))
    numbers = lax.GatherDimensionNumbers(
        offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,)
    )
    return lax.gather(table, found, numbers, (1,), mode="clip")


class Search:
    """In which cell each number's position is: how many cells begin at it or below.

    The leading bits of a position are looked up: the cells that begin below all positions with
    these bits.  A binary search among the few that begin between those positions does the rest,
    of numbers side by side that need as many steps of it.
    """

    def __init__(self, begins: Sequence[NDArray[np.int64]], most: NDArray[np.int32]):
        room = (ROOM // max(len(most), 1)).bit_length() - 1
        leading = min(max(room, LEADING_BITS[0]), LEADING_BITS[1])
        self._shift = np.array([max(int(m).bit_length() - leading, 0) for m in most], np.int32)
        below = [_below(*each) for each in zip(begins, most, self._shift, strict=True)]
        self._buckets = offsets([len(counts) for counts, _ in below])[:-1].astype(np.int32)
        self._counts = np.concatenate([np.zeros(0), *(counts for counts, _ in below)])
        bits = [between.bit_length() for _, between in below]
        if sum(a != b for a, b in itertools.pairwise(bits)) >= GROUPS:
            bits = [max(bits)] * len(bits)
        # As many that never come after each, so that no step looks at another number's.
        never = np.full(1 << max(bits, default=0), np.iinfo(np.int32).max)
        padded = [np.concatenate([each, never]) for each in begins]
        self._begins = np.concatenate([np.zeros(0), *padded])
        self._starts = offsets([len(each) for each in padded])[:-1].astype(np.int32)
        grouped = itertools.groupby(enumerate(bits), key=lambda item: item[1])
        groups = [(bit, [place for place, _ in items]) for bit, items in grouped]
        self._groups = [(bit, slice(own[0], own[-1] + 1)) for bit, own in groups]

    def __call__(self, position: Any) -> Any:
        """The cells of one row's positions, each from 0 to its `most`."""
        from jax import lax

        counts, begins = placed(self._counts), placed(self._begins)
        bucket = lax.shift_right_arithmetic(position, self._shift)
        found, parts = look_up(counts, lax.add(bucket, self._buckets)), []
        for bits, own in self._groups:
            cell = lax.slice_in_dim(found, own.start, own.stop)
            here = lax.slice_in_dim(position, own.start, own.stop)
            for step in (1 << bit for bit in reversed(range(bits))):
                start = self._starts[own] + np.int32(step - 1)
                there = look_up(begins, lax.add(cell, start))
                further = lax.add(cell, np.full(cell.shape, step, np.int32))
                cell = lax.select(lax.le(there, here), further, cell)
            parts.append(cell)
        return lax.concatenate(parts, 0)


def _below(begins: NDArray[np.int64], most: int, shift: int) -> tuple[NDArray[np.int64], int]:
    """For all positions up to `most` with the same leading bits: how many cells begin below them.

    Or at the first of them; and how many begin after that one and up to the last, at most.
    """
    first = np.arange((int(most) >> int(shift)) + 1, dtype=np.int64) << int(shift)
    counts = np.searchsorted(begins, first, side="right")
    ends = np.searchsorted(begins, first + (1 << int(shift)) - 1, side="right")
    return counts, int((ends - counts).max())
