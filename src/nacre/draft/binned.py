"""Which public interval a value lies in: the column type that a private draft counts with.

The edges are fixed here, before any row is seen: signed powers of two for numbers, New Year for
dates, full hours for times of day.  What is missing or unreadable has a bin of its own, so that no
row is refused.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
import pyarrow as pa

from nacre.schema import Boolean, Categorical, Column, Datetime, Integer, Real, Time
from nacre.schema.columns import cells
from nacre.schema.columns.column import Reading
from nacre.schema.columns.date_format import DateFormat
from nacre.schema.columns.timed import UNITS

WHOLE = 53  # binary digits of the largest whole number
FINEST, WIDEST = -20, 40  # reals: nearer to zero than 2^-20 counts as zero
YEARS = (1900, 2100)
NEAR_ZERO = 8  # a bound this many times smaller than the other one is drawn to zero
HOURS = 24
YEAR_STARTS = [f"{year}-01-01" for year in range(YEARS[0], YEARS[1] + 1)]
READERS: dict[str, Any] = {"datetime": cells.moments, "time": cells.clocks}
# Gaps of a column of values are what its own type calls missing.
PRESENCE = {
    "boolean": Boolean(nullable=True),
    "categorical": Categorical(values=("-",), other=True, nullable=True),
}


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Binned(Column):
    """The bin of a value of type `kind`; the last code is 'missing'.

    Examples:
        >>> ages = Binned(kind="integer").read(pa.array([17, 90, None])).values
        >>> [Binned(kind="integer").label(code) for code in ages]
        ['16 to 31', '64 to 127', 'missing']
    """

    type: ClassVar[str] = "binned"
    kind: str
    format: str | None = None

    def problems(self) -> list[str]:
        """See `Column`."""
        known = ("integer", "real", "datetime", "time", *PRESENCE)
        return [] if self.kind in known else [f"type {self.kind} cannot be drafted privately."]

    @cached_property
    def edges(self) -> np.ndarray:
        """Bin i holds edges[i] <= x < edges[i + 1]; the outermost bins hold all beyond."""
        if self.kind == "integer":
            # For whole numbers -(2^k - 1) is the first of its magnitude, as 2^k is above zero.
            powers = [2**k for k in range(WHOLE + 1)]
            return np.array([*(1 - p for p in reversed(powers)), *powers], np.int64)
        if self.kind == "real":
            powers_of_two = 2.0 ** np.arange(FINEST, WIDEST + 1)
            return np.concatenate([-powers_of_two[::-1], powers_of_two])
        if self.kind == "datetime":
            return np.array(YEAR_STARTS, "datetime64[us]").astype(np.int64)
        if self.kind == "time":
            return np.arange(HOURS + 1) * UNITS["h"]
        return np.array([0, 1], np.int64)

    def accepts(self, kind: pa.DataType) -> bool:
        """See `Column`."""
        templates: dict[str, Column] = {
            "integer": Integer(low=0, high=1),
            "real": Real(low=0, high=1),
            "datetime": Datetime(low="2000-01-01", high="2000-12-31", format=self.format),
            "time": Time(),
            **PRESENCE,
        }
        return templates[self.kind].accepts(kind)

    def read(self, array: pa.Array) -> Reading:
        """See `Column`."""
        array = self.present(array)
        if self.format is not None and self.kind == "datetime":
            array = DateFormat(self.format).read(array)
        if self.kind in PRESENCE:
            gaps = PRESENCE[self.kind].read(array).missing
            codes = np.zeros(len(array), np.int32)
        else:
            values, missing, unreadable = READERS.get(self.kind, cells.numbers)(array)
            gaps = missing | unreadable
            places = np.searchsorted(self.edges, values, side="right") - 1
            codes = np.clip(places, 0, self.size - 2).astype(np.int32)
        codes[gaps] = self.size - 1
        return Reading(codes, gaps, {}, {})

    def write(self, values: np.ndarray, missing: np.ndarray | None) -> pa.Array:
        """See `Column`."""
        return pa.array([self.label(int(code)) for code in values], pa.string())

    def label(self, code: int) -> str:
        """A bin in words."""
        if code == self.size - 1:
            return "missing"
        if self.kind in PRESENCE:
            return "present"
        low, high = self.bounds(code, code)
        return f"{low} to {high}"

    def bounds(self, first: int, last: int) -> tuple[Any, Any]:
        """The public bounds of all bins from `first` to `last`."""
        if self.kind == "datetime":
            return YEAR_STARTS[first], f"{YEARS[0] + last}-12-31"
        if self.kind == "time":
            return f"{first:02d}:00", f"{last:02d}:59:59"
        if self.kind == "integer":
            return int(self.edges[first]), int(self.edges[last + 1]) - 1
        return float(self.edges[first]), float(self.edges[last + 1])

    @property
    def ticks(self) -> None:
        """See `Column`."""
        return

    @property
    def size(self) -> int:
        """See `Column`."""
        return len(self.edges)


def settled(low: float, high: float, *, whole: bool) -> tuple[float, float]:
    """Bounds of a number made usable: small ones drawn to zero, and never equal."""
    if 0 < low * NEAR_ZERO <= high:
        low = type(low)(0)
    if low <= high * NEAR_ZERO < 0:
        high = type(high)(0)
    if low == high:
        high = low + 1
    return (int(low), int(high)) if whole else (low, high)
