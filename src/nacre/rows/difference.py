"""Which columns are modeled by their distance from another: public, from constraints and bounds."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import final

from nacre.rows.constants import Constant, find_constants
from nacre.schema.columns.column import Column
from nacre.schema.columns.numeric import LARGEST_INTEGER, Integer, Real
from nacre.schema.columns.scale import Scale
from nacre.schema.columns.timed import Timed
from nacre.schema.constraints.condition import Order
from nacre.schema.constraints.statement import MIRRORED
from nacre.schema.line import Line
from nacre.schema.schema import Schema

# Of all pairs of values within the bounds, so many must break the constraint.  Below that it is
# enough to draw again; a number has a meaning of its own, which a difference blurs, a date hardly.
LEAST = {"time": 0.05, "number": 0.25}
LONGEST = {"time": 3, "number": 2}  # so many differences are added up; errors add up, too
SEARCHED = 8  # orders, of which all ways to model them are looked at


@final
@dataclasses.dataclass(frozen=True)
class Difference:
    """A constraint `column sign anchor`, because of which the column is modeled by its distance.

    Examples:
        >>> str(Difference("discharged", ">=", "admitted"))
        'discharged >= admitted'
    """

    column: str
    sign: str
    anchor: str

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.anchor}"


def line_of(difference: Difference, columns: Mapping[str, Column]) -> Line | None:
    """None if the two have no such line, or one too long for exact numbers."""
    column, anchor = columns[difference.column], columns[difference.anchor]
    scales = _steps(column, anchor)
    if scales is None or column.ticks is None or anchor.ticks is None:
        return None
    (first, step), (anchor_first, anchor_step) = scales
    line = Line(
        first=first,
        step=step,
        ticks=column.ticks,
        anchor_first=anchor_first,
        anchor_step=anchor_step,
        anchor_ticks=anchor.ticks,
        anchor_nullable=anchor.nullable,
        up=1 if ">" in difference.sign else -1,
        gap=int("=" not in difference.sign),
    )
    return line if line.exact and 1 <= line.most <= LARGEST_INTEGER else None


@final
@dataclasses.dataclass(frozen=True)
class _Way:
    """One of two ways to model an order.

    Attributes:
        difference: which of the two is replaced.
        mixed: whether the anchor may be missing, and it may not.
        fixed: whether rules demand values of the anchor, and none of it: in such rows all that the
            other column says would be the distance's to tell.
        place: 0 for the better one.
    """

    difference: Difference
    mixed: bool
    fixed: bool
    place: int


def find_differences(schema: Schema) -> tuple[Difference, ...]:
    """The columns that are modeled by differences: public, from bounds and constraints alone.

    Each column is replaced once at most, and following the anchors never leads back; of
    `a <= b <= c` both others are counted from b.  A column of which a rule demands one value
    because of one that is replaced itself is left as it is.
    """
    orders = [
        order
        for rule in schema.rules
        if rule.kind == "rule" and not rule.premise
        for order in rule.demands
        if isinstance(order, Order)
    ]
    constants = find_constants(schema, ())
    demanded = {constant.column for constant in constants}
    ways = [own for order in orders if (own := _candidates(order, schema, demanded))]
    several: Iterable[Sequence[_Way]] = [[*itertools.chain.from_iterable(ways)]]
    if len(ways) <= SEARCHED:
        several = itertools.product(*ways)
    best = min((_joined(each, schema) for each in several), key=_cost)
    found = {column: way.difference for column, way in best.items()}
    return tuple(_apart(found, constants).values())


def _joined(ways: Sequence[_Way], schema: Schema) -> dict[str, _Way]:
    """Those that go together, by column: earlier ones first."""
    found: dict[str, _Way] = {}
    for way in ways:
        column, before = way.difference.column, {c: own.difference for c, own in found.items()}
        if column not in found and _short(before | {column: way.difference}, schema):
            found[column] = way
    return found


def _cost(found: Mapping[str, _Way]) -> tuple[int, ...]:
    """Few columns are left, few hang on gaps; chains are short, as errors add up along them."""
    depths = [_depth(column, {c: way.difference for c, way in found.items()}) for column in found]
    mixed, fixed, later = (
        sum(getattr(way, name) for way in found.values()) for name in ("mixed", "fixed", "place")
    )
    return -len(found), mixed, fixed, max(depths, default=0), sum(depths), later


def _apart(found: dict[str, Difference], constants: Sequence[Constant]) -> Mapping[str, Difference]:
    """Those whose demanded values follow from columns that are not replaced.

    They are set before a row is added up, when it is not known what a sum will be.
    """
    for constant in constants:
        if constant.premise & found.keys():
            left = {k: d for k, d in found.items() if constant.column not in (k, d.anchor)}
            if len(left) < len(found):
                return _apart(left, constants)
    return found


def _short(found: Mapping[str, Difference], schema: Schema) -> bool:
    """Whether no column is reached by more differences than its kind may be, or in a circle."""
    return all(_depth(name, found) <= LONGEST[_kind(schema.columns[name])] for name in found)


def _depth(name: str, found: Mapping[str, Difference]) -> int:
    """How many differences are added up for a column; more than there are in a circle."""
    steps = 0
    while name in found and steps <= len(found):
        name, steps = found[name].anchor, steps + 1
    return steps if name not in found else sum(LONGEST.values())


def _kind(column: Column) -> str:
    return "time" if isinstance(column, Timed) else "number"


def _candidates(order: Order, schema: Schema, demanded: Set[str]) -> list[_Way]:
    """What may be replaced, best first: the wider column, of two alike the later; never a label.

    If rules demand values of one of the two only, that one, which is known where they do.
    A column that is always there is measured from one that is, too, if that can be had: where its
    anchor is missing it would be measured from its own bound, on a scale of its own, and what noise
    mixes of the two lies out of bounds.  Of a number that is given up rather than done.
    """
    left = Difference(order.left, order.sign, order.right)
    right = Difference(order.right, MIRRORED[order.sign], order.left)
    if order.sign not in ("<", "<=", ">", ">="):
        return []
    found = []
    for difference in (right, left) if "<" in order.sign else (left, right):
        column = schema.columns[difference.column]
        line = line_of(difference, schema.columns)
        if difference.column == schema.label or line is None or not line.wide:
            continue
        mixed = line.anchor_nullable and not column.nullable
        if line.broken >= LEAST[_kind(column)] and not (mixed and _kind(column) == "number"):
            fixed = difference.anchor in demanded and difference.column not in demanded
            found.append((mixed, fixed, line.anchor_last - line.anchor_first, difference))
    ways = sorted(found, key=lambda each: each[:3])
    return [_Way(own, mixed, fixed, place) for place, (mixed, fixed, _, own) in enumerate(ways)]


def _steps(one: Column, other: Column) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """(first, step) of two columns in a common unit; None if they have none that is exact."""
    if isinstance(one, Timed) and isinstance(other, Timed):
        alike = Scale(one).kind == Scale(other).kind
        return ((one.start, one.length), (other.start, other.length)) if alike else None
    if not (isinstance(one, Integer | Real) and isinstance(other, Integer | Real)):
        return None
    if Scale(one).dense or Scale(other).dense:
        # Without decimals a tick is a part of the range: equal ranges have equal ticks.
        alike = one.type == other.type and (one.low, one.high) == (other.low, other.high)
        return ((0, 1), (0, 1)) if alike and Scale(one).dense and Scale(other).dense else None
    grids = [grid for column in (one, other) if (grid := column.grid) is not None]
    decimals = max(grid.decimals for grid in grids)
    scales = [10 ** (decimals - grid.decimals) for grid in grids]
    first, second = (
        (grid.first * scale, grid.step * scale) for grid, scale in zip(grids, scales, strict=True)
    )
    return first, second
