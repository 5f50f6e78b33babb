"""How the values of a column compare: as numbers, times, or places in a list of values."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any, Literal, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.schema.columns import cells
from nacre.schema.columns.category import Boolean, Categorical, Ordinal
from nacre.schema.columns.clock import Time
from nacre.schema.columns.column import Column, shown
from nacre.schema.columns.date_format import DateFormat
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.span import Value
from nacre.schema.columns.timed import DAY, Timed
from nacre.schema.table import listed

Kind = Literal["number", "time", "clock", "text", "truth"]
DATE_ALONE = re.compile(r"\s*\d{4}-\d\d-\d\d\s*")


@final
@dataclasses.dataclass(frozen=True)
class Scale:
    """The values of a column as numbers that compare like them, from `low` to `high`.

    Numbers are themselves, times microseconds since 1970 or since midnight, values of a list their
    places in it.
    """

    column: Column

    @property
    def kind(self) -> Kind:
        """Only values of one kind compare."""
        if isinstance(self.column, Integer | Real):
            return "number"
        if isinstance(self.column, Datetime):
            return "time"
        if isinstance(self.column, Time):
            return "clock"
        return "truth" if isinstance(self.column, Boolean) else "text"

    @property
    def measured(self) -> bool:
        """Whether values have a distance: numbers, points in time, times of day."""
        return self.kind in ("number", "time", "clock")

    @property
    def ordered(self) -> bool:
        """Whether one value can be less than another."""
        return self.measured or isinstance(self.column, Ordinal)

    @property
    def dense(self) -> bool:
        """Whether there are so many values that no two rows agree on one."""
        return isinstance(self.column, Real) and self.column.grid is None

    @property
    def low(self) -> Value:
        """The least value."""
        return self._end(0)

    @property
    def high(self) -> Value:
        """The largest value."""
        last = self.column.ticks if self.column.ticks is not None else len(self.names) - 1
        return self._end(last)

    def _end(self, place: int) -> Value:
        return self.values(np.array([place], np.int64))[0].item()  # type: ignore[no-any-return]

    @property
    def names(self) -> Sequence[str]:
        """The values of a list, 'other' included, by place."""
        if isinstance(self.column, Boolean):
            return ("false", "true")
        if isinstance(self.column, Categorical) and self.column.other:
            return (*self.column.values, self.column.other_name)
        return tuple(self.column.values) if isinstance(self.column, Categorical | Ordinal) else ()

    def before(self, value: Value) -> Value:
        """The largest number below a value; beside a whole number, the next whole one."""
        return math.nextafter(value, -math.inf) if isinstance(self.column, Real) else value - 1

    def after(self, value: Value) -> Value:
        """The least number above a value."""
        return math.nextafter(value, math.inf) if isinstance(self.column, Real) else value + 1

    def values(self, places: NDArray[np.integer]) -> NDArray[Any]:
        """The numbers that ticks or codes stand for, as decoded tables have them."""
        if isinstance(self.column, Integer):
            return self.column.grid.units(np.asarray(places, np.int64))
        if isinstance(self.column, Real):
            return np.asarray(self.column.write(places, None).to_numpy(zero_copy_only=False))
        if isinstance(self.column, Timed):
            return self.column.moments(places)
        return places

    def span(self, value: Any) -> tuple[Value, Value]:
        """The first and last number that a value stands for: a day without a time is all of it.

        A whole-number column turns 17.5 into the empty span from 18 to 17, and one in steps of
        100 turns 150 into that from 200 to 100. Raises ValueError for
        what is no value of this kind of column.
        """
        try:
            array = pa.array([value])
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            value = str(value)  # what Arrow does not know, such as np.datetime64
            array = pa.array([value])
        if self.kind == "number":
            return self._number(value, array)
        if self.kind == "time":
            return self._time(value, array)
        if self.kind == "clock":
            return self._clock(value, array)
        place = self._place(value, array)
        return place, place

    def beside(self, span: tuple[Value, Value]) -> str | None:
        """What to say of a number within the bounds that is no value of the column; None if it is.

        The span is that of `span`: empty where a whole number lies between two steps.
        """
        column = self.column
        if not isinstance(column, Integer | Real) or column.grid is None:
            return None
        low, high = sorted(span)
        if not self.low <= low <= high <= self.high:
            return None
        grid, number = column.grid, span[0]
        if span[0] == span[1] and grid.tick(float(number), column.ticks) is not None:
            return None
        if span[0] == span[1]:
            below = math.floor((number * grid.unit - grid.first) / grid.step)
            low, high = (float(grid.values(np.array([below + up]))[0]) for up in (0, 1))
        way = f"its values are {grid.step / grid.unit:g} apart"
        if grid.step == 1:
            way = f"it has {grid.decimals} decimals" if grid.decimals else "its values are whole"
        return f"{way}, and the nearest are {low:g} and {high:g}"

    def _number(self, value: Any, array: pa.Array) -> tuple[Value, Value]:
        known = cells.is_text(array.type) or cells.is_number(array.type)
        number = float(cells.numbers(array)[0][0]) if known else math.nan
        if math.isnan(number) or isinstance(value, bool):
            raise NacreError(f"{shown(value)} is not a number")
        if not isinstance(self.column, Integer):
            return number, number
        low, step = self.column.low, self.column.step
        near = (min(max(number, self.low - 1), self.high + 1) - low) / step
        return low + step * math.ceil(near), low + step * math.floor(near)

    def _time(self, value: Any, array: pa.Array) -> tuple[Value, Value]:
        """ISO 8601, and what is not that as the column's cells are written."""
        known = cells.is_text(array.type) or cells.is_moment(array.type)
        moments, missing, unreadable = cells.moments(array if known else pa.array(["?"]))
        day = pa.types.is_date32(array.type) or (
            isinstance(value, str) and DATE_ALONE.fullmatch(value) is not None
        )
        written = self.column.format if isinstance(self.column, Datetime) else None
        if written is not None and unreadable[0]:
            moments, missing, unreadable = cells.moments(DateFormat(written).read(array))
            day = "%H" not in written
        if missing[0] or unreadable[0]:
            form = "" if written is None else f", nor written as {written}"
            raise NacreError(f"{shown(value)} is not a date such as 2024-12-31{form}")
        first = int(moments[0])
        return first, first + (DAY - 1 if day else 0)

    def _clock(self, value: Any, array: pa.Array) -> tuple[Value, Value]:
        known = self.column.accepts(array.type)
        times, missing, unreadable = cells.clocks(array if known else pa.array(["?"]))
        if missing[0] or unreadable[0]:
            raise NacreError(f"{shown(value)} is not a time of day such as 08:30")
        return int(times[0]), int(times[0])

    def _place(self, value: Any, array: pa.Array) -> int:
        names = self.names
        if isinstance(value, str) and value.strip() in names:
            return names.index(value.strip())
        if pa.types.is_null(array.type) or not self.column.accepts(array.type):
            array = pa.array(["\0"])  # in no list
        reading = self.column.read(array)
        faults = (*reading.refused.values(), *reading.changed.values(), reading.missing)
        place = int(reading.values[0])
        unlisted = isinstance(self.column, Categorical) and place >= len(self.column.values)
        if unlisted or any(fault[0] for fault in faults):
            raise NacreError(f"{shown(value)} is not among the schema's values: {listed(names)}")
        return place
