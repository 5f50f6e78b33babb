"""What an encoded row is made of: integer ticks of numbers, and codes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, final

import numpy as np

from nacre.errors import NacreError
from nacre.schema.line import Line

Role = Literal["value", "missing"]
POSITION_BITS = 30  # so that positions, their sums and signs fit into 32-bit integers


@final
@dataclasses.dataclass(frozen=True)
class Tie:
    """By what a number is a distance: from which other one, and where it ends.

    `anchor` is that number's place in the layout, `missing` that of its indicator among the codes,
    if it may be missing; `line` tells where the distance from a tick of the anchor ends.  An anchor
    that is a day of `a_day` ticks has its time of day in another number, `time`; its tick 0 is
    `late` ticks after midnight.
    """

    anchor: int
    missing: int | None
    line: Line
    time: int | None = None
    a_day: int = 1
    late: int = 0

    def ticks(self, day: np.ndarray, time: np.ndarray | int) -> np.ndarray:
        """The anchor's ticks, from its days and the ticks of the day."""
        return day * self.a_day + time - self.late

    def days(
        self, least: np.ndarray, most: np.ndarray, time: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The first and last day on which this time of day lies between two ticks."""
        first, last = (ends + self.late - time for ends in (least, most))
        return -(-first // self.a_day), last // self.a_day


@final
@dataclasses.dataclass(frozen=True)
class Number:
    """A number or time, encoded as a tick from 0 to `ticks`.

    `zero` is the tick nearest to the value 0, if the values have a natural zero; `spikes` are
    ticks that many rows are said to share, `common` those that many rows often do.  `rounds` are
    the steps that people round to, or prices just below such, finest first: every so many ticks,
    from a first one on; or all places of a cycle, such as the days of a week.  What is less
    than `stretch` ticks apart need not be told apart cell by cell.  Of a number that is the
    distance from another, `tie` says where it ends.  Of a number that counts days, or is the
    distance of a date from another, `day` is the day of the date's tick 0, from 1970 on.
    """

    name: str
    ticks: int
    zero: int | None = None
    spikes: tuple[int, ...] = ()
    common: tuple[int, ...] = ()
    rounds: tuple[tuple[int, int], ...] = ()
    stretch: int = 1
    tie: Tie | None = None
    day: int | None = None

    @property
    def shift(self) -> int:
        """How many trailing bits of a tick a function of one row does not see."""
        return max(0, self.ticks.bit_length() - POSITION_BITS)

    @property
    def cyclic(self) -> bool:
        """Whether `rounds` are the places of a cycle, one of which every tick is at."""
        size = len(self.rounds)
        return size > 1 and [*self.rounds] == [(size, place) for place in range(size)]

    @property
    def positions(self) -> int:
        """The largest position of a tick: the tick itself, or its leading bits."""
        return self.ticks >> self.shift


@final
@dataclasses.dataclass(frozen=True)
class Code:
    """A code from 0 to `size` - 1.

    Role "value" is a column of categories: its last code is 'missing' if it is nullable, and
    the one before that (or the last) 'other' if it has one. Role "missing" belongs to a nullable
    number: 0 if the number is there, 1 if it is missing.
    """

    name: str
    size: int
    role: Role = "value"


@final
@dataclasses.dataclass(frozen=True)
class Layout:
    """The numbers and codes of a row, each in the order of the schema's columns.

    Examples:
        >>> layout = Layout(numbers=(Number("age", 73),), codes=(Code("sex", 2),))
        >>> layout.encoded(ticks=[[0], [73]], codes=[[1], [0]]).units().tolist()
        [[0.0], [1.0]]
    """

    numbers: tuple[Number, ...]
    codes: tuple[Code, ...]

    @cached_property
    def limits(self) -> np.ndarray:
        """The largest tick of each number, int64[N]."""
        return np.array([number.ticks for number in self.numbers], np.int64)

    @cached_property
    def sizes(self) -> np.ndarray:
        """How many codes there are for each code column, int32[K]."""
        return np.array([code.size for code in self.codes], np.int32)

    def number(self, name: str) -> int:
        """The place of a column among the numbers."""
        return [number.name for number in self.numbers].index(name)

    def code(self, name: str, role: Role = "value") -> int:
        """The place of a column among the codes."""
        return [(code.name, code.role) for code in self.codes].index((name, role))

    def encoded(self, ticks: Any = None, codes: Any = None, valid: Any = None) -> Encoded:
        """Encoded rows of this layout; what it has none of may be left out.

        Without `valid`, every row is.
        """
        n = len(ticks) if ticks is not None else len(codes) if codes is not None else 0
        ticks = np.zeros((n, len(self.numbers))) if ticks is None else ticks
        codes = np.zeros((n, len(self.codes))) if codes is None else codes
        return Encoded(
            layout=self,
            ticks=np.asarray(ticks, np.int64),
            codes=np.asarray(codes, np.int32),
            valid=np.ones(n, bool) if valid is None else np.asarray(valid, bool),
        )

    def from_units(self, units: Any, codes: Any = None) -> Encoded:
        """Encoded rows from numbers in [0, 1] (clamped, then rounded to the nearest tick)."""
        units = np.clip(np.nan_to_num(np.asarray(units, np.float64)), 0, 1)
        ticks = np.rint(units * self.limits).astype(np.int64)
        # Beyond 2^53 the product may be rounded up past the last tick.
        return self.encoded(np.minimum(ticks, self.limits), codes)


@final
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Encoded:
    """Rows as integers, hence exact.

    Attributes:
        ticks: int64[n, N], one column per `layout.numbers`; 0 where the number is missing.
        codes: int32[n, K], one column per `layout.codes`.
        valid: bool[n]; a row that is not valid counts as zero in every sum.
        layout: what the columns are.
    """

    ticks: np.ndarray
    codes: np.ndarray
    valid: np.ndarray
    layout: Layout

    def __post_init__(self) -> None:
        n = len(self.valid)
        wanted = ((n, len(self.layout.numbers)), (n, len(self.layout.codes)), (n,))
        given = (self.ticks.shape, self.codes.shape, self.valid.shape)
        if given != wanted:
            raise NacreError(
                f"Encoded rows have shapes {given} for ticks, codes and valid; "
                f"the layout needs {wanted}."
            )

    def __repr__(self) -> str:
        # Without any content: messages and notebooks must not show private rows by accident.
        shape = f"{len(self.layout.numbers)} numbers, {len(self.layout.codes)} codes"
        return f"Encoded({len(self)} rows, {shape})"

    def __len__(self) -> int:
        return len(self.valid)

    def __getitem__(self, rows: slice | np.ndarray) -> Encoded:
        """Some of the rows: a slice, a mask or an array of places."""
        return dataclasses.replace(
            self, ticks=self.ticks[rows], codes=self.codes[rows], valid=self.valid[rows]
        )

    def missing(self, name: str) -> np.ndarray:
        """Where a number is missing, bool[n]; nowhere if it is not nullable."""
        code = Code(name, 2, "missing")
        if code not in self.layout.codes:
            return np.zeros(len(self), bool)
        return np.asarray(self.codes[:, self.layout.codes.index(code)] == 1)

    def units(self) -> np.ndarray:
        """Numbers scaled to [0, 1], float64[n, N]."""
        return self.ticks / self.layout.limits

    @classmethod
    def concat(cls, parts: Sequence[Encoded]) -> Encoded:
        """All rows of some parts (at least one) that have the same layout."""
        if any(part.layout != parts[0].layout for part in parts):
            raise NacreError("Encoded parts can be joined only if they have the same layout.")
        return cls(
            ticks=np.concatenate([part.ticks for part in parts]),
            codes=np.concatenate([part.codes for part in parts]),
            valid=np.concatenate([part.valid for part in parts]),
            layout=parts[0].layout,
        )
