"""What formulas add up: numbers as they are, those of a list too, and dates in days."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from nacre.schema.columns.category import Categorical, Ordinal
from nacre.schema.columns.column import Column, as_number
from nacre.schema.columns.grid import DIGITS, Grid, digits
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.span import Spans
from nacre.schema.columns.timed import DAY, Timed

Amount = Integer | Real | Timed


def adds_up(column: Column) -> TypeGuard[Amount]:
    """Whether a formula may compute the column."""
    return isinstance(column, Amount)


def listed_numbers(column: Column) -> NDArray[np.float64] | None:
    """The values of a list that are all numbers, by place; a formula may add these up, too.

    Examples:
        >>> listed_numbers(Categorical(values=["0", "85"])).tolist()
        [0.0, 85.0]
        >>> listed_numbers(Categorical(values=["0", "85"], other=True)) is None
        True
    """
    if not isinstance(column, Categorical | Ordinal) or getattr(column, "other", False):
        return None
    numbers = [as_number(value) for value in column.values]
    if not all(isinstance(n, float) and math.isfinite(n) for n in numbers):
        return None
    largest = max(map(abs, numbers)) * 10.0 ** max(map(digits, numbers))
    return np.array(numbers) if largest < 10.0**DIGITS else None


def line(column: Column) -> Grid | None:
    """The values of a number or date as whole numbers; None for a number without decimals.

    A date or time of day counts microseconds, as `Scale` does; of a list these are the numbers from
    the least to the largest that a common step leads to.

    Examples:
        >>> from nacre.schema import Datetime
        >>> line(Datetime(low="1970-01-02", high="1970-12-31"))
        Grid(first=86400000000, step=86400000000, decimals=0)
        >>> line(Ordinal(values=["120", "200", "350"]))
        Grid(first=120, step=10, decimals=0)
    """
    if (numbers := listed_numbers(column)) is not None:
        decimals = max(map(digits, numbers.tolist()))
        units = np.rint(numbers * 10**decimals).astype(np.int64)
        return Grid(int(units.min()), math.gcd(*np.diff(np.sort(units)).tolist()) or 1, decimals)
    if not isinstance(column, Timed):
        return column.grid  # type: ignore[attr-defined, no-any-return]
    return Grid(column.start, column.length, 0)


def last_step(column: Column) -> int:
    """How many steps of its line lead to the largest value."""
    numbers, own = listed_numbers(column), line(column)
    if numbers is None or own is None:
        return column.ticks or 0
    return (round(float(numbers.max()) * own.unit) - own.first) // own.step


def units_of(column: Column, values: NDArray[Any]) -> NDArray[np.int64]:
    """Values of the column's scale as whole numbers of its line."""
    own = line(column)
    if (numbers := listed_numbers(column)) is not None:
        values = numbers[values]
    if values.dtype.kind == "f" and own is not None:
        values = np.rint(values * float(own.unit))
    return values.astype(np.int64)


def per_amount(column: Column) -> int:
    """How many of the scale's values make one: a day has so many microseconds."""
    return DAY if isinstance(column, Timed) else 1


def amounts(column: Column, values: NDArray[Any]) -> NDArray[Any]:
    """Values of the column's scale as what a formula adds up."""
    if (numbers := listed_numbers(column)) is not None:
        return numbers[values]
    return values / DAY if isinstance(column, Timed) else values


def ends(column: Column, spans: Spans) -> tuple[float, float]:
    """The least and the largest of the values that lie in spans, of a list its numbers."""
    low, high = spans[0][0], spans[-1][1]
    if (numbers := listed_numbers(column)) is None:
        return float(low), float(high)
    there = np.concatenate([numbers[int(a) : int(b) + 1] for a, b in spans])
    return float(there.min()), float(there.max())


def half_step(column: Column) -> Fraction:
    """Half the distance between two values of a number or date, in days; 0 without decimals."""
    own = line(column)
    return Fraction(0) if own is None else Fraction(own.step, 2 * own.unit * per_amount(column))
