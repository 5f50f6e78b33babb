"""The column type that a sketch is drafted as, and what its reviewer is told of the choice."""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
from typing import final

import pyarrow as pa
import pyarrow.compute as pc

from nacre.errors import NacreError
from nacre.schema.columns import cells
from nacre.schema.columns.category import Boolean, Categorical, Ordinal
from nacre.schema.columns.clock import Time, clock_text
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import DIGITS, LARGEST_INTEGER, Integer, Real
from nacre.schema.columns.timed import DAY, UNITS, step_length
from nacre.schema.draft import guess, offers
from nacre.schema.draft.coded import Coded, coded, told_codes, without_codes
from nacre.schema.draft.guess import ENOUGH, FEW, Note
from nacre.schema.draft.names import is_code
from nacre.schema.draft.outward import (
    EPOCH,
    LARGEST,
    MONTH,
    clock_unit,
    has_round,
    outward,
    outward_clock,
    outward_days,
    outward_real,
    unit_of,
)
from nacre.schema.draft.sketch import CLASSES, Sketch
from nacre.schema.draft.times import CLOCK, ISO, PLAIN, Times

DROP = "leave it out (--drop)"
SHOWN = 8  # values that a remark may list
COMMA = r"^[+-]?\d{1,3}([ .']?\d{3})*,\d+$|^[+-]?\d+,\d+$"
EVEN = "every value is a step from `low`."


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Choice:
    """A column to be drafted.

    Attributes:
        name: of the column.
        sketch: what was seen of all rows.
        sampled: its cells in some rows.
        total: how many rows there are.
        limit: how many values may be listed.
        is_label: it is to be predicted.
        gather: values that few rows hold become `other`.
    """

    name: str
    sketch: Sketch
    sampled: pa.Array
    total: int
    limit: int
    is_label: bool
    gather: bool

    def column(self) -> tuple[Column, list[Note]]:
        """The narrowest type that every value fits; NacreError says why there is none."""
        sketch = self.sketch
        if sketch.unsupported:
            raise NacreError(
                f"its type {sketch.unsupported} cannot be drafted. Convert it, or {DROP}."
            )
        if not sketch.seen:
            raise NacreError(f"no row has a value. Describe it yourself, or {DROP}.")
        if sketch.truths:
            return Boolean(nullable=sketch.gaps), []
        if sketch.numbers and not (PLAIN in sketch.ways and self.total >= ENOUGH):
            return self._number(())
        if CLOCK in sketch.ways:
            return self._clock()
        if sketch.ways:
            return self._moment()
        if texts := guess.text_codes(sketch):
            return self._number(texts)
        if sketch.mostly_numbers:
            return self._number(())
        return self._text()

    # -- numbers -------------------------------------------------------------------------------

    def _number(self, texts: tuple[str, ...]) -> tuple[Column, list[Note]]:
        sketch = self.sketch
        if not sketch.low <= sketch.high:
            raise NacreError(f"no row has a finite value. Describe it yourself, or {DROP}.")
        missing = (*map(str, guess.negative_codes(sketch)), *texts)
        notes = [_missing(missing)] if missing else []
        if len(missing) > len(texts):
            rows = sketch.inner_low_rows
            sketch = dataclasses.replace(sketch, low=sketch.inner_low, low_rows=rows)
        nullable = sketch.gaps or sketch.blanks or not sketch.numbers
        held = {value: n for value, n in sketch.classes.items() if value not in missing}
        if sketch.decimals != 0:
            column, moved = self._real(sketch, held, nullable=nullable, missing=missing)
            return self._shape(column, notes + moved)
        few = self._coded(held)
        if few.codes:
            sketch, held = without_codes(sketch, held, few)
            missing = (*map(str, few.codes), *missing)
            notes = [told_codes(missing, few)]
        offered = offers.few_codes(few, nullable=nullable, missing=missing)
        notes += [] if offered is None else [offered]
        if (listed := self._listed(held, nullable=nullable, missing=missing)) is not None:
            return listed[0], notes + listed[1]
        column, moved = self._integer(sketch, held, nullable=nullable, missing=missing)
        notes += self._perhaps_codes(held, nullable=nullable, missing=missing)
        return self._shape(column, notes + moved)

    def _coded(self, held: dict[str, int]) -> Coded:
        """Codes for missing values among a few numbers; of a list one is just one more value."""
        return Coded() if self.is_label or is_code(self.name) else coded(held)

    def _listed(
        self, held: dict[str, int], *, nullable: bool, missing: tuple[str, ...]
    ) -> tuple[Column, list[Note]] | None:
        """Zeros and ones are classes; so are a label's few numbers, and codes.  None for amounts.

        Listed, they keep their look.
        """
        if tuple(held) == ("0", "1") or (self.is_label and 0 < len(held) <= CLASSES):
            return self._values(held, nullable=nullable, missing=missing)
        if guess.codes(self.name, held, self.limit):
            why = "its two values" if len(held) == 2 else "its name"
            note = Note("whole numbers taken for codes", f"{why}: taken for codes, not amounts.")
            column, notes = self._values(held, nullable=nullable, missing=missing)
            return column, [note, *notes]
        if guess.listed_numbers(held):
            note = Note("a few numbers taken for all there are", "no number lies between these.")
            return Ordinal(values=list(held), nullable=nullable, missing=missing), [note]
        return None

    def _perhaps_codes(
        self, held: dict[str, int], *, nullable: bool, missing: tuple[str, ...]
    ) -> list[Note]:
        if self.total < ENOUGH:
            return []
        if 2 < len(held) <= SHOWN and min(held.values()) >= FEW:
            values, gaps = ", ".join(held), ", nullable: true" if nullable else ""
            gaps += f", missing: {json.dumps(missing)}" if missing else ""
            said = (
                "codes rather than amounts? Then: "
                f"{{type: categorical, values: [{values}]{gaps}}}; ordinal, if they are grades"
            )
            return [Note("", said, names=tuple(held))]
        if is_code(self.name) and not held:
            said = "codes, by its name, but too many to be listed. Group them, or leave it out."
            return [Note("seems to hold codes, too many to be listed", said)]
        return []

    def _integer(
        self, sketch: Sketch, held: dict[str, int], *, nullable: bool, missing: tuple[str, ...]
    ) -> tuple[Column, list[Note]]:
        low, high = int(sketch.low), int(sketch.high)
        if max(abs(low), abs(high)) > LARGEST_INTEGER:
            raise NacreError(
                "whole numbers beyond 2^53 - 1 cannot be kept exactly. If it is an identifier, "
                f"{DROP}; otherwise describe it as real or categorical."
            )
        if low == high:  # a constant still needs two bounds
            low, high = (low, low + 1) if low < LARGEST_INTEGER else (low - 1, low)
            return Integer(low=low, high=high, nullable=nullable, missing=missing), []
        step = guess.common_step(held, 0)
        ends = self._to_round(unit_of(low, high, step=step) > step, _number_ends(sketch))
        low, high = outward(low, high, ends, step=step)
        column = Integer(low=low, high=high, step=step, nullable=nullable, missing=missing)
        return column, _moved(ends)

    def _real(
        self, sketch: Sketch, held: dict[str, int], *, nullable: bool, missing: tuple[str, ...]
    ) -> tuple[Column, list[Note]]:
        decimals = sketch.decimals
        widest = max(abs(sketch.low), abs(sketch.high), 1.0)
        if decimals is not None and math.log10(widest) + decimals >= DIGITS - 1:
            decimals = None
        low, high, step = sketch.low, sketch.high, None
        ends: tuple[str, ...] = ()
        if low == high:  # a constant still needs two bounds
            high = low + max(1.0, abs(low) / 2**20)
        elif decimals is None:
            ends = self._to_round(max(abs(low), abs(high)) < LARGEST, _number_ends(sketch))
            low, high = outward_real(low, high, ends)
        if decimals is not None:  # float32 has 0.1 only nearly
            unit = 10**decimals
            first, last = round(low * unit), round(high * unit)
            if sketch.low < sketch.high:
                units = guess.common_step(held, decimals)
                coarse = unit_of(first, last, step=units) > units
                ends = self._to_round(coarse, _number_ends(sketch))
                first, last = outward(first, last, ends, step=units)
                step = round(units / unit, decimals) if units > 1 else None
            low, high = round(first / unit, decimals), round(last / unit, decimals)
        column = Real(
            low=low, high=high, decimals=decimals, step=step, nullable=nullable, missing=missing
        )
        return column, _moved(ends)

    def _to_round(self, coarse: bool, held: dict[str, int]) -> tuple[str, ...]:
        """The bounds that few rows hold, where there are rows enough and a round number is near."""
        if not coarse or self.total < ENOUGH:
            return ()
        return tuple(end for end, rows in held.items() if rows < FEW)

    def _shape(self, column: Column, notes: list[Note]) -> tuple[Column, list[Note]]:
        """With the values that many rows share, and a word on a far tail."""
        if not isinstance(column, Integer | Real) or self.total < ENOUGH:
            return column, notes
        sampled = column.present(self.sampled)
        found = guess.spikes(column, sampled)
        if found:
            shared = tuple(int(v) for v in found) if isinstance(column, Integer) else found
            column = dataclasses.replace(column, spikes=shared)  # type: ignore[arg-type]
            if column.problems():  # a float32 that is a little beside its decimals
                column = dataclasses.replace(column, spikes=())
            else:
                said = f"each of the spikes is held by {guess.SHARE:.0%} of the rows or more."
                names = tuple(str(each) for each in shared)
                notes = [*notes, Note("single values that many rows share", said, names=names)]
        if getattr(column, "step", None) not in (None, 1):
            notes = [*notes, Note("values in even steps", EVEN)]
        if (offered := offers.missing_codes(column, sampled)) is not None:
            return column, [*notes, offered]
        end = guess.tail(column, sampled)
        if end is not None and has_round(float(column.low), end):
            _, high = outward_real(float(column.low), end, ("high",))
            said = (
                f"999 of 1,000 rows lie below {high:,g}. To cut the tail on purpose: "
                f"`high: {high:.15g}, clamp: true`."
            )
            notes = [*notes, Note("a few values far beyond all others", said)]
        return column, notes

    # -- lists of values -----------------------------------------------------------------------

    def _text(self) -> tuple[Column, list[Note]]:
        sketch = self.sketch
        if self._all_like(COMMA):
            raise NacreError(
                "its texts look like numbers with a decimal comma. Write them with a point (1.5), "
                f"or {DROP}."
            )
        if sketch.distinct is None or len(sketch.distinct) > self.limit:
            raise NacreError(
                f"more than {self.limit:,} different texts. If it is a name, an identifier or free "
                f"text, {DROP}; otherwise list its public values in the schema yourself."
            )
        held = {value: sketch.distinct[value] for value in sorted(sketch.distinct)}
        missing = guess.marks(held) if self.total >= ENOUGH else ()
        notes = [_missing(missing)] if missing else []
        held = {value: n for value, n in held.items() if value not in missing}
        ranges = guess.in_order(list(held)) if self.total >= ENOUGH else None
        if ranges is not None:
            note = Note("ranges taken as ordered", "ranges, so listed from lowest to highest.")
            column: Column = Ordinal(values=ranges, nullable=sketch.gaps, missing=missing)
            return column, [*notes, note]
        column, more = self._values(held, nullable=sketch.gaps, missing=missing)
        offered = offers.order(self.name, column, held) if self.total >= ENOUGH else None
        return column, [*notes, *more, *([] if offered is None else [offered])]

    def _all_like(self, pattern: str) -> bool:
        """Whether all texts that were looked at are written so."""
        array = cells.plain(self.sampled)
        if not cells.is_text(array.type):
            return False
        texts = cells.text(array)
        there = texts.filter(pc.invert(pc.fill_null(cells.says_nothing(texts), True)))
        fits = pc.match_substring_regex(there, pattern)
        return len(there) > 0 and bool(pc.all(fits).as_py())

    def _values(
        self, held: dict[str, int], *, nullable: bool, missing: tuple[str, ...]
    ) -> tuple[Column, list[Note]]:
        kept = {value: n for value, n in held.items() if n >= FEW or not self.gather}
        if not kept:
            raise NacreError(
                f"no value is held by {FEW} rows, so all would be gathered. If it is a name or an "
                f"identifier, {DROP}; otherwise list its public values in the schema yourself."
            )
        rest = len(held) - len(kept)
        column = Categorical(values=list(kept), other=rest > 0, nullable=nullable, missing=missing)
        what = f"{rest:,} {'value' if rest == 1 else 'values'}"
        said = f"{what}, held by fewer than {FEW} rows each, gathered as `other`."
        return column, [Note(f"{what} gathered as `other`", said)] if rest else []

    # -- times ---------------------------------------------------------------------------------

    def _moment(self) -> tuple[Column, list[Note]]:
        sketch = self.sketch
        text, times = next(iter(sketch.ways.items()))
        notes = []
        if text is not None:
            notes.append(Note("dates that are not written as 2024-12-31", "see `format`."))
            other = text.replace("%d", "%?").replace("%m", "%d").replace("%?", "%m")
            if other != text and other in sketch.ways:
                said = f"the day may stand first or second: it could be {other}, too."
                notes.append(Note("day and month may be the other way round", said))
        step = times.step_text
        if text is None and (text := self._as_it_came(step)) is not None:
            notes.append(Note("", "see `format`: times are written as they came."))
        low, high, moved = self._days(times, UNITS[step[1:]])
        nullable = sketch.gaps or sketch.blanks
        column = Datetime(low=low, high=high, step=step, format=text, nullable=nullable)
        return column, notes + moved

    def _clock(self) -> tuple[Column, list[Note]]:
        """Times of day; lengths of time may be written so, too, which only a person can tell."""
        sketch, times = self.sketch, self.sketch.ways[CLOCK]
        step = times.step_text
        length = step_length(step) or 1
        if self.total < ENOUGH and length > UNITS["min"]:  # nothing is guessed of few rows
            step, length = "1min", UNITS["min"]
        said = "lengths of time rather than times of day? Then write them as minutes, in numbers."
        notes = [Note("taken for times of day", said)]
        if length > UNITS["min"]:
            notes.append(Note("values in even steps", EVEN))
        first, last = times.first, times.last
        if first == last:  # a constant still needs two bounds
            first, last = (
                (first, first + length) if first + length < DAY else (first - length, last)
            )
        held = {"low": times.first_rows, "high": times.last_rows}
        ends = self._to_round(clock_unit(first, last, step=length) > length, held)
        low, high = map(clock_text, outward_clock(first, last, ends, step=length))
        seconds = "%H:%M:%S" in sketch.ways and length % UNITS["min"] == 0
        column = Time(
            low=low,
            high=high,
            step=step,
            format="%H:%M:%S" if seconds else None,
            nullable=sketch.gaps or sketch.blanks,
        )
        return column, notes + _moved(ends)

    def _as_it_came(self, step: str) -> str | None:
        """The way of writing in ISO 8601, where a table of this step would be written otherwise."""
        usual = {"1d": None, "1h": ISO[0], "1min": ISO[0]}.get(step, ISO[1])
        found = next((text for text in ISO if text in self.sketch.ways), usual)
        return found if found != usual and self.total >= ENOUGH else None

    def _days(self, times: Times, length: int) -> tuple[str, str, list[Note]]:
        first, last = (moment // length * length for moment in (times.first, times.last))
        last = max(last, first + length)
        try:
            low, high = (EPOCH + datetime.timedelta(microseconds=int(m)) for m in (first, last))
        except OverflowError:
            raise NacreError(
                f"some dates are outside the years 1 to 9999. Correct them, or {DROP}."
            ) from None
        held = {"low": times.first_rows, "high": times.last_rows}
        ends = self._to_round(high - low >= MONTH, held)
        days = outward_days(low.date(), high.date(), ends)
        exact = (low.date(), high.date()) if length == DAY else (low, high)
        first_day = days[0] if "low" in ends else exact[0]
        last_day = days[1] if "high" in ends else exact[1]
        return first_day.isoformat(), last_day.isoformat(), _moved(ends)


def _number_ends(sketch: Sketch) -> dict[str, int]:
    return {"low": sketch.low_rows, "high": sketch.high_rows}


def _moved(ends: tuple[str, ...]) -> list[Note]:
    said = f"fewer than {FEW} rows hold it, so rounded outward unless round: {', '.join(ends)}"
    return [Note("", said, ends)] if ends else []


def _missing(found: tuple[str, ...]) -> Note:
    return Note("codes taken for missing values", f"{', '.join(found)}: taken for missing values.")
