"""What a draft remembers of a column while its rows stream by: a few numbers, a few values."""

from __future__ import annotations

import dataclasses
import math
from typing import final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nacre.schema import cells
from nacre.schema.moment import UNITS
from nacre.schema.numeric import LARGEST_INTEGER

STEPS = ("1d", "1h", "1min", "1s", "1ms", "1us")
MOST_DECIMALS = 6  # more than these are taken for a measurement, not for a way of writing
CODE = r"^[+-]?0\d"  # 007 is a code, not a number


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Sketch:
    """A column so far. Starts as everything that it could still turn out to be.

    Attributes:
        most_values: how many distinct values are remembered at most.
        unsupported: the column's type, if it is one that no column type reads.
        seen: some cell has a value.
        gaps: some cell is null or empty.
        blanks: some cell has a word for no value, a gap if the others are numbers or times.
        numbers, moments, truths: whether every value is a number, a time, true or false.
        low, high, decimals: of the finite numbers; None for more decimals than are counted.
        first, last, step: of the times; `step` is a place in `STEPS`.
        distinct: the values as text; None once there are too many.
    """

    most_values: int
    unsupported: str = ""
    seen: bool = False
    gaps: bool = False
    blanks: bool = False
    numbers: bool = True
    moments: bool = True
    truths: bool = True
    low: float = math.inf
    high: float = -math.inf
    decimals: int | None = 0
    first: int = np.iinfo(np.int64).max
    last: int = np.iinfo(np.int64).min
    step: int = 0
    distinct: frozenset[str] | None = frozenset()

    def add(self, array: pa.Array) -> Sketch:
        """The sketch after one more batch."""
        array = cells.plain(array)
        kind = array.type
        if pa.types.is_null(kind):
            return dataclasses.replace(self, gaps=self.gaps or len(array) > 0)
        if cells.is_text(kind):
            return self._add_text(pc.unique(cells.text(array)))
        if pa.types.is_boolean(kind):
            after = dataclasses.replace(self, numbers=False, moments=False)
            return after._count(seen=array.null_count < len(array), gaps=array.null_count > 0)
        if cells.is_number(kind):
            after = dataclasses.replace(self, moments=False, truths=False)
            return after._add_numbers(array)._remember(array)
        if cells.is_moment(kind):
            after = dataclasses.replace(self, numbers=False, truths=False)
            return after._add_moments(array)
        return dataclasses.replace(self, unsupported=str(kind))

    def _count(self, *, seen: bool, gaps: bool) -> Sketch:
        return dataclasses.replace(self, seen=self.seen or seen, gaps=self.gaps or gaps)

    def _add_text(self, texts: pa.Array) -> Sketch:
        values = texts.filter(pc.fill_null(pc.not_equal(texts, ""), False))
        rest = values.filter(pc.invert(cells.says_nothing(values)))
        after = self._count(seen=len(rest) > 0, gaps=len(values) < len(texts))._remember(values)
        truths = pc.is_in(pc.ascii_lower(rest), value_set=pa.array(["true", "false"], rest.type))
        after = dataclasses.replace(
            after,
            blanks=after.blanks or len(rest) < len(values),
            truths=after.truths and len(rest) == len(values) and _all(truths),
            numbers=after.numbers and not _any(pc.match_substring_regex(rest, CODE)),
        )
        if after.numbers:
            after = after._add_numbers(rest)
        if after.moments:
            after = after._add_moments(rest)
        return after

    def _add_numbers(self, array: pa.Array) -> Sketch:
        values, missing, unreadable = cells.numbers(array)
        finite = values[np.isfinite(values)]
        after = self._count(seen=not missing.all(), gaps=bool(missing.any()))
        if unreadable.any() or not len(finite):
            return dataclasses.replace(after, numbers=after.numbers and not unreadable.any())
        low, high = min(after.low, float(finite.min())), max(after.high, float(finite.max()))
        single = pa.types.is_float32(array.type) or pa.types.is_float16(array.type)
        decimals = _decimals(finite, single=single, least=after.decimals)
        if pa.types.is_floating(array.type) and max(-low, high) > LARGEST_INTEGER:
            decimals = None  # every float is whole there: it says nothing about the column
        return dataclasses.replace(after, low=low, high=high, decimals=decimals)

    def _add_moments(self, array: pa.Array) -> Sketch:
        values, missing, unreadable = cells.moments(array)
        after = self._count(seen=not missing.all(), gaps=bool(missing.any()))
        values = values[~missing]
        if unreadable.any() or not len(values):
            return dataclasses.replace(after, moments=after.moments and not unreadable.any())
        step = after.step
        while (values % UNITS[STEPS[step][1:]]).any():
            step += 1
        first, last = min(after.first, int(values.min())), max(after.last, int(values.max()))
        return dataclasses.replace(after, first=first, last=last, step=step)

    @property
    def classes(self) -> tuple[str, ...]:
        """The distinct values of a column of whole numbers, in order; none if too many."""
        distinct = [] if self.distinct is None else self.distinct
        texts = (text for text in distinct if text.lower() not in cells.NO_VALUE)
        numbers = sorted({float(text) for text in texts})
        return tuple(f"{number:.17g}" for number in numbers)

    def _remember(self, values: pa.Array) -> Sketch:
        if self.distinct is None:
            return self
        fresh = pc.drop_null(pc.unique(values))
        if len(fresh) > self.most_values:
            return dataclasses.replace(self, distinct=None)
        if not cells.is_text(fresh.type):
            fresh = pc.cast(pc.cast(fresh, pa.float64(), safe=False), pa.string())
        distinct = self.distinct | frozenset(fresh.to_pylist())
        return dataclasses.replace(
            self, distinct=distinct if len(distinct) <= self.most_values else None
        )


def _decimals(values: np.ndarray, *, single: bool, least: int | None) -> int | None:
    """How many decimals all of these are written with, at least as many as before."""
    if least is None:
        return None
    for decimals in range(least, MOST_DECIMALS + 1):
        unit = 10.0**decimals
        with np.errstate(over="ignore", invalid="ignore"):
            near = np.rint(values * unit) / unit
        if single:
            near, values = near.astype(np.float32), values.astype(np.float32)
        if (near == values).all():
            return decimals
    return None


def _all(array: pa.Array) -> bool:
    return bool(pc.all(array, min_count=0).as_py())


def _any(array: pa.Array) -> bool:
    return bool(pc.any(array, min_count=0).as_py())
