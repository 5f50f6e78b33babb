"""Of each value, the rows that hold what never goes with it in the real table.

Nobody under 65 has a senior's ticket. Where 2% of the tickets are for seniors, a fifth of them held
by younger people is a small share of all rows, and yet whoever looks at seniors is misled.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nacre.evaluate.tables.rows import Coded, Rows
from nacre.schema.columns.timed import Timed
from nacre.schema.written import value_at, value_names

EXPECTED = 20
"""Real rows that would hold both if they had nothing to do with each other: with none in spite of
it, chance has a part of e^-20 in that."""
MOST_COLUMNS, MOST_VALUES = 40, 500
BY_CHANCE = 1e-4
"""How seldom fresh real rows may do the same."""


class Never(NamedTuple):
    """Rows with a value that hold what never goes with it.

    Attributes:
        column: of the value.
        value: its name.
        other: the other column.
        what: what these rows hold of it, as a sentence says it: "age below 65".
        share: of the synthetic rows with the value.
    """

    column: str
    value: str
    other: str
    what: str
    share: float


def categories(rows: Rows) -> list[str]:
    """The columns whose values are looked at."""
    every = [name for name in rows.names if not rows.is_number(name)]
    return [name for name in every if 1 < rows.bin(name).size <= MOST_VALUES][:MOST_COLUMNS]


def never_together(first: Coded, second: Coded) -> np.ndarray:
    """[values, values]: pairs that no real row holds, though many would by chance."""
    both = first.codes.astype(np.int64) * second.size + second.codes
    counts = np.bincount(both, minlength=first.size * second.size)
    counts = counts.reshape(first.size, second.size)
    expected = counts.sum(1)[:, None] * counts.sum(0) / max(counts.sum(), 1)
    return np.asarray((counts == 0) & (expected >= EXPECTED))


def never_with_values(real: Rows, synthetic: Rows, name: str, other: str) -> Iterator[Never]:
    """Of each value of `name`, the share of its rows with a value of `other` that never occurs."""
    never = never_together(real.bin(name), real.bin(other))
    if not never.any():
        return
    size = never.shape[1]
    codes = [synthetic.bin(each).codes.astype(np.int64) for each in (name, other)]
    counts = np.bincount(codes[0] * size + codes[1], minlength=never.size).reshape(never.shape)
    each, here = np.where(never, counts, 0), counts.sum(1)
    rows = np.bincount(real.bin(name).codes, minlength=len(here))
    names = [value_names(real.schema, column) for column in (name, other)]
    held = each.sum(1)
    for code in np.flatnonzero(_surely(held, here, rows)):
        worst, several = int(each[code].argmax()), int(np.count_nonzero(each[code]))
        more = f" or {several - 1} other values" if several > 2 else " or another" * (several == 2)
        what = f"{other} = {names[1][worst]}{more}"
        yield Never(name, names[0][code], other, what, float(held[code] / here[code]))


def never_with_numbers(
    real: Rows, synthetic: Rows, names: Sequence[str], number: str
) -> Iterator[Never]:
    """Of each value of some columns, the share of its rows below or above all real ones with it."""
    ordered = np.sort(_present(real, number, real.tick(number)))
    for name in names if len(ordered) else ():
        yield from _beyond(real, synthetic, name, number, ordered)


def _beyond(
    real: Rows, synthetic: Rows, name: str, number: str, ordered: np.ndarray
) -> Iterator[Never]:
    """Likewise of one column; `ordered` are the number's ticks in all real rows."""
    column, size = real.schema.columns[number], real.bin(name).size
    (ticks, codes), (others, theirs) = (
        (_present(t, number, t.tick(number)), _present(t, number, t.bin(name).codes))
        for t in (real, synthetic)
    )
    rows, here = (np.bincount(each, minlength=size) for each in (codes, theirs))
    top = max(column.ticks or 0, 1)
    low, high = np.full(size, top, np.int64), np.zeros(size, np.int64)
    np.minimum.at(low, codes, ticks)
    np.maximum.at(high, codes, ticks)
    below = rows * (np.searchsorted(ordered, low) / len(ordered))
    above = rows * (1 - np.searchsorted(ordered, high, side="right") / len(ordered))
    words = ("before", "after") if isinstance(column, Timed) else ("below", "above")
    names = value_names(real.schema, name)
    for word, edge, expected, beyond in (
        (words[0], low, below, others < low[theirs]),
        (words[1], high, above, others > high[theirs]),
    ):
        held = np.bincount(theirs[beyond], minlength=size)
        for code in np.flatnonzero((expected >= EXPECTED) & _surely(held, here, rows)):
            what = f"{number} {word} {value_at(column, edge[code] / top)}"
            yield Never(name, names[code], number, what, float(held[code] / here[code]))


def _surely(held: np.ndarray, here: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Where no real row of `rows` does what `held` of `here` synthetic rows do, not by chance.

    Of n and m rows of one law, the k that are farthest out all fall among the m with a chance of
    about (m/(n + m))^k.
    """
    part = here / np.maximum(here + rows, 1)
    return np.asarray((held > 0) & (rows > 0) & (part**held < BY_CHANCE))


def _present(rows: Rows, number: str, values: np.ndarray) -> np.ndarray:
    """The values of the rows in which a number is not missing."""
    gap = rows.missing(number)
    return values if gap is None else values[~gap]
