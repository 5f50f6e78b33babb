"""What every column type has: public facts, their problems, and one column of a batch read."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nacre.schema.columns import cells
from nacre.schema.columns.lookup import Lookup
from nacre.schema.columns.names import cell_names

BLANKS = " \t\n\r\f\v"  # what is stripped from cells, so also from the values they are matched to
# Reasons that a value does not fit; `check` counts them and explains them.
MISSING = "missing"
NOT_A_NUMBER = "not a number"
NOT_WHOLE = "not a whole number"
OFF_STEP = "between two steps"
NOT_A_DATE = "not a date"
NOT_A_TIME = "not a time of day"
NOT_TRUE_OR_FALSE = "not true or false"
OUT_OF_RANGE = "out of range"
UNKNOWN = "unknown value"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """One column of a batch as integers, with what was wrong where.

    Attributes:
        values: ticks (int64) or codes (int32, with 'other' and 'missing' already coded).
        missing: the value is null, or unreadable in a nullable column.
        refused: by reason, rows that cannot be encoded at all and so count as zero.
        changed: by reason, rows that were encoded as something else (clamped, rounded).
    """

    values: np.ndarray
    missing: np.ndarray
    refused: Mapping[str, np.ndarray]
    changed: Mapping[str, np.ndarray]

    @classmethod
    def of_ticks(
        cls,
        ticks: np.ndarray,
        *,
        missing: np.ndarray,
        unreadable: Mapping[str, np.ndarray],
        changed: Mapping[str, np.ndarray],
        nullable: bool,
    ) -> Reading:
        """A number's reading: gaps are missing values where allowed, and refused otherwise."""
        gaps = missing.copy()
        for where in unreadable.values():
            gaps |= where
        if gaps.any():
            ticks[gaps] = 0  # so that nothing is left of what stood there
        if nullable:
            return cls(ticks, gaps, {}, {**unreadable, **changed})
        return cls(ticks, gaps, {MISSING: missing, **unreadable}, changed)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Column(abc.ABC):
    """Public facts about one column. Construction never fails: `Schema` reports all problems.

    Attributes:
        nullable: values may be missing.
        missing: texts that stand for a missing value, such as N, -9 and "" (an empty cell); the
            first of them is what sampled tables hold there.  With any, the column is nullable.
    """

    type: ClassVar[str]
    nullable: bool = False
    missing: tuple[str, ...] = ()

    @abc.abstractmethod
    def problems(self) -> list[str]:
        """What is wrong with these facts, each with what to do."""

    @abc.abstractmethod
    def accepts(self, kind: pa.DataType) -> bool:
        """Whether a column of this Arrow type (not a dictionary) can be read."""

    @abc.abstractmethod
    def read(self, array: pa.Array) -> Reading:
        """Encode one column of a batch; never fails because of a value."""

    @abc.abstractmethod
    def write(self, values: np.ndarray, missing: np.ndarray | None) -> pa.Array:
        """Decode ticks or codes to the canonical Arrow type."""

    @property
    @abc.abstractmethod
    def ticks(self) -> int | None:
        """The largest tick of a number; None for a column of codes."""

    @property
    def zero(self) -> int | None:
        """The tick nearest to the value 0; None for codes, and for times, which have no zero."""
        return None

    @property
    def spike_ticks(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Ticks between the two ends that many rows share: as is stated, and as is common."""
        return (), ()

    @property
    def rounds(self) -> tuple[tuple[int, int], ...]:
        """The ticks that people round to, by step: each so many ticks, from a first one on."""
        return ()

    @property
    def stretch(self) -> int:
        """How many ticks a cell may as well hold where cells cannot hold one each, or are weak."""
        return 1

    @property
    def day(self) -> int | None:
        """The day of tick 0, from 1970 on, where ticks are days of many weeks."""
        return None

    @property
    @abc.abstractmethod
    def size(self) -> int | None:
        """How many codes, 'other' and 'missing' included; None for a number."""

    def to_dict(self) -> dict[str, Any]:
        """The column as its YAML form has it, fields at their defaults left out."""
        fields: dict[str, Any] = {"type": self.type}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name not in ("nullable", "missing") and (
                field.default is dataclasses.MISSING or value != field.default
            ):
                fields[field.name] = list(value) if isinstance(value, tuple) else value
        if self.missing:
            fields["missing"] = list(self.missing)
        elif self.nullable:
            fields["nullable"] = True
        return fields

    def missing_codes(self, array: pa.Array) -> np.ndarray:
        """Which code for "missing" each cell holds, by its place in the list; negative if none."""
        return _codes(self.missing).find(array)

    def present(self, array: pa.Array) -> pa.Array:
        """The cells, those empty that hold a code for "missing"; each by itself."""
        if not self.missing:
            return array
        gone = pa.array(self.missing_codes(array) >= 0)
        array = cells.plain(array)
        if pa.types.is_string_view(array.type):  # of which Arrow cannot choose some
            array = pc.cast(array, pa.string())
        return pc.if_else(gone, pa.scalar(None, array.type), array)

    def formatted(self, array: pa.Array) -> pa.Array:
        """A column as it was written, in the form that the table has it in."""
        return array

    def coded(self, array: pa.Array) -> pa.Array:
        """A column as it was written, with the first code for "missing" where there is none.

        Its type follows from the code: a number among numbers, and text otherwise.
        """
        if not self.missing or self.missing[0] == "":
            return array
        code = pa.array([self.missing[0]], pa.string())
        try:
            if pa.types.is_boolean(array.type):
                raise pa.ArrowInvalid("a code beside true and false is a word")
            return pc.fill_null(array, pc.cast(code, array.type)[0])
        except pa.ArrowInvalid:
            return pc.fill_null(cell_names(array), code[0])

    def flag_problems(self) -> list[str]:
        """Problems of the yes/no fields, the same for every type."""
        found = [
            f"{name}={shown(value)} must be true or false."
            for name in ("nullable", "other", "clamp")
            if not isinstance(value := getattr(self, name, False), bool)
        ]
        return found + _code_problems(self.missing, getattr(self, "values", ()))


def settle(column: Column, **converted: Any) -> None:
    """Store normalised field values during construction, where a frozen class may still change."""
    missing = as_values(column.missing)
    nullable = True if missing and isinstance(missing, tuple) else as_flag(column.nullable)
    for name, value in {"nullable": nullable, "missing": missing, **converted}.items():
        object.__setattr__(column, name, value)


@functools.lru_cache(maxsize=1000)
def _codes(codes: tuple[str, ...]) -> Lookup:
    return Lookup(codes)


def _code_problems(codes: Any, values: Any) -> list[str]:
    """What is wrong with the codes for "missing"."""
    if not isinstance(codes, tuple):
        return [f'missing={shown(codes)} must be a list of codes, such as [N, -9, ""].']
    if wrong := [code for code in codes if not isinstance(code, str)]:
        return [f"the code {shown(wrong[0])} for a missing value is not text."]
    twice = [code for code, count in Counter(codes).items() if count > 1]
    both = [code for code in codes if isinstance(values, tuple) and code in values]
    return [f"the code {shown(code)} for a missing value is listed twice." for code in twice] + [
        f"{shown(code)} is listed in `values` and in `missing`. Keep one." for code in both
    ]


def as_values(values: Any) -> Any:
    """A tuple of text; what is not a list of scalars is left for `problems` to report."""
    if isinstance(values, str | bytes | dict) or not hasattr(values, "__iter__"):
        return values
    return tuple(_as_text(value) for value in values)


def _as_text(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, int | float | np.number):
        return str(value)
    return value.strip(BLANKS) if isinstance(value, str) else value


def as_flag(value: Any) -> Any:
    """True or False for what YAML calls so; anything else is left for `problems` to report."""
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in ("true", "yes", "on") else False if word in NO else value
    return value


NO = ("false", "no", "off")


def as_number(value: Any) -> Any:
    """A float for a number or its text; anything else is left for `problems` to report."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | np.number):
        return value
    try:
        return float(value) + 0.0  # -0.0 becomes 0.0, so that equal schemas have equal digests
    except (ValueError, OverflowError):
        return value


def as_whole(value: Any) -> Any:
    """An int for a whole number or its text; anything else is left for `problems` to report."""
    if isinstance(value, str):
        try:
            return int(value.replace("_", "x"))  # Python reads 1_0 as 10; people do not
        except ValueError:
            pass
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    number = as_number(value)
    return int(number) if isinstance(number, float) and number.is_integer() else value


def shown(value: Any) -> str:
    """A schema's own (public) value as a message shows it: short, whatever it is."""
    if isinstance(value, list | tuple | dict | set):
        return f"a {type(value).__name__}"
    text = repr(value) if isinstance(value, str) else f"{value}"
    return text if len(text) <= 60 else text[:57] + "..."
