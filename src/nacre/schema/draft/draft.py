"""A first schema read from the rows themselves, for a person to review.

Releases:
    bounds and values that are exactly those of the rows, so the draft is not private: it says
    `provenance: data`, and a fit refuses it until a person has reviewed it.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Collection, Mapping, Sequence

from nacre.errors import NacreError
from nacre.schema.columns.category import Boolean, Categorical
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import DAY, UNITS, Datetime
from nacre.schema.columns.numeric import DIGITS, LARGEST_INTEGER, Integer, Real
from nacre.schema.draft.rare import Draft, rare_facts
from nacre.schema.draft.sketch import CLASSES, STEPS, Sketch
from nacre.schema.errors import SchemaError
from nacre.schema.schema import Schema
from nacre.schema.suggest import suggest
from nacre.schema.table import Batches, batches, listed
from nacre.schema.unit import Unit

MOST_VALUES = 1000  # of a text; more cannot be reviewed
ROWS_A_VALUE = 10  # beyond a hundred values: names and identifiers have fewer rows each
SAFE_VALUES = 100
DROP = "leave it out (--drop)"
EPOCH = datetime.datetime(1970, 1, 1)


def draft(
    rows: Batches,
    *,
    label: str | None = None,
    drop: Collection[str] = (),
    most_values: int | None = None,
) -> Schema:
    """A schema that every row fits, from one pass in constant memory.

    Args:
        rows: a table, a batch, or anything that yields batches.
        label: the column to be predicted; whole numbers there are taken as classes if they
            are few.
        drop: columns to leave out.
        most_values: text with more distinct values than this is refused, not listed. If not
            given, a tenth of the rows, but at least 100 and at most 1,000.
    """
    found = survey(rows, label=label, drop=drop, most_values=most_values)
    if found.left_out:
        raise _refused(found.left_out)
    return found.schema


def survey(
    rows: Batches,
    *,
    label: str | None = None,
    drop: Collection[str] = (),
    most_values: int | None = None,
    unit: Unit | None = None,
) -> Draft:
    """As `draft`, with what its reviewer needs: which values and bounds few rows hold.

    A column that cannot be drafted is left out, and the draft says why.
    """
    drop = (drop,) if isinstance(drop, str) else drop
    if unit is not None:  # its column tells persons apart, and is no column of the schema
        drop = {*drop, unit.column}
    sketches, total = _sketches(rows, drop, most_values or MOST_VALUES, label)
    limit = most_values or min(MOST_VALUES, max(SAFE_VALUES, total // ROWS_A_VALUE))
    columns: dict[str, Column] = {}
    left_out: dict[str, str] = {}
    for name, sketch in sketches.items():
        try:
            columns[name] = _column(sketch, limit, is_label=name == label)
        except ValueError as error:
            left_out[name] = str(error)
    if not columns or label in left_out:
        raise _refused(left_out)
    return Draft(
        Schema(columns, label=label, provenance="data", unit=unit),
        {name: rare_facts(column, sketches[name]) for name, column in columns.items()},
        left_out,
        {name: odd for name, column in columns.items() if (odd := _odd(column, sketches[name]))},
    )


def _refused(left_out: Mapping[str, str]) -> SchemaError:
    problems = [f"'{name}': {why}" for name, why in left_out.items()]
    return SchemaError(problems, subject="The table cannot be drafted as it is: it")


def _odd(column: Column, sketch: Sketch) -> str:
    """What its reviewer has to know of a number that is none in every row."""
    if sketch.numbers or not isinstance(column, Integer | Real):
        return ""
    return (
        f"{sketch.odd_rows:,} of {sketch.odd_rows + sketch.number_rows:,} values are not numbers. "
        "Correct them, or fit with --bad-rows zero, which takes them as missing."
    )


def _sketches(
    rows: Batches, drop: Collection[str], most_values: int, label: str | None
) -> tuple[dict[str, Sketch], int]:
    """One pass over the rows, in constant memory; and how many rows there are."""
    sketches: dict[str, Sketch] = {}
    total = 0
    for batch in batches(rows):
        _require_dropped(drop, batch.schema.names)
        names = [name for name in batch.schema.names if name not in drop]
        if twice := {name for name in names if names.count(name) > 1}:
            raise SchemaError(f"Several columns are called {listed(twice)}. Rename all but one.")
        if total and set(names) != set(sketches):
            raise SchemaError("The parts of the table do not all have the same columns.")
        total += batch.num_rows
        for name in names:
            before = sketches.get(name, Sketch(most_values=most_values))
            sketches[name] = before.add(batch.column(name))
    _require_rows(total, sketches, label)
    return sketches, total


def _require_dropped(drop: Collection[str], names: Sequence[str]) -> None:
    """A misspelt name would leave in the draft what was to be left out."""
    problems = [
        f"'{name}' is to be dropped, but is not a column. The table has {listed(names)}."
        f"{suggest(str(name), names)}"
        for name in drop
        if name not in names
    ]
    if problems:
        raise SchemaError(problems)


def _require_rows(total: int, sketches: Collection[str], label: str | None) -> None:
    if total == 0:
        raise SchemaError("The table has no rows, so there is nothing to draft a schema from.")
    if label is not None and label not in sketches:
        raise SchemaError(
            f"The label '{label}' is not a column. The table has {listed(sketches)}."
            f"{suggest(label, sketches)}"
        )


def _column(sketch: Sketch, most_values: int, *, is_label: bool) -> Column:
    """The narrowest column type that every value fits; ValueError says why there is none."""
    if sketch.unsupported:
        raise NacreError(f"its type {sketch.unsupported} cannot be drafted. Convert it, or {DROP}.")
    if not sketch.seen:
        raise NacreError(f"no row has a value. Describe it yourself, or {DROP}.")
    if sketch.truths:
        return Boolean(nullable=sketch.gaps)
    if sketch.numbers:
        return _number(sketch, is_label=is_label)
    if sketch.moments:
        return _moment(sketch)
    if sketch.mostly_numbers:
        return _number(dataclasses.replace(sketch, blanks=True), is_label=is_label)
    if sketch.distinct is None or len(sketch.distinct) > most_values:
        raise NacreError(
            f"more than {most_values:,} different texts. If it is a name, an identifier or free "
            f"text, {DROP}; otherwise list its public values in the schema yourself."
        )
    return Categorical(values=sorted(sketch.distinct), nullable=sketch.gaps)


def _number(sketch: Sketch, *, is_label: bool) -> Column:
    if not sketch.low <= sketch.high:
        raise NacreError(f"no row has a finite value. Describe it yourself, or {DROP}.")
    nullable = sketch.gaps or sketch.blanks
    if sketch.decimals != 0:
        return _real(sketch, nullable=nullable)
    # Zeros and ones are classes; so are a label's few numbers. Listed, they keep their look.
    classes = tuple(sketch.classes)
    if classes == ("0", "1") or (is_label and 0 < len(classes) <= CLASSES):
        return Categorical(values=classes, nullable=nullable)
    low, high = int(sketch.low), int(sketch.high)
    if max(abs(low), abs(high)) > LARGEST_INTEGER:
        raise NacreError(
            "whole numbers beyond 2^53 - 1 cannot be kept exactly. If it is an identifier, "
            f"{DROP}; otherwise describe it as real or categorical."
        )
    low, high = (low, high) if low < high else _widened(low)
    return Integer(low=low, high=high, nullable=nullable)


def _real(sketch: Sketch, *, nullable: bool) -> Column:
    decimals = sketch.decimals
    widest = max(abs(sketch.low), abs(sketch.high), 1.0)
    if decimals is not None and math.log10(widest) + decimals >= DIGITS:
        decimals = None
    low, high = sketch.low, sketch.high
    if low == high:  # a constant still needs two bounds
        high = low + max(1.0, abs(low) / 2**20)
    if decimals is not None:  # float32 has 0.1 only nearly
        low, high = round(low, decimals), round(high, decimals)
    return Real(low=low, high=high, decimals=decimals, nullable=nullable)


def _widened(value: int) -> tuple[int, int]:
    """A constant still needs two bounds."""
    return (value, value + 1) if value < LARGEST_INTEGER else (value - 1, value)


def _moment(sketch: Sketch) -> Column:
    step = STEPS[sketch.step]
    length = UNITS[step[1:]]
    first, last = (moment // length * length for moment in (sketch.first, sketch.last))
    last = max(last, first + length)
    try:
        low, high = (EPOCH + datetime.timedelta(microseconds=int(m)) for m in (first, last))
    except OverflowError:
        raise NacreError(
            f"some dates are outside the years 1 to 9999. Correct them, or {DROP}."
        ) from None
    days = length == DAY
    return Datetime(
        low=(low.date() if days else low).isoformat(),
        high=(high.date() if days else high).isoformat(),
        step=step,
        nullable=sketch.gaps or sketch.blanks,
    )
