"""Rows chosen among candidates, so that a table lies closer to its model than independent draws.

Herding (Welling, 2009; Chen, Welling and Smola, 2010) of all pairs of columns by class: of some
candidates those are taken whose pairs the rows taken so far lack most.  Candidates follow the
model, and what is compared with what is taken are the candidates themselves, so nothing has to be
known of the model, and no pair is preferred to others: one that was taken too often is avoided as
long as it is, however rare it may be.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
Draw = Callable[[int], tuple[Index, tuple[NDArray[Any], ...]]]

MOST = 50_000  # rows: in more of them chance is small beside the noise of what was measured
CANDIDATES = 4  # for each row: with 8 pairs come a twentieth closer, in twice the time
FEWEST = 2  # likewise, where there are many pairs of columns
WORK = 800  # pairs times candidates that are looked at for each row
BLOCK = 16  # rows that are chosen at once
BLOCKS = 32  # at least, where there are so many rows
AT_ONCE = 1 << 23  # numbers of candidates in memory


def herded_rows(
    draw: Draw, widths: Sequence[int], paired: int, n: int, rng: np.random.Generator
) -> Any:
    """n rows of `draw`, chosen so that their pairs of columns are those of all that it gives.

    Args:
        draw: for a number of rows, what they are chosen by (rows, columns), the label last, and
            arrays of these rows, which are independent and in random order.
        widths: how many values each of the columns has by which they are chosen.
        paired: how many of these columns go in pairs; the others are looked at by themselves.
        n: how many.
        rng: says which pairs are looked at where there are too many.

    Returns:
        The arrays of the rows that were chosen.
    """
    herd = Herd.of(widths, paired, rng)
    if not 1 < n <= MOST or paired < 2:
        return draw(n)[1]
    each = int(np.clip(WORK // len(herd.left), FEWEST, CANDIDATES))
    size = min(BLOCK, math.ceil(n / BLOCKS))
    stretch = max(size, AT_ONCE // (each * len(widths)))
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
        left, right: the columns of each pair.
        sizes: how many values the right one has.
        classes: of the label.
        starts: where the cells of each pair begin.
        ahead: (cells,) how many rows more were taken than candidates make expect.
        seen: (cells,) candidates so far.
    """

    def __init__(self, pairs: Sequence[tuple[int, int]], widths: Sequence[int]):
        places = np.array(pairs, np.int64).reshape(-1, 2)
        self.left, self.right = places.T
        self.classes, wide = widths[-1], np.array(widths, np.int64)
        self.sizes = wide[self.right]
        cells = wide[self.left] * self.sizes * self.classes
        self.starts = np.cumsum(cells) - cells
        self.ahead, self.seen = np.zeros(int(cells.sum())), np.zeros(int(cells.sum()))

    @classmethod
    def of(cls, widths: Sequence[int], paired: int, rng: np.random.Generator) -> Herd:
        """Of all pairs of the first columns, of many some, at random; the label is the last."""
        pairs = list(itertools.combinations(range(paired), 2))
        most = WORK // FEWEST
        if len(pairs) > most:
            pairs = [pairs[place] for place in rng.choice(len(pairs), most, replace=False)]
        label = len(widths) - 1
        return cls([*pairs, *((column, label) for column in range(paired, label))], widths)

    def choose(self, keys: Index, each: int, size: int) -> Index:
        """The places of one of `each` candidates, `size` of them at once."""
        chosen = []
        for start in range(0, len(keys), each * size):
            part = keys[start : start + each * size]
            cells = (part[:, self.left] * self.classes + part[:, -1:]) * self.sizes
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
