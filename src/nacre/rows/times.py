"""Times of day in columns of their own: an instant is modeled as its day and its time of day.

The cells of a year of minutes are days wide, and inside them every hour would be as likely as any
other.  So a column of times over many days is replaced, for the methods only, by two: the day, and
the time of day, which can then go together with other columns.  So is a time that is modeled by its
distance from a date: as so many days, and the time of day.  Which columns these are follows from
the schema; each row is mapped by itself, exactly, and back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime, iso_day
from nacre.schema.columns.numeric import Integer
from nacre.schema.columns.timed import DAY
from nacre.schema.layout import Encoded
from nacre.schema.protected import USUAL, as_sets
from nacre.schema.schema import Schema

Index = NDArray[np.int64]

DAYS = 10  # at least: over fewer, the cells of the whole are finer than an hour
NONE: Mapping[str, str] = MappingProxyType({})
SOME_DAY = "2000-01-01"  # that times of day are taken to lie on


def part_of(name: str) -> str:
    """What a column's time of day is called."""
    return f"{name}, time of day"


def find_times(
    schema: Schema, taken: Collection[str] = (), counted: Mapping[str, str] = NONE
) -> tuple[str, ...]:
    """The columns that are split: public, from their bounds and steps alone.

    Never a label, or what is to be protected as a whole; nor where a part's name is `taken`.

    Args:
        schema: as differences and facts leave it.
        taken: names that no part may have.
        counted: of numbers that count steps of time from some midnight on, this step.
    """
    taken = {*taken, *schema.columns}
    whole = {name for one in as_sets(schema.protect, USUAL) for name in one.columns}
    return tuple(
        name
        for name, column in schema.columns.items()
        if name not in {schema.label, *whole}
        and part_of(name) not in taken
        and (line := _Line.of(column, counted.get(name))) is not None
        and line.days >= DAYS
    )


@final
@dataclasses.dataclass(frozen=True)
class _Line:
    """A column's ticks: `step` microseconds each, of which the first lies `late` after midnight.

    `last` is the largest tick, and `first_day` the day of the first one, counted from 1970.
    """

    first_day: int
    late: int
    step: int
    last: int

    @classmethod
    def of(cls, column: Any, counted: str | None = None) -> _Line | None:
        """None unless the column has times of day, at the same places every day.

        A number has if steps of time are `counted` in it.
        """
        if isinstance(column, Integer) and counted is not None:
            first, step = 0, _some_times(counted, nullable=False).length
        elif isinstance(column, Datetime):
            first, step = column.start, column.length
        else:
            return None
        if step >= DAY or DAY % step:
            return None
        return cls(first // DAY, first % DAY, step, column.ticks)

    @property
    def a_day(self) -> int:
        """How many ticks a day has."""
        return DAY // self.step

    @property
    def days(self) -> int:
        """How many days there are after the first."""
        return (self.late + self.last * self.step) // DAY

    def split(self, ticks: Index) -> tuple[Index, Index]:
        """The day, from 0, and the step of the day."""
        moment = self.late + ticks * self.step
        return moment // DAY, moment % DAY // self.step

    def join(self, day: Index, time: Index) -> Index:
        """The inverse of `split`; a time that is out of bounds goes to the day beside."""
        ticks = day * self.a_day + time - self.late // self.step
        ticks = np.where(ticks < 0, ticks + self.a_day, ticks)
        return np.where(ticks > self.last, ticks - self.a_day, ticks)

    def columns(self, column: Column, counted: str | None) -> tuple[Column, Datetime]:
        """The day, or how many there are between, and the time of day."""
        if isinstance(column, Datetime):
            ends = (iso_day(self.first_day), iso_day(self.first_day + self.days))
            day = Datetime(low=ends[0], high=ends[1], nullable=column.nullable)
            return day, _some_times(column.step, nullable=column.nullable)
        days = Integer(low=0, high=self.days, nullable=column.nullable)
        return days, _some_times(str(counted), nullable=column.nullable)


def _some_times(step: str, *, nullable: bool) -> Datetime:
    """The times of a day."""
    return Datetime(low=SOME_DAY, high=SOME_DAY, step=step, nullable=nullable)


@final
@dataclasses.dataclass(frozen=True)
class Times:
    """A schema, the columns of it that are split, and the way between the two forms.

    Attributes:
        schema: as differences and facts leave it.
        stated: the columns; none is fine, and then nothing changes.
        counted: of numbers that count steps of time from some midnight on, this step.
    """

    schema: Schema
    stated: Sequence[str] = ()
    counted: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stated", tuple(self.stated))
        self._lines  # noqa: B018 (refuses what does not fit, early)

    @cached_property
    def _lines(self) -> dict[str, _Line]:
        found = {}
        for name in self.stated:
            line = _Line.of(self.schema.columns.get(name), self.counted.get(name))
            fits = line is not None and line.last >= line.a_day and name not in found
            if line is None or not fits or part_of(name) in self.schema.columns:
                raise NacreError(f"'{name}' has no times of day that can be modeled by themselves.")
            found[name] = line
        return found

    @cached_property
    def modeled(self) -> Schema:
        """The schema that methods see: behind each day its time of day."""
        if not self.stated:
            return self.schema
        columns: dict[str, Column] = {}
        for name, column in self.schema.columns.items():
            columns[name] = column
            if name in self._lines:
                parts = self._lines[name].columns(column, self.counted.get(name))
                columns[name], columns[part_of(name)] = parts
        return dataclasses.replace(self.schema, columns=columns, constraints=(), facts=())

    def ticks_of_days(self, name: str, first: Index, last: Index) -> tuple[Index, Index]:
        """The first and last tick of stretches of days."""
        line = self._lines[name]
        late = line.late // line.step
        low, high = first * line.a_day - late, (last + 1) * line.a_day - 1 - late
        return np.maximum(low, 0), np.minimum(high, line.last)

    def split(self, rows: Encoded) -> Encoded:
        """Encoded rows of the schema as rows of `modeled`."""
        if not self.stated:
            return rows
        layout = self.modeled.layout
        found = layout.encoded(
            np.zeros((len(rows), len(layout.numbers))),
            np.zeros((len(rows), len(layout.codes))),
            rows.valid,
        )
        for place, number in enumerate(rows.layout.numbers):
            there, ticks = layout.number(number.name), rows.ticks[:, place]
            found.ticks[:, there] = ticks
            if number.name in self._lines:
                missing = rows.missing(number.name)
                parts = self._lines[number.name].split(ticks)
                for at, part in zip((there, there + 1), parts, strict=True):
                    found.ticks[:, at] = np.where(missing, 0, part)
        for place, code in enumerate(rows.layout.codes):
            found.codes[:, layout.code(code.name, code.role)] = rows.codes[:, place]
            if code.role == "missing" and code.name in self._lines:
                found.codes[:, layout.code(part_of(code.name), "missing")] = rows.codes[:, place]
        return found

    def join(self, rows: Encoded, rng: np.random.Generator) -> Encoded:
        """The inverse of `split`.

        A day that was drawn without a time of day takes that of another drawn row.
        """
        if not self.stated:
            return rows
        layout, drawn = self.schema.layout, rows.layout
        ticks = rows.ticks[:, [drawn.number(number.name) for number in layout.numbers]]
        codes = rows.codes[:, [drawn.code(code.name, code.role) for code in layout.codes]]
        found = layout.encoded(ticks, codes, rows.valid)
        for name, line in self._lines.items():
            time, missing = rows.ticks[:, drawn.number(part_of(name))], rows.missing(name)
            gaps = rows.missing(part_of(name))
            if gaps.any():
                donors = time[~gaps] if not gaps.all() else np.arange(line.a_day)
                time = np.where(gaps, rng.choice(donors, len(time)), time)
            place = layout.number(name)
            joined = line.join(rows.ticks[:, drawn.number(name)], time)
            found.ticks[:, place] = np.where(missing, 0, joined)
        return found
