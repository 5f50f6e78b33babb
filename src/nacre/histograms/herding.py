"""Rows chosen among candidates, so that a table lies closer to its model than independent draws.

Herding (Welling, 2009; Chen, Welling and Smola, 2010) of all pairs of columns by class: of some
candidates those are taken whose pairs the rows taken so far lack most.  Candidates follow the
model, and what is compared with what is taken are the candidates themselves, so nothing has to be
known of the model.

What is lacking begins at a random number for every pair (a dither, as of quantized signals): a pair
that is expected once in ten tables would otherwise never be lacking enough in one, and be taken in
none of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
Draw = Callable[[int], tuple[Index, tuple[NDArray[Any], ...]]]

LEAST = 500  # rows: in fewer of them hardly any pair is expected more than once
MOST = 50_000  # in more of them chance is small beside the noise of what was measured
CANDIDATES = 4  # for each row: with 8 pairs come a twentieth closer, in twice the time
FEWEST = 2  # likewise, where there are many pairs of columns
WORK = 800  # pairs times candidates that are looked at for each row
BLOCK = 16  # rows that are chosen at once
BLOCKS = 32  # at least, where there are so many rows
AT_ONCE = 1 << 23  # numbers of candidates in memory
CELLS = 1 << 22  # of all tables together
DITHER = 0.7  # with .5 the rarest pairs are a tenth too few, with 1 a tenth too many
COLUMNS = 4  # at least: quotas alone keep the pairs of fewer


def herded_rows(
    draw: Draw,
    widths: Sequence[int],
    paired: int,
    n: int,
    rng: np.random.Generator,
    *,
    others: int = 0,
) -> Any:
    """n rows of `draw`, chosen so that their pairs of columns are those of all that it gives.

    Args:
        draw: for a number of rows, what they are chosen by (rows, columns), the label last, and
            arrays of these rows, which are in random order.
        widths: how many values each of the columns has by which they are chosen.
        paired: how many of these columns go in pairs; the others are looked at by themselves.
        n: how many.
        rng: says which pairs are looked at where there are too many, and where they begin.
        others: how many numbers more a row of `draw` takes, so that memory stays small.

    Returns:
        The arrays of the rows that were chosen.
    """
    if not LEAST <= n <= MOST or paired < COLUMNS:
        return draw(n)[1]
    herd = Herd.of(widths, paired, rng)
    if not len(herd.left):
        return draw(n)[1]
    each = int(np.clip(WORK // len(herd.left), FEWEST, CANDIDATES))
    size = min(BLOCK, math.ceil(n / BLOCKS))
    stretch = max(size, AT_ONCE // (each * (len(widths) + others)))
    found = []
    for start in range(0, n, stretch):
        keys, arrays = draw(each * min(stretch, n - start))
        chosen = herd.choose(keys, each, size)
        found.append([part[chosen] for part in arrays])
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))


@final
class Herd:
    """What was taken so far, beside what candidates were like: pairs of columns, by class.

    Attributes:
        left, right: the columns of each pair; that beside one by itself has one value.
        sizes: how many values the right one has.
        classes: of the label.
        starts: where the cells of each pair begin.
        ahead: (cells,) how many rows more were taken than candidates make expect.
        seen: (cells,) candidates so far.
    """

    def __init__(self, left: Index, right: Index, widths: Sequence[int], rng: np.random.Generator):
        self.classes, wide = widths[-1], np.array([*widths, 1], np.int64)
        cells = wide[left] * wide[right] * self.classes
        fit = np.cumsum(cells) <= CELLS  # the first ones, as long as there is room
        self.left, self.right = left[fit], right[fit]
        self.sizes = wide[self.right]
        self.starts = (np.cumsum(cells) - cells)[fit]
        size = int(cells[fit].sum())
        self.ahead, self.seen = rng.uniform(-DITHER, DITHER, size), np.zeros(size)

    @classmethod
    def of(cls, widths: Sequence[int], paired: int, rng: np.random.Generator) -> Herd:
        """Of the pairs of the first columns, of many some, and of the others; the label is last."""
        count = paired * (paired - 1) // 2
        places = np.arange(count) if count <= WORK // FEWEST else None
        if places is None:
            places = rng.permutation(np.unique(rng.integers(0, count, WORK // FEWEST)))
        # Pairs in the order of their first column, each with those after it.
        ends = np.cumsum(np.arange(paired - 1, 0, -1))
        left = np.searchsorted(ends, places, side="right")
        right = paired - (ends[left] - places)
        single = np.arange(paired, len(widths) - 1)
        none = np.full(len(single), len(widths))  # a column of one value
        return cls(np.r_[left, single], np.r_[right, none], widths, rng)

    def choose(self, keys: Index, each: int, size: int) -> Index:
        """The places of one of `each` candidates, `size` of them at once."""
        chosen = []
        for start in range(0, len(keys), each * size):
            part = keys[start : start + each * size]
            part = np.pad(part, ((0, 0), (0, 1)))  # the column of one value
            cells = (part[:, self.left] * self.classes + part[:, -2:-1]) * self.sizes
            cells = cells + part[:, self.right] + self.starts
            np.add.at(self.seen, cells, 1.0)
            count = len(part) // each
            # A count that chance moves by its root is pulled back by its distance over that root.
            need = (self.ahead[cells] / np.sqrt(self.seen[cells] / each + 1)).sum(1)
            taken = np.argpartition(need, count - 1)[:count]
            np.add.at(self.ahead, cells, -1 / each)
            np.add.at(self.ahead, cells[taken], 1.0)
            chosen.append(start + taken)
        return np.concatenate(chosen)
