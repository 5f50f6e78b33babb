"""Bounds that only a few rows reach, moved outward to round ones: what a reviewer would do first.

The rows still decide which round number it is, so a draft is no more private for it.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection
from typing import NamedTuple

from nacre.schema.columns.clock import Time, clock_text
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import Integer
from nacre.schema.columns.timed import DAY, UNITS

LARGEST = 1e15  # beyond, float64 has no units left to round to
DIGITS = 15  # after the point; float64 has no more
PARTS = 10  # of the range; a bound moves by less than one of them
EPOCH = datetime.datetime(1970, 1, 1)
YEAR, MONTH = datetime.timedelta(days=730), datetime.timedelta(days=60)


def outward(low: int, high: int, ends: Collection[str], *, step: int = 1) -> tuple[int, int]:
    """Whole numbers, the named ends rounded outward by less than a tenth of their distance.

    With `step`, low and high stay multiples of it.

    Examples:
        >>> outward(12285, 1490400, ("low", "high"))
        (0, 1500000)
        >>> outward(13, 84, ("high",))
        (13, 85)
    """
    unit = unit_of(low, high, step=step)
    if "low" in ends:
        low = low // unit * unit
    if "high" in ends:
        high = -(-high // unit) * unit
    return low, high


def unit_of(low: int, high: int, *, step: int = 1) -> int:
    """What bounds are rounded to; 1 (or `step`) leaves them as they are."""
    if max(abs(low), abs(high)) > LARGEST or (step > 1 and (low % step or high % step)):
        return 1
    return step * max(1, int(_round_unit((high - low) / step)))


def outward_real(low: float, high: float, ends: Collection[str]) -> tuple[float, float]:
    """Likewise any numbers.

    Examples:
        >>> outward_real(-56.407, 2.4549, ("low", "high"))
        (-60.0, 5.0)
    """
    if not has_round(low, high):
        return low, high
    unit = _round_unit(high - low)
    digits = _digits(unit)
    if "low" in ends:
        low = min(low, round(math.floor(low / unit) * unit, digits))
    if "high" in ends:
        high = max(high, round(math.ceil(high / unit) * unit, digits))
    return low + 0.0, high + 0.0


def has_round(low: float, high: float) -> bool:
    """Whether `outward_real` has anything to round them to, or leaves them as rows hold them."""
    if not (low < high and max(abs(low), abs(high), high - low) < LARGEST):
        return False
    return _digits(_round_unit(high - low)) <= DIGITS


def _digits(unit: float) -> int:
    return max(0, -math.floor(math.log10(unit)))


def _round_unit(width: float) -> float:
    """The largest of ..., 1, 2, 5, 10, ... of which the width has `PARTS`."""
    size = 10.0 ** math.floor(math.log10(width / PARTS))
    return max(size * part for part in (1, 2, 5) if size * part <= width / PARTS * (1 + 1e-12))


def outward_clock(low: int, high: int, ends: Collection[str], *, step: int) -> tuple[int, int]:
    """Times of day in microseconds, the named ends moved to a full hour, or a part of one.

    By less than a tenth of their distance; beyond the last step of the day there is none.
    """
    unit = clock_unit(low, high, step=step)
    if "low" in ends:
        low = low // unit * unit
    if "high" in ends:
        high = min(-(-high // unit) * unit, DAY - step)
    return low, high


def clock_unit(low: int, high: int, *, step: int) -> int:
    """What bounds of times of day are rounded to; `step` leaves them as they are."""
    units = (minutes * UNITS["min"] for minutes in (60, 30, 15, 5, 1))
    return next((u for u in units if u % step == 0 and u * PARTS <= high - low), step)


def outward_days(
    low: datetime.date, high: datetime.date, ends: Collection[str]
) -> tuple[datetime.date, datetime.date]:
    """Days, the named ends moved to those of their year, or of their month in a short range."""
    width = high - low
    if width >= MONTH and "low" in ends:
        low = low.replace(month=1, day=1) if width >= YEAR else low.replace(day=1)
    if width >= MONTH and "high" in ends:
        last = high.replace(day=28) + datetime.timedelta(days=4)
        month = last - datetime.timedelta(days=last.day)
        high = high.replace(month=12, day=31) if width >= YEAR else month
    return low, high


class Bound(NamedTuple):
    """A bound of some rows: as a constraint writes it, and as a value of the column's scale."""

    text: str
    value: float


def beyond(column: Column, low: float, high: float, end: str, *, few: bool) -> Bound | None:
    """The bound at one end of a range of values of the column's scale.

    Where `few` rows hold it, it is moved outward to a round one that is never the value itself;
    None if no rounder one is near.

    Examples:
        >>> from nacre.schema import Integer, Time
        >>> beyond(Integer(low=0, high=1439), 483, 1077, "low", few=True)
        Bound(text='450', value=450)
        >>> beyond(Integer(low=0, high=1439), 483, 1077, "low", few=False)
        Bound(text='483', value=483)
        >>> beyond(Time(), 483 * 60e6, 1077 * 60e6, "high", few=True).text
        '18:00'
        >>> beyond(Integer(low=0, high=50), 8, 12, "high", few=True) is None
        True
    """
    down = end == "low"
    if isinstance(column, Datetime):
        return _beyond_day(column, int(low), int(high), end, few=few)
    if isinstance(column, Time):
        step, at = column.length, int(low if down else high)
        unit = clock_unit(int(low), int(high), step=step)
        if few and unit == step:
            return None
        rounded = (at - step) // unit * unit if down else -(-(at + step) // unit) * unit
        at = rounded if few else at
        return Bound(clock_text(at), at) if 0 <= at < DAY else None
    if isinstance(column, Integer):
        whole = int(low if down else high)
        unit = unit_of(int(low), int(high))
        if few and unit == 1:
            return None
        rounded = (whole - 1) // unit * unit if down else -(-(whole + 1) // unit) * unit
        whole = rounded if few else whole
        return Bound(str(whole), whole)
    return _beyond_real(low, high, end, few=few)


def _beyond_real(low: float, high: float, end: str, *, few: bool) -> Bound | None:
    at = low if end == "low" else high
    if few:
        if not has_round(low, high):
            return None
        unit = _round_unit(high - low)
        rounded = outward_real(low, high, (end,))[0 if end == "low" else 1]
        if rounded == at:
            rounded = round(at - unit if end == "low" else at + unit, _digits(unit))
        at = rounded
    return Bound(str(int(at)) if at == int(at) else repr(float(at)), at)


def _beyond_day(column: Datetime, low: int, high: int, end: str, *, few: bool) -> Bound | None:
    """Of dates the first or last day of a month or year, or the day or time itself."""
    if not few:
        at = low if end == "low" else high
        moment = EPOCH + datetime.timedelta(microseconds=at)
        return Bound(moment.date().isoformat() if column.whole_days else moment.isoformat(), at)
    day = datetime.timedelta(days=1)
    if datetime.timedelta(microseconds=high - low) < MONTH:
        return None
    try:
        first, last = (EPOCH + datetime.timedelta(microseconds=at) for at in (low, high))
        days = outward_days((first - day).date(), (last + day).date(), (end,))
    except OverflowError:
        return None
    found = days[0] if end == "low" else days[1]
    at = (found - EPOCH.date()) // day * DAY
    return Bound(found.isoformat(), at if end == "low" else at + DAY - 1)
