"""What a column probably is, beyond what its values can be: guesses, each said to the reviewer.

All of them look at the rows, so a draft is not private.  In fewer than `ENOUGH` rows nothing is
guessed.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from typing import final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nacre.schema.columns import cells
from nacre.schema.columns.column import Column
from nacre.schema.columns.grid import COMMON
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.draft.names import is_code, numbers_things
from nacre.schema.draft.sketch import CLASSES, Sketch

SEVERAL = "it seems to number persons or things that may have several rows each."
PERSONS = (
    "If it numbers persons, draft with `--unit` (COLUMN:ROWS): else a row is protected, and not a "
    "person."
)
ENOUGH = 50  # rows; of fewer nothing is guessed
FEW = 10  # rows; a fact that fewer hold may be known from this table only
SPARSE = 10  # times as high as there are values: numbers of things, not codes counted from 1
SURPRISE = 10  # equal pairs that so many measurements would have by chance
SCORES = 10  # fewer values from -1 on may be a score
MARKS = ("?", "-", "--", ".", "..", "N/A", "n/a", "#N/A")  # beside values: none is known
SHARE, VALUES, MOST_SPIKES = 0.02, 100, 8  # of the rows that share a spike; of other values
ABOVE, BESIDE = 3, 4  # times what is usual among so many values on either side
TAIL, FAR = 0.999, 10  # a bound so many times farther than nearly all rows is a tail
RANGE = re.compile(r"^\W*(\d+(?:\.\d+)?)\s*(?:-|–|to|,|\.\.)\s*\d+(?:\.\d+)?\W*$")
END = re.compile(r"^(?:[<>]=?|under|over|below|above)?\s*(\d+(?:\.\d+)?)\s*\+?$")


@final
@dataclasses.dataclass(frozen=True)
class Note:
    """What was guessed or done: in short, without a value, for the terminal; in full, for the file.

    `ends` are the bounds, by name, that it is about; `offer` is what the column may be instead, for
    a line of its own; `names` are the values that either names.
    """

    short: str
    full: str
    ends: tuple[str, ...] = ()
    offer: Column | None = None
    names: tuple[str, ...] = ()


def identifier(name: str, sketch: Sketch, sampled: pa.Array, total: int) -> str | None:
    """Why a column seems to number the rows, or persons and things that have several of them."""
    if total < ENOUGH or not sketch.seen:
        return None
    there = sampled.filter(pc.is_valid(sampled)) if sampled.null_count else sampled
    unique = len(there) >= ENOUGH and pc.count_distinct(there).as_py() == len(there)
    if sketch.numbers and sketch.decimals == 0:
        if unique and _not_by_chance(name, sketch, len(there), total):
            return "every row has another number, so it seems to be an identifier."
        held = sketch.classes
        sparse = not held or (len(held) > CLASSES and sketch.high > SPARSE * len(held))
        if sparse and not unique and numbers_things(name):
            return f"{SEVERAL} {PERSONS}"
        return None
    if unique and sketch.distinct is None and not sketch.ways and not sketch.mostly_numbers:
        return "every row has another text, so it seems to be an identifier, a name or free text."
    return None


def _not_by_chance(name: str, sketch: Sketch, sampled: int, total: int) -> bool:
    width = sketch.high - sketch.low + 1
    return numbers_things(name) or width == total or sampled**2 / (2 * width) > SURPRISE


def codes(name: str, held: Mapping[str, int], limit: int) -> bool:
    """Whether whole numbers seem to be codes for something: two values, or a name that says so."""
    if sum(held.values()) < ENOUGH or not 1 < len(held) <= limit:
        return False
    return len(held) == 2 or is_code(name)


def listed_numbers(held: Mapping[str, int]) -> bool:
    """Whether numbers are few, apart, and each held by many rows, so that no other would do."""
    if not 2 < len(held) <= CLASSES or min(held.values()) < FEW:
        return False
    values = [float(value) for value in held]
    gaps = np.diff(values)
    even = np.allclose(gaps, gaps[0])
    return not even and 2 * len(held) <= values[-1] - values[0] + 1


def common_step(held: Mapping[str, int], decimals: int) -> int:
    """The largest step, in units of the last decimal, that leads from each value to all others."""
    if sum(held.values()) < ENOUGH:
        return 1
    found = [float(value) * 10**decimals for value in held]
    units = [round(value) for value in found if math.isfinite(value)]
    if len(units) < 4:
        return 1
    return max(1, math.gcd(*(value - units[0] for value in units)))


def negative_codes(sketch: Sketch) -> tuple[int, ...]:
    """Numbers such as -9 where all others are zero or more, and many rows hold each."""
    if not sketch.negative or not 0 <= sketch.inner_low < math.inf:
        return ()
    if min(sketch.negative.values()) < FEW or sketch.number_rows < ENOUGH:
        return ()
    few = sketch.distinct is not None and len(sketch.classes) - len(sketch.negative) < SCORES
    return () if few else tuple(sorted(sketch.negative, reverse=True))


def text_codes(sketch: Sketch) -> tuple[str, ...]:
    """The few texts among numbers, if many rows hold each; the commonest first."""
    held = sketch.odd
    many = sketch.distinct is None or len(sketch.classes) > CLASSES
    if sketch.numbers or sketch.codes or not held or not many or sketch.number_rows < ENOUGH:
        return ()
    if min(held.values()) < FEW:
        return ()
    return tuple(sorted(held, key=lambda text: (-held[text], text)))


def marks(held: Mapping[str, int]) -> tuple[str, ...]:
    """Among values that are words, those that say that none is known."""
    found = tuple(text for text in held if text in MARKS)
    return found if len(held) - len(found) > 1 else ()


def in_order(values: Sequence[str]) -> list[str] | None:
    """Ranges of numbers from lowest to highest; None if not all values are such.

    Examples:
        >>> in_order(["10-19", "20+", "0-9"])
        ['0-9', '10-19', '20+']
    """
    places: list[tuple[float, int, str]] = []
    ranges = 0
    for value in values:
        inside, end = RANGE.match(value), END.match(value.lower())
        found = inside or end
        if found is None:
            return None
        ranges += inside is not None
        below = value.lower().startswith(("<", "under", "below"))
        places.append((float(found[1]), -1 if below else int(inside is None), value))
    return [value for _, _, value in sorted(places)] if ranges > 1 and len(places) > 2 else None


def spikes(column: Integer | Real, sampled: pa.Array) -> tuple[float, ...]:
    """Single values inside the bounds that many rows share, other than those known anyway."""
    values = finite_numbers(sampled)
    if len(values) < ENOUGH:
        return ()
    found, counts = np.unique(values, return_counts=True)
    if len(found) <= VALUES:
        return ()
    # What is usual among its neighbors is no spike: whole numbers around their mean.
    places = np.arange(len(found))[:, None] + np.arange(-BESIDE, BESIDE + 1)
    beside = np.where((places < 0) | (places >= len(found)), 0, places)
    usual = np.median(np.where(beside == places, counts[beside], 0), axis=1)
    heavy = found[(counts >= SHARE * len(values)) & (counts >= ABOVE * usual)]
    heavy = heavy[~np.isin(heavy, COMMON) & (heavy > column.low) & (heavy < column.high)]
    return tuple(heavy.tolist()) if len(heavy) <= MOST_SPIKES else ()


def tail(column: Integer | Real, sampled: pa.Array) -> float | None:
    """Where all but one row of a thousand end, if the bound is far beyond."""
    values = finite_numbers(sampled)
    if len(values) < FAR / (1 - TAIL) / 10:
        return None
    near = float(np.quantile(values, TAIL))
    return near if column.low >= 0 and 0 < near * FAR < column.high else None


def finite_numbers(sampled: pa.Array) -> np.ndarray:
    """The numbers among cells."""
    values, missing, unreadable = cells.numbers(sampled)
    return values[~missing & ~unreadable & np.isfinite(values)]
