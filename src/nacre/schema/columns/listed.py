"""Lists of values that are whole numbers, and the integer that such a column could be."""

from __future__ import annotations

import math

import numpy as np

from nacre.schema.columns.category import Categorical, Ordinal
from nacre.schema.columns.column import Column, as_whole
from nacre.schema.columns.numeric import Integer


def as_integer(column: Column) -> Integer | None:
    """The integer that a list of whole numbers could be; None if it is no such list.

    Examples:
        >>> as_integer(Ordinal(values=["0", "5", "15"])).to_dict()
        {'type': 'integer', 'low': 0, 'high': 15, 'step': 5}
        >>> as_integer(Categorical(values=["a", "1"])) is None
        True
    """
    if not isinstance(column, Categorical | Ordinal) or getattr(column, "other", False):
        return None
    numbers = [as_whole(value) for value in column.values]
    plain = all(str(number) == value for number, value in zip(numbers, column.values, strict=True))
    if len(numbers) < 2 or not plain or not all(type(number) is int for number in numbers):
        return None  # 0815 is no number
    values = np.sort(np.array(numbers, dtype=object))
    step = math.gcd(*np.diff(values).tolist())
    found = Integer(
        low=int(values[0]),
        high=int(values[-1]),
        step=step,
        nullable=column.nullable,
        missing=column.missing,
    )
    return None if found.problems() else found


def type_text(column: Column) -> str:
    """A column type as a schema writes it on one line.

    Examples:
        >>> type_text(Integer(low=0, high=10))
        '{type: integer, low: 0, high: 10}'
    """
    said = ", ".join(f"{key}: {_value(value)}" for key, value in column.to_dict().items())
    return f"{{{said}}}"


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(repr(str(each)) for each in value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
