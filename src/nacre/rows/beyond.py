"""What looks like a group of rows that rules empty, and is none: sums beyond a bound."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import final

from nacre.rows.groups import Groups, Mask
from nacre.schema.columns.column import Column
from nacre.schema.constraints.condition import ColumnValues
from nacre.schema.written import value_at

MOSTLY = 0.5  # of the rows at the end of a sum lie beyond it


@final
@dataclasses.dataclass(frozen=True)
class Beyond:
    """Sums that lie beyond a bound of their column, and are put there before they are dropped.

    They are no group of rows, though they look like one that rules empty.

    Attributes:
        column: which is added up.
        end: "low" or "high".
        bound: as people see it.
        share: of the candidates.
    """

    column: str
    end: str
    bound: str
    share: float


def sums_beyond(
    groups: Groups, column: Column, view: ColumnValues, asked: Mask, lost: Mask
) -> Iterator[tuple[int, Beyond]]:
    """The groups at the ends of a sum that hold little else than what lies beyond its bounds."""
    cell = groups.places(view)
    for end, place in (("low", 0), ("high", groups.size - 2)):
        here = asked & (cell == place)
        if column.ticks is not None and (here & lost).sum() > MOSTLY * here.sum():
            bound = value_at(column, 0.0 if end == "low" else 1.0)
            share = float((here & lost).sum() / asked.sum())
            yield place, Beyond(groups.name, end, bound, share)
