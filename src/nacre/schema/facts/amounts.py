"""Numbers and dates on the lines that formulas add up: numbers as they are, dates in days."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from nacre.schema.columns.column import Column
from nacre.schema.columns.grid import Grid
from nacre.schema.columns.moment import DAY, Datetime
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.scale import Scale

Amount = Integer | Real | Datetime


def adds_up(column: Column) -> TypeGuard[Amount]:
    """Whether a formula may speak of the column."""
    return isinstance(column, Amount)


def line(column: Column) -> Grid | None:
    """The values of a number or date as whole numbers; None for a number without decimals.

    A date counts microseconds, as `Scale` does.

    Examples:
        >>> line(Datetime(low="1970-01-02", high="1970-12-31"))
        Grid(first=86400000000, step=86400000000, decimals=0)
    """
    if not isinstance(column, Datetime):
        return column.grid  # type: ignore[attr-defined, no-any-return]
    first, second = Scale(column).values(np.arange(2)).tolist()
    return Grid(first, second - first, 0)


def per_amount(column: Column) -> int:
    """How many of the scale's values make one: a day has so many microseconds."""
    return DAY if isinstance(column, Datetime) else 1


def amounts(column: Column, values: NDArray[Any]) -> NDArray[Any]:
    """Values of the column's scale as what a formula adds up."""
    return values / DAY if isinstance(column, Datetime) else values
