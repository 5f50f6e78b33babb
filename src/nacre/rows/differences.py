"""Differences in place of columns: where `admitted <= discharged`, the length of stay is modeled.

Two columns that are fitted apart and then thrown together break such a constraint often, and the
rows that survive are not like the real ones.  So one of the two is replaced, for the methods only,
by its distance from the other (the anchor), counted in its own steps from the nearest value that
satisfies the constraint.  All of it follows from the schema, and maps each row by itself, exactly.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.rows.constants import Constant, find_constants
from nacre.rows.difference import Difference, find_differences, line_of
from nacre.rows.times import part_of
from nacre.schema.columns.moment import Datetime, iso_day
from nacre.schema.columns.numeric import Integer
from nacre.schema.columns.timed import DAY
from nacre.schema.constraints.condition import ColumnValues
from nacre.schema.layout import Code, Encoded, Layout, Tie
from nacre.schema.line import Line
from nacre.schema.schema import Schema


@final
@dataclasses.dataclass(frozen=True)
class Differences:
    """A schema, the columns that are modeled by differences, and the way between the two forms.

    Attributes:
        schema: of the table, as people see it.
        stated: which columns are replaced; none is fine, and then nothing changes.
    """

    schema: Schema
    stated: Sequence[Difference] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "stated", tuple(self.stated))
        if len({each.column for each in self.stated}) < len(self.stated):
            raise NacreError("A column is modeled by two differences.")
        self._lines  # noqa: B018 (refuses what does not fit, early)

    @cached_property
    def _lines(self) -> dict[Difference, Line]:
        """By difference, and such that each anchor comes before what hangs on it."""
        found: dict[Difference, Line] = {}
        waiting = list(self.stated)
        while waiting:
            names = {each.column for each in waiting}
            ready = [each for each in waiting if each.anchor not in names]
            if not ready:
                raise NacreError("Differences hang on each other in a circle.")
            for each in ready:
                line = line_of(each, self.schema.columns)
                if line is None or each.sign not in ("<", "<=", ">", ">="):
                    raise NacreError(f"`{each}`: this difference cannot be computed.")
                found[each] = line
            waiting = [each for each in waiting if each not in ready]
        return found

    @classmethod
    def of(cls, schema: Schema) -> Differences:
        """Those that the schema's constraints ask for."""
        return cls(schema, find_differences(schema))

    @cached_property
    def modeled(self) -> Schema:
        """The schema that methods see: a difference is a whole number from 0, of the same name.

        It has no constraints: they speak of the columns as people see them.
        """
        if not self.stated:
            return self.schema
        columns = dict(self.schema.columns)
        for each, line in self._lines.items():
            nullable = columns[each.column].nullable
            columns[each.column] = Integer(low=0, high=line.most, nullable=nullable)
        return dataclasses.replace(self.schema, columns=columns, constraints=())

    @cached_property
    def from_midnight(self) -> dict[str, str]:
        """The times that are modeled by their distance from a date, and the step of each.

        So many steps from some midnight on tell the time of day, too.  Back from a date that may be
        missing they do not: then they are counted from the column's last moment.
        """
        columns = self.schema.columns
        return {
            each.column: column.step
            for each in self.stated
            if isinstance(column := columns[each.column], Datetime)
            and isinstance(anchor := columns[each.anchor], Datetime)
            and not any(part % DAY for part in (column.start, anchor.start, anchor.length))
            and "=" in each.sign
            and not (anchor.nullable and each.sign == "<=")
        }

    @property
    def _dates(self) -> set[Difference]:
        """Those whose column is a tick for each tick further from where all began."""
        found: set[Difference] = set()
        anchors = {each.column: each for each in self._lines}
        for each, line in self._lines.items():  # each anchor comes before what hangs on it
            before = anchors.get(each.anchor)
            if line.step == line.anchor_step and (before is None or before in found):
                found.add(each)
        return found

    def tied(self, layout: Layout, split: Set[str]) -> Layout:
        """The layout of rows that says of distances from what they are, and where they end.

        Of columns that are `split` into a day and a time of day, an anchor keeps both; a distance
        is one of days, if it is counted from some midnight on.
        """
        numbers, dates = list(layout.numbers), self._dates
        for each, line in self._lines.items():
            tie = self._tie(each, line, layout, split)
            if tie is None:
                continue
            place, day = layout.number(each.column), self.schema.columns[each.column].day
            if each.column in split:
                whole = tie.line.step == tie.line.anchor_step and each.anchor not in self._replaced
                end = line.first // DAY + tie.line.ticks
                own = Datetime(low=iso_day(line.first // DAY), high=iso_day(end))
                day = own.day if whole else None
            elif each not in dates:
                day = None
            numbers[place] = dataclasses.replace(numbers[place], tie=tie, day=day)
        return dataclasses.replace(layout, numbers=tuple(numbers))

    @property
    def _replaced(self) -> set[str]:
        return {each.column for each in self.stated}

    def _tie(self, each: Difference, line: Line, layout: Layout, split: Set[str]) -> Tie | None:
        """By what a number of the layout is a distance; None if that is not known row by row."""
        code, anchor = Code(each.anchor, 2, "missing"), layout.number(each.anchor)
        missing = layout.codes.index(code) if code in layout.codes else None
        if each.column in split:
            if line.up < 0 or each.anchor in split:
                return None
            last = (line.last // DAY) - line.first // DAY
            return Tie(anchor, missing, dataclasses.replace(line, step=DAY, ticks=last))
        if each.anchor not in split:
            return Tie(anchor, missing, line)
        if each.anchor in self._replaced:
            return None
        time, step = layout.number(part_of(each.anchor)), line.anchor_step
        return Tie(anchor, missing, line, time, DAY // step, line.anchor_first % DAY // step)

    @cached_property
    def _constants(self) -> Mapping[str, Sequence[Constant]]:
        """The values that rules demand of columns that are replaced or anchors, by column."""
        tied = {name for each in self.stated for name in (each.column, each.anchor)}
        found: dict[str, list[Constant]] = {}
        for constant in find_constants(self.schema, ()):
            if constant.column in tied and not constant.premise & self._replaced:
                found.setdefault(constant.column, []).append(constant)
        return found

    def subtract(self, rows: Encoded) -> Encoded:
        """Encoded rows of the table as rows of `modeled`.

        A row that breaks the constraint gets the difference 0, and so does one of which a rule
        demands the value (`paid = 0 if status = rejected`): as a distance it would be another one
        in every row.  Beside a missing anchor the column is measured from its own bound, so that
        no value is lost.
        """
        if not self.stated:
            return rows
        ticks, view = rows.ticks.copy(), ColumnValues.of(self.schema.columns, rows)
        for each, line in self._lines.items():
            place = rows.layout.number(each.column)
            away = line.up * (rows.ticks[:, place] - _start(rows, each, line))
            ticks[:, place] = np.clip(away, 0, line.most)
            ticks[rows.missing(each.column), place] = 0
            for constant in self._constants.get(each.column, ()):
                ticks[constant.demanded(view), place] = 0
        return dataclasses.replace(rows, ticks=ticks, layout=self.modeled.layout)

    def add(self, rows: Encoded) -> Encoded:
        """The inverse of `subtract`; rows that leave a column's bounds are no longer `valid`.

        Values that rules demand are set: of an anchor before anything is counted from it.
        """
        if not self.stated:
            return rows
        layout, columns = self.schema.layout, self.schema.columns
        found = dataclasses.replace(
            rows,
            ticks=rows.ticks.copy(),
            codes=rows.codes.copy(),
            valid=rows.valid.copy(),
            layout=layout,
        )
        for constant in itertools.chain.from_iterable(
            own for name, own in self._constants.items() if name not in self._replaced
        ):
            here = self._demanded(constant, ColumnValues.of(columns, found), found)
            constant.set_in(found, columns[constant.column], here)
        view = ColumnValues.of(columns, found)
        for each, line in self._lines.items():
            place = layout.number(each.column)
            ticks = _start(found, each, line) + line.up * rows.ticks[:, place]
            ticks[rows.missing(each.column)] = 0
            found.ticks[:, place] = np.clip(ticks, 0, line.ticks)
            fits = found.ticks[:, place] == ticks
            for constant in self._constants.get(each.column, ()):
                here = self._demanded(constant, view, found)
                constant.set_in(found, columns[each.column], here)
                fits |= here
            found.valid[:] &= fits
        return found

    @staticmethod
    def _demanded(constant: Constant, view: ColumnValues, rows: Encoded) -> NDArray[np.bool_]:
        """The rows in which a value is to be set: a gap breaks no rule that demands a number."""
        here = constant.demanded(view)
        return here if constant.place is None else here & ~rows.missing(constant.column)

    def to_list(self) -> list[list[str]]:
        """Plain data for JSON."""
        return [[each.column, each.sign, each.anchor] for each in self.stated]

    @classmethod
    def from_list(cls, schema: Schema, said: Any) -> Differences:
        """What `to_list` gave; raises ValueError, TypeError or KeyError if it does not fit."""
        return cls(schema, tuple(Difference(*map(str, each)) for each in said))


def _start(rows: Encoded, difference: Difference, line: Line) -> NDArray[np.int64]:
    anchor = rows.ticks[:, rows.layout.number(difference.anchor)]
    return line.start(anchor, rows.missing(difference.anchor))
