"""How many rules of each kind a draft offers: more are not confirmed one by one."""

from __future__ import annotations

import dataclasses
from typing import final


@final
@dataclasses.dataclass(frozen=True)
class Limits:
    """How many a draft offers, in all and of one column.

    Attributes:
        orders: of numbers.
        gaps: gaps within gaps.
        constants: what is always the same, of numbers, and of lists.
        constants_of_one: of one column.
        ranges: bounds by group.
        ranges_of_one: of one number.
    """

    orders: int = 10
    gaps: int = 10
    constants: int = 20
    constants_of_one: int = 6
    ranges: int = 12
    ranges_of_one: int = 6


EVERY = Limits(150, 150, 150, 150, 150, 150)  # a schema may hold a thousand
