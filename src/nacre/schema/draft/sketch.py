"""What a draft remembers of a column while its rows stream by: a few numbers, a few values."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nacre.schema.columns import cells
from nacre.schema.columns.grid import COMMON
from nacre.schema.columns.numeric import LARGEST_INTEGER
from nacre.schema.draft.times import CLOCK, Ways, every_way, extreme, still, still_numbers

MOST_DECIMALS = 6  # more than these are taken for a measurement, not for a way of writing
CLASSES = 20  # more different numbers than these are a quantity
FEW_ODD = 100  # one text among so many numbers is a slip, not a value
MOST_ODD = 5  # different texts among numbers; more are values
NEGATIVE = tuple(code for code in COMMON if code < 0)  # -1, -9, -99, ...: often "no value"
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
        numbers, truths: whether every value is a number, true or false.
        ways: the ways of writing dates or times of day in which every value is one.
        codes: some value looks like a number but is written like a code, such as 007.
        number_rows, odd_rows: how many rows hold a number, and how many another text.
        low, high, decimals: of the finite numbers; None for more decimals than are counted.
        low_rows, high_rows: how many rows hold these.
        negative: how many rows hold each of -1, -9, -99, ...
        inner_low, inner_low_rows: the least number that is none of these.
        odd: the texts that are no numbers, and how many rows hold each; None once too many.
        distinct: the values as text, and how many rows hold each; None once there are too many.
    """

    most_values: int
    unsupported: str = ""
    seen: bool = False
    gaps: bool = False
    blanks: bool = False
    numbers: bool = True
    truths: bool = True
    codes: bool = False
    number_rows: int = 0
    odd_rows: int = 0
    low: float = math.inf
    high: float = -math.inf
    low_rows: int = 0
    high_rows: int = 0
    decimals: int | None = 0
    negative: Mapping[int, int] = dataclasses.field(default_factory=dict)
    inner_low: float = math.inf
    inner_low_rows: int = 0
    odd: Mapping[str, int] | None = dataclasses.field(default_factory=dict)
    ways: Ways = dataclasses.field(default_factory=every_way)
    distinct: Mapping[str, int] | None = dataclasses.field(default_factory=dict)

    def add(self, array: pa.Array) -> Sketch:
        """The sketch after one more batch."""
        array = cells.plain(array)
        kind = array.type
        if pa.types.is_null(kind):
            return dataclasses.replace(self, gaps=self.gaps or len(array) > 0)
        if cells.is_text(kind):
            return self._add_text(*_counted(cells.text(array)))
        if pa.types.is_boolean(kind):
            after = dataclasses.replace(self, numbers=False, ways={})
            return after._count(seen=array.null_count < len(array), gaps=array.null_count > 0)
        if cells.is_number(kind):
            values, rows = _counted(array)
            ways = still_numbers(self.ways, values, rows)
            after = dataclasses.replace(self, ways=ways, truths=False)
            return after._add_numbers(array, np.ones(len(array)))._remember(values, rows)
        if cells.is_moment(kind) or cells.is_clock(kind):
            after = dataclasses.replace(self, numbers=False, truths=False)
            return after._add_moments(array, np.ones(len(array)))
        return dataclasses.replace(self, unsupported=str(kind))

    def _count(self, *, seen: bool, gaps: bool) -> Sketch:
        return dataclasses.replace(self, seen=self.seen or seen, gaps=self.gaps or gaps)

    def _add_text(self, texts: pa.Array, rows: np.ndarray) -> Sketch:
        values, rows = _where(pc.fill_null(pc.not_equal(texts, ""), False), texts, rows)
        after = self._count(seen=False, gaps=len(values) < len(texts))._remember(values, rows)
        rest, rows = _where(pc.invert(cells.says_nothing(values)), values, rows)
        after = after._count(seen=len(rest) > 0, gaps=False)
        truths = pc.is_in(pc.ascii_lower(rest), value_set=pa.array(["true", "false"], rest.type))
        codes = after.codes or _any(pc.match_substring_regex(rest, CODE))
        after = dataclasses.replace(
            after,
            blanks=after.blanks or len(rest) < len(values),
            truths=after.truths and len(rest) == len(values) and _all(truths),
            numbers=after.numbers and not codes,
            codes=codes,
        )
        if not codes:
            after = after._add_numbers(rest, rows)
        return dataclasses.replace(after, ways=still(after.ways, rest, rows))

    def _add_numbers(self, array: pa.Array, counts: np.ndarray) -> Sketch:
        values, missing, unreadable = cells.numbers(array)
        finite, rows = values[np.isfinite(values)], counts[np.isfinite(values)].astype(np.int64)
        after = self._count(seen=not missing.all(), gaps=bool(missing.any()))
        after = dataclasses.replace(
            after,
            numbers=after.numbers and not unreadable.any(),
            number_rows=after.number_rows + int(counts[~missing & ~unreadable].sum()),
            odd_rows=after.odd_rows + int(counts[unreadable].sum()),
            odd=_more(after.odd, array, unreadable, counts),
        )
        if not len(finite):
            return after
        low, low_rows = extreme(min, finite, rows, (after.low, after.low_rows))
        high, high_rows = extreme(max, finite, rows, (after.high, after.high_rows))
        after = after._add_inner(finite, rows)
        single = pa.types.is_float32(array.type) or pa.types.is_float16(array.type)
        decimals = _decimals(finite, single=single, least=after.decimals)
        if pa.types.is_floating(array.type) and max(-low, high) > LARGEST_INTEGER:
            decimals = None  # every float is whole there: it says nothing about the column
        return dataclasses.replace(
            after,
            low=float(low),
            high=float(high),
            low_rows=low_rows,
            high_rows=high_rows,
            decimals=decimals,
        )

    def _add_inner(self, values: np.ndarray, rows: np.ndarray) -> Sketch:
        """What stands below zero, and the least number otherwise."""
        if self.low >= 0 and values.min() >= 0:
            inner, inner_rows = extreme(min, values, rows, (self.inner_low, self.inner_low_rows))
            return dataclasses.replace(self, inner_low=float(inner), inner_low_rows=inner_rows)
        coded = np.isin(values, NEGATIVE)
        held = dict(self.negative)
        for code in np.unique(values[coded]):
            held[int(code)] = held.get(int(code), 0) + int(rows[values == code].sum())
        before = (self.inner_low, self.inner_low_rows)
        inner, inner_rows = (
            before if coded.all() else extreme(min, values[~coded], rows[~coded], before)
        )
        return dataclasses.replace(
            self, negative=held, inner_low=float(inner), inner_low_rows=inner_rows
        )

    def _add_moments(self, array: pa.Array, rows: np.ndarray) -> Sketch:
        missing = cells.mask(pc.is_null(array))
        one = CLOCK if cells.is_clock(array.type) else None
        ways: Ways = {text: times for text, times in self.ways.items() if text == one}
        after = self._count(seen=not missing.all(), gaps=bool(missing.any()))
        return dataclasses.replace(after, ways=still(ways, array, rows))

    @property
    def mostly_numbers(self) -> bool:
        """Whether nearly every value is a number, and they are too many to be classes."""
        few = self.odd_rows * FEW_ODD <= self.number_rows
        return not self.codes and few and (self.distinct is None or len(self.classes) > CLASSES)

    @property
    def classes(self) -> dict[str, int]:
        """The distinct values of a column of whole numbers, in order, with how many rows hold each.

        Empty if they are too many.  `1` and `1.0` are one value; texts that are no number are none.
        """
        texts = list(self.distinct or {})
        values, _, _ = cells.numbers(pa.array(texts, pa.string()))
        held: dict[float, int] = {}
        for text, number in zip(texts, values.tolist(), strict=True):
            if self.distinct is not None and not math.isnan(number):
                held[number] = held.get(number, 0) + self.distinct[text]
        return {f"{number:.17g}": held[number] for number in sorted(held)}

    def _remember(self, values: pa.Array, rows: np.ndarray) -> Sketch:
        if self.distinct is None:
            return self
        values, rows = _where(pc.is_valid(values), values, rows)
        if len(values) > self.most_values:
            return dataclasses.replace(self, distinct=None)
        if not cells.is_text(values.type):
            values = pc.cast(pc.cast(values, pa.float64(), safe=False), pa.string())
        held = dict(self.distinct)
        for value, count in zip(values.to_pylist(), rows.tolist(), strict=True):
            held[value] = held.get(value, 0) + int(count)
        return dataclasses.replace(self, distinct=held if len(held) <= self.most_values else None)


def _counted(array: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """The distinct cells, and how many rows hold each."""
    found = pc.value_counts(array)
    return found.field(0), found.field(1).to_numpy(zero_copy_only=False)


def _where(mask: pa.Array, values: pa.Array, rows: np.ndarray) -> tuple[pa.Array, np.ndarray]:
    return values.filter(mask), rows[cells.mask(mask)]


def _more(
    held: Mapping[str, int] | None, array: pa.Array, where: np.ndarray, counts: np.ndarray
) -> Mapping[str, int] | None:
    """How many rows hold each odd text, with some more of them; None once they are too many."""
    if held is None or not where.any():
        return held
    found = dict(held)
    if np.count_nonzero(where) > MOST_ODD:
        return None
    for text, count in zip(array.filter(pa.array(where)).to_pylist(), counts[where], strict=True):
        found[text] = found.get(text, 0) + int(count)
    return found if len(found) <= MOST_ODD else None


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
