"""A first schema read from the rows themselves, for a person to review.

Releases:
    bounds and values that are exactly those of the rows, so the draft is not private: it says
    `provenance: data`, and a fit refuses it until a person has reviewed it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from nacre.errors import NacreError
from nacre.schema.columns.column import Column, shown
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.draft.choose import Choice
from nacre.schema.draft.found import Draft, rare_facts
from nacre.schema.draft.guess import Note, identifier, text_codes
from nacre.schema.draft.limits import EVERY, Limits
from nacre.schema.draft.sample import Sample
from nacre.schema.draft.sketch import Sketch
from nacre.schema.draft.suggest import suggestions
from nacre.schema.errors import SchemaError
from nacre.schema.schema import Schema
from nacre.schema.suggest import suggest
from nacre.schema.table import Batches, batches, listed
from nacre.schema.unit import Unit

MOST_VALUES = 1000  # of a text; more cannot be reviewed
ROWS_A_VALUE = 10  # beyond a hundred values: names and identifiers have fewer rows each
SAFE_VALUES = 100
Rows: TypeAlias = "Batches | Callable[[], Batches]"


def draft(
    rows: Rows,
    *,
    label: str | None = None,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    most_values: int | None = None,
    rare: str = "keep",
) -> Schema:
    """A schema that every row fits; raises SchemaError where a column cannot be drafted.

    Args as in `survey`.  Identifiers are no such columns: they are left out.
    """
    found = survey(rows, label=label, drop=drop, keep=keep, most_values=most_values, rare=rare)
    if found.left_out:
        raise _refused(found.left_out)
    return found.schema


def survey(
    rows: Rows,
    *,
    label: str | None = None,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    most_values: int | None = None,
    unit: Unit | None = None,
    rare: str = "keep",
    every_rule: bool = False,
) -> Draft:
    """A schema from the rows, in constant memory, with what its reviewer needs to know.

    A column that cannot be drafted is left out, and so is one that seems to be an identifier; the
    draft says why.

    Args:
        rows: a table, a batch, or anything that yields batches; or a function that gives such a
            stream, which is then called twice, the second time to see whether all rows keep the
            facts that it is going to suggest.
        label: the column to be predicted; whole numbers there are taken as classes if they
            are few.
        drop: columns to leave out.
        keep: columns that are no identifiers, even if they look like it.
        most_values: text with more distinct values than this is refused, not listed. If not
            given, a tenth of the rows, but at least 100 and at most 1,000.
        rare: "keep" lists values that fewer than 10 rows hold, and marks them; "other" gathers
            them.
        unit: whose privacy it is, where a person may have several rows.
        every_rule: offer all rules that the rows keep, not only the first of each kind.
    """
    if rare not in ("keep", "other"):
        raise NacreError(f"rare={shown(rare)} must be 'keep' or 'other'.")
    drop, keep = ((each,) if isinstance(each, str) else each for each in (drop, keep))
    if unit is not None:  # its column tells persons apart, and is no column of the schema
        drop = {*drop, unit.column}
    sketches, sample = _sketches(
        rows() if callable(rows) else rows, drop, most_values or MOST_VALUES, label
    )
    _require_columns(keep, sample.names, "kept")
    total = sample.seen
    limit = most_values or min(MOST_VALUES, max(SAFE_VALUES, total // ROWS_A_VALUE))
    columns: dict[str, Column] = {}
    left_out: dict[str, str] = {}
    identifiers: dict[str, str] = {}
    notes: dict[str, list[Note]] = {}
    for name, sketch in sketches.items():
        sampled, is_label = sample.column(name), name == label
        why = None if is_label or name in keep else identifier(name, sketch, sampled, total)
        if why is not None:
            identifiers[name] = why
            continue
        choice = Choice(
            name=name,
            sketch=sketch,
            sampled=sampled,
            total=total,
            limit=limit,
            is_label=is_label,
            gather=rare == "other",
        )
        try:
            columns[name], notes[name] = choice.column()
        except NacreError as error:
            left_out[name] = str(error)
    if not columns or label in left_out:
        raise _refused({**left_out, **identifiers})
    schema = Schema(columns, label=label, provenance="data", unit=unit)
    return Draft(
        schema,
        {name: rare_facts(each, sketches[name], notes[name]) for name, each in columns.items()},
        left_out,
        {name: odd for name, column in columns.items() if (odd := _odd(column, sketches[name]))},
        identifiers=identifiers,
        notes=notes,
        suggested=suggestions(
            schema, sample, rows if callable(rows) else None, EVERY if every_rule else Limits()
        ),
    )


def _odd(column: Column, sketch: Sketch) -> str:
    """What its reviewer has to know of a number that is none in every row."""
    if sketch.numbers or not isinstance(column, Integer | Real) or text_codes(sketch):
        return ""
    return (
        f"{sketch.odd_rows:,} of {sketch.odd_rows + sketch.number_rows:,} values are not numbers. "
        "Correct them, or fit with --bad-rows zero, which takes them as missing."
    )


def _refused(left_out: Mapping[str, str]) -> SchemaError:
    problems = [f"'{name}': {why}" for name, why in left_out.items()]
    return SchemaError(problems, subject="The table cannot be drafted as it is: it")


def _sketches(
    rows: Batches, drop: Collection[str], most_values: int, label: str | None
) -> tuple[dict[str, Sketch], Sample]:
    """One pass over the rows, in constant memory; and some of the rows."""
    sketches: dict[str, Sketch] = {}
    sample = Sample()
    for batch in batches(rows):
        _require_columns(drop, batch.schema.names, "dropped")
        names = [name for name in batch.schema.names if name not in drop]
        if twice := {name for name, times in Counter(names).items() if times > 1}:
            raise SchemaError(f"Several columns are called {listed(twice)}. Rename all but one.")
        if sample.seen and set(names) != set(sketches):
            raise SchemaError("The parts of the table do not all have the same columns.")
        sample = sample.add(batch.select(names))
        for name in names:
            before = sketches.get(name, Sketch(most_values=most_values))
            sketches[name] = before.add(batch.column(name))
    _require_rows(sample.seen, sketches, label)
    return sketches, sample


def _require_columns(said: Collection[str], names: Sequence[str], what: str) -> None:
    """A misspelt name would leave in the draft what was to be left out, or the other way round."""
    problems = [
        f"'{name}' is to be {what}, but is not a column. The table has {listed(names)}."
        f"{suggest(str(name), names)}"
        for name in said
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
