"""Encoded rows in fixed-size blocks, and the shape of one row that functions of a row see."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nacre.schema import Encoded, Layout

NUMBER_BITS = 16


class Row(NamedTuple):
    """One row as a function of one row sees it: integers only, hence exact.

    numbers  int32, each column's value on a grid of 2^-16 of its public range (0 to 65,536)
    codes    int32, each category's place in its public list
    """

    numbers: Any
    codes: Any


@dataclasses.dataclass(frozen=True)
class Block:
    """Rows and whether each is to be counted (padding and bad rows are not)."""

    rows: Row
    valid: NDArray[np.bool_]


def grid(encoded: Encoded, layout: Layout) -> Row:
    """The rows of `encoded` on the 2^-16 grid; elementwise, so a function of each row alone."""
    most = np.array([number.ticks for number in layout.numbers], np.float64)
    numbers = np.rint(encoded.ticks / np.maximum(most, 1.0) * 2**NUMBER_BITS)
    return Row(numbers.astype(np.int32), np.ascontiguousarray(encoded.codes, np.int32))


def blocks(parts: Iterable[Encoded], layout: Layout, size: int) -> Iterator[Block]:
    """Cut a stream of encoded batches of any length into blocks of exactly `size` rows.

    The last block is filled up with rows that do not count; there is always at least one block,
    so that an empty table looks like any other.
    """
    numbers = np.zeros((size, len(layout.numbers)), np.int32)
    codes = np.zeros((size, len(layout.codes)), np.int32)
    valid = np.zeros(size, np.bool_)
    filled, empty = 0, True
    for part in parts:
        rows = grid(part, layout)
        start = 0
        while start < len(part.valid):
            take = min(size - filled, len(part.valid) - start)
            here, there = slice(filled, filled + take), slice(start, start + take)
            numbers[here], codes[here] = rows.numbers[there], rows.codes[there]
            valid[here] = part.valid[there]
            filled, start = filled + take, start + take
            if filled == size:
                yield Block(Row(numbers.copy(), codes.copy()), valid.copy())
                filled, empty = 0, False
    if filled or empty:
        valid[filled:] = False
        yield Block(Row(numbers.copy(), codes.copy()), valid.copy())
