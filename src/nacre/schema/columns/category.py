"""Columns that take one of a public list of values: categorical, ordinal, boolean."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nacre.schema.columns import cells
from nacre.schema.columns.column import (
    MISSING,
    NOT_TRUE_OR_FALSE,
    UNKNOWN,
    Column,
    Reading,
    as_flag,
    as_values,
    settle,
    shown,
)
from nacre.schema.columns.lookup import NOT_LISTED, NOTHING, Lookup

TRUE = ("true", "yes", "1", "t", "y")
FALSE = ("false", "no", "0", "f", "n")


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Categorical(Column):
    """One of `values` (text, compared as text); with `other`, anything else is 'other'.

    Examples:
        >>> Categorical(values=["Female", "Male"], other=True).size
        3
    """

    type: ClassVar[str] = "categorical"
    values: Sequence[str]
    other: bool = False

    def __post_init__(self) -> None:
        settle(self, values=as_values(self.values), other=as_flag(self.other))

    def problems(self) -> list[str]:
        """See `Column`."""
        return self.flag_problems() + _value_problems(self.values)

    def accepts(self, kind: pa.DataType) -> bool:
        """See `Column`."""
        return _has_text(kind)

    def read(self, array: pa.Array) -> Reading:
        """See `Column`."""
        codes = self._lookup.find(self.present(array))
        unknown = missing = np.zeros(len(codes), bool)
        if codes.min(initial=0) < 0:
            unknown, missing = codes == NOT_LISTED, codes == NOTHING
            codes[unknown] = len(self.values) if self.other else 0
            codes[missing] = self.size - 1 if self.nullable else 0
        refused = {} if self.nullable else {MISSING: missing}
        if not self.other:
            refused[UNKNOWN] = unknown
        return Reading(codes, missing, refused, {})

    def write(self, values: np.ndarray, missing: np.ndarray | None = None) -> pa.Array:
        """See `Column`."""
        names = [*self.values, *([self.other_name] if self.other else [])]
        return _take(pa.array([*names, None], pa.string()), values)

    @functools.cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.values)

    @functools.cached_property
    def other_name(self) -> str:
        """What 'other' is called in decoded tables: never one of the values."""
        name = "other"
        while name in self.values:
            name = name.capitalize() if name == "other" else name + "_"
        return name

    @property
    def ticks(self) -> None:
        """See `Column`."""
        return

    @property
    def size(self) -> int:
        """See `Column`."""
        return len(self.values) + bool(self.other) + bool(self.nullable)


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Ordinal(Column):
    """One of `values`, which are listed from lowest to highest."""

    type: ClassVar[str] = "ordinal"
    values: Sequence[str]

    def __post_init__(self) -> None:
        settle(self, values=as_values(self.values))

    def problems(self) -> list[str]:
        """See `Column`."""
        return self.flag_problems() + _value_problems(self.values)

    def accepts(self, kind: pa.DataType) -> bool:
        """See `Column`."""
        return _has_text(kind)

    def read(self, array: pa.Array) -> Reading:
        """See `Column`."""
        return self._plain.read(array)

    def write(self, values: np.ndarray, missing: np.ndarray | None = None) -> pa.Array:
        """See `Column`."""
        return self._plain.write(values)

    @functools.cached_property
    def _plain(self) -> Categorical:
        return Categorical(values=self.values, nullable=self.nullable, missing=self.missing)

    @property
    def ticks(self) -> None:
        """See `Column`."""
        return

    @property
    def size(self) -> int:
        """See `Column`."""
        return self._plain.size


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Boolean(Column):
    """True or false; also read from true/false, yes/no, t/f, y/n and 1/0, in either case."""

    type: ClassVar[str] = "boolean"

    def __post_init__(self) -> None:
        settle(self)

    def problems(self) -> list[str]:
        """See `Column`."""
        return self.flag_problems()

    def accepts(self, kind: pa.DataType) -> bool:
        """See `Column`."""
        return cells.is_number(kind) or cells.is_text(kind)

    def read(self, array: pa.Array) -> Reading:
        """See `Column`."""
        found = _words().find(self.present(array))
        missing, unreadable = found == NOTHING, found == NOT_LISTED
        codes = (found >= len(FALSE)).astype(np.int32)
        gaps = missing | unreadable
        codes[gaps] = 2 if self.nullable else 0
        if self.nullable:
            return Reading(codes, gaps, {}, {NOT_TRUE_OR_FALSE: unreadable})
        return Reading(codes, gaps, {MISSING: missing, NOT_TRUE_OR_FALSE: unreadable}, {})

    def write(self, values: np.ndarray, missing: np.ndarray | None = None) -> pa.Array:
        """See `Column`."""
        return _take(pa.array([False, True, None], pa.bool_()), values)

    @property
    def ticks(self) -> None:
        """See `Column`."""
        return

    @property
    def size(self) -> int:
        """See `Column`."""
        return 2 + bool(self.nullable)


@functools.cache
def _words() -> Lookup:
    """The words for false, then those for true."""
    return Lookup([*FALSE, *TRUE], words=True)


def _take(names: pa.Array, codes: np.ndarray) -> pa.Array:
    return pc.take(names, pa.array(codes))


def _has_text(kind: pa.DataType) -> bool:
    return cells.has_text(kind)


def _value_problems(values: Any) -> list[str]:
    if not isinstance(values, tuple):
        return [f"values={shown(values)} must be a list, such as [low, mid, high]."]
    if not values:
        return [
            "no values given. List every value it may take; they are never learnt from the data, "
            "as that would leak rare ones."
        ]
    if any(value is None or value == "" for value in values):
        return ["an empty value is listed. Remove it, and set `nullable: true` for missing ones."]
    if wrong := [value for value in values if not isinstance(value, str)]:
        return [f"value {shown(wrong[0])} is not text."]
    twice = [value for value, count in Counter(values).items() if count > 1]
    return [f"value {shown(value)} is listed twice." for value in twice]
