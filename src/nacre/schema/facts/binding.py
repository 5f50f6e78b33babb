"""From the words of a fact to what it computes from columns, or what is wrong with it."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from nacre.schema.columns.column import Column, shown
from nacre.schema.columns.scale import Scale
from nacre.schema.columns.span import Spans, join, outside
from nacre.schema.constraints.binding import among, between, bind, presence
from nacre.schema.constraints.given import read_given
from nacre.schema.constraints.statement import NotUnderstood
from nacre.schema.facts.bound import Absence, Belonging, BoundFact, LookUp
from nacre.schema.facts.formula import bind_formula, column_of
from nacre.schema.facts.statement import MISSING, Determined, Fact, Formula, Gap, Together


def bind_fact(fact: Fact, columns: Mapping[str, Column]) -> tuple[BoundFact, ...]:
    """What a fact says of each column that follows from others; raises NotUnderstood."""
    if isinstance(fact, Determined):
        return (_if_known(fact, columns) if fact.known else _look_up(fact, columns),)
    if isinstance(fact, Formula):
        return (bind_formula(fact, columns),)
    if isinstance(fact, Gap):
        name = column_of(fact.column, columns)
        presence(name, columns, missing=True)
        conditions = tuple(bind(clause, columns) for clause in fact.clauses)
        return (Absence(str(fact), name, conditions),)
    return _together(fact, columns)


def _together(fact: Together, columns: Mapping[str, Column]) -> tuple[Absence, ...]:
    """The first column is modeled with its gaps, which the others share."""
    first, *others = (column_of(word, columns) for word in fact.columns)
    if len({first, *others}) <= len(others):
        raise NotUnderstood("a column is named twice.")
    for name in (first, *others):
        presence(name, columns, missing=True)
    condition = presence(first, columns, missing=True)
    return tuple(Absence(str(fact), name, (condition,)) for name in others)


def _look_up(fact: Determined, columns: Mapping[str, Column]) -> LookUp:
    column, by = (column_of(word, columns) for word in (fact.column, fact.by))
    spans, unknown = _table(fact, column, by, columns)
    if columns[by].nullable and unknown < 0 and not columns[column].nullable:
        raise NotUnderstood(
            f"'{by}' may be missing. Say what '{column}' is then (`missing: ...`); or set "
            f"`nullable: true` for '{column}'; or, if it may then be anything, say "
            f"`{fact} if known`."
        )
    return LookUp(
        text=str(fact),
        column=column,
        by=by,
        starts=np.array([low for low, _, _ in spans]),
        places=np.array([place for _, _, place in spans], np.int64),
        unknown=unknown,
        scale=Scale(columns[column]),
    )


def _if_known(fact: Determined, columns: Mapping[str, Column]) -> Belonging:
    """A table of codes that may be missing: of a row without one it says nothing."""
    column, by = (column_of(word, columns) for word in (fact.column, fact.by))
    for name in (column, by):
        if columns[name].size is None:
            raise NotUnderstood(
                f"'{name}' is {columns[name].type}, and with `if known` both columns have lists of "
                "values. Say it by constraints, such as `fee = 10 if kind = a`."
            )
    if not columns[by].nullable:
        raise NotUnderstood(f"'{by}' is never missing. Leave `if known` out.")
    if MISSING in dict(fact.table) and MISSING not in Scale(columns[by]).names:
        raise NotUnderstood(
            f"with `if known` the table says nothing of a missing '{by}'. Leave one of them out."
        )
    spans, _ = _table(fact, column, by, columns)
    places = [place for low, high, place in spans for _ in range(int(low), int(high) + 1)]
    return Belonging(str(fact), by, column, np.array(places, np.int64))


def _table(
    fact: Determined, column: str, by: str, columns: Mapping[str, Column]
) -> tuple[list[tuple[float, float, int]], int]:
    """What belongs to each span of the keys, in order, and to a missing one; -1 for missing."""
    scale = Scale(columns[by])
    known = {name: place for place, name in enumerate(scale.names)}
    unknown = -1
    spans: list[tuple[float, float, int]] = []
    for key, value in fact.table:
        place = _place(value, column, columns)
        if key == MISSING and key not in scale.names:
            presence(by, columns, missing=True)
            unknown = place
            continue
        spans += [(low, high, place) for low, high in _spans(key, by, columns, known)]
    spans.sort()
    for (_, high, _), (low, _, _) in itertools.pairwise(spans):
        if low <= high:
            raise NotUnderstood(f"{_example(scale, low)} of '{by}' is in the table twice.")
    if (left := _uncovered(join((low, high) for low, high, _ in spans), scale)) is not None:
        hint = " Ranges may have an open end, such as 65.." if scale.ordered else ""
        raise NotUnderstood(f"the table says nothing of '{by}' = {left}.{hint}")
    return spans, unknown


def _spans(key: str, by: str, columns: Mapping[str, Column], known: Mapping[str, int]) -> Spans:
    """What a key of the table stands for: a value, a list of values, or a range.

    Most keys are names of `known` places, which need not be read as cells are.
    """
    words = [key] if key in known else [word.strip() for word in key.split(",")]
    if all(word in known for word in words):
        return join((known[word], known[word]) for word in words)
    meant = read_given({by: key}, columns)[by]
    if isinstance(meant, tuple):
        low, high = meant
        return between(by, low, high, columns)
    return among(by, meant if isinstance(meant, list) else [meant], columns)


def _place(value: str, name: str, columns: Mapping[str, Column]) -> int:
    """The tick or code of a value, -1 for missing."""
    column, scale = columns[name], Scale(columns[name])
    if value == MISSING and value not in scale.names:
        presence(name, columns, missing=True)
        return -1
    if column.ticks is None:
        return int(among(name, [value], columns)[0][0])
    reading = column.read(pa.array([value]))
    faults = (reading.missing, *reading.refused.values(), *reading.changed.values())
    if any(fault[0] for fault in faults):
        raise NotUnderstood(f"'{name}': {shown(value)} is not one of its values.")
    return int(reading.values[0])


def _uncovered(spans: Spans, scale: Scale) -> str | None:
    """A value that is in no span, if there is one."""
    for low, high in outside(spans, scale.low, scale.high, scale.before, scale.after):
        last = scale.column.ticks if scale.column.ticks is not None else len(scale.names) - 1
        place = bisect.bisect_left(range(last + 1), low, key=lambda tick: _number(scale, tick))
        if place <= last and _number(scale, place) <= high:
            return _example(scale, _number(scale, place), place)
    return None


def _number(scale: Scale, place: int) -> Any:
    return scale.values(np.array([place], np.int64))[0].item()


def _example(scale: Scale, value: float, place: int | None = None) -> str:
    """A value of a column as people write it."""
    if scale.names:
        return f"'{scale.names[int(value)]}'"
    if place is not None:
        return str(scale.column.write(np.array([place], np.int64), None)[0].as_py())
    return f"{value:g}"


def in_order(facts: Sequence[BoundFact]) -> tuple[BoundFact, ...]:
    """The facts, each after those that it follows from; raises NotUnderstood for a circle."""
    found: list[BoundFact] = []
    waiting = list(facts)
    while waiting:
        open_ones = {fact.column for fact in waiting}
        ready = [fact for fact in waiting if not fact.sources & open_ones]
        if not ready:
            texts = ", ".join(f"`{fact.text}`" for fact in waiting)
            raise NotUnderstood(
                f"facts follow from each other in a circle: {texts}. Leave one of them out."
            )
        found += ready
        waiting = [fact for fact in waiting if fact not in ready]
    return tuple(found)
