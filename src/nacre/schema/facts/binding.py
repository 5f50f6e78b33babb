"""From the words of a fact to what it computes from columns, or what is wrong with it."""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from nacre.schema.columns.category import Categorical
from nacre.schema.columns.column import Column, as_number, shown
from nacre.schema.columns.grid import digits
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.scale import Scale
from nacre.schema.columns.span import Spans, join, outside
from nacre.schema.constraints.binding import among, between, bind, presence, sum_without_blanks
from nacre.schema.constraints.given import read_given
from nacre.schema.constraints.statement import NotUnderstood, Word
from nacre.schema.facts.bound import Absence, BoundFact, Linear, LookUp, Near
from nacre.schema.facts.statement import MISSING, Determined, Fact, Formula, Gap, Together
from nacre.schema.suggest import suggest
from nacre.schema.table import listed

EXACT = 2**61  # sums below this fit into 64 bits
Terms = list[tuple[float, tuple[str, ...]]]


def bind_fact(fact: Fact, columns: Mapping[str, Column]) -> tuple[BoundFact, ...]:
    """What a fact says of each column that follows from others; raises NotUnderstood."""
    if isinstance(fact, Determined):
        return (_look_up(fact, columns),)
    if isinstance(fact, Formula):
        return (_formula(fact, columns),)
    if isinstance(fact, Gap):
        name = _column(fact.column, columns)
        presence(name, columns, missing=True)
        conditions = tuple(bind(clause, columns) for clause in fact.clauses)
        return (Absence(str(fact), name, conditions),)
    return _together(fact, columns)


def _together(fact: Together, columns: Mapping[str, Column]) -> tuple[Absence, ...]:
    """The first column is modeled with its gaps, which the others share."""
    first, *others = (_column(word, columns) for word in fact.columns)
    if len({first, *others}) <= len(others):
        raise NotUnderstood("a column is named twice.")
    for name in (first, *others):
        presence(name, columns, missing=True)
    condition = presence(first, columns, missing=True)
    return tuple(Absence(str(fact), name, (condition,)) for name in others)


def _look_up(fact: Determined, columns: Mapping[str, Column]) -> LookUp:
    column, by = (_column(word, columns) for word in (fact.column, fact.by))
    scale = Scale(columns[by])
    unknown = -1
    spans: list[tuple[float, float, int]] = []
    for key, value in fact.table:
        place = _place(value, column, columns)
        if key == MISSING and key not in scale.names:
            presence(by, columns, missing=True)
            unknown = place
            continue
        spans += [(low, high, place) for low, high in _spans(key, by, columns)]
    spans.sort()
    for (_, high, _), (low, _, _) in itertools.pairwise(spans):
        if low <= high:
            raise NotUnderstood(f"{_example(scale, low)} of '{by}' is in the table twice.")
    if (left := _uncovered(join((low, high) for low, high, _ in spans), scale)) is not None:
        hint = " Ranges may have an open end, such as 65.." if scale.ordered else ""
        raise NotUnderstood(f"the table says nothing of '{by}' = {left}.{hint}")
    if columns[by].nullable and unknown < 0 and not columns[column].nullable:
        raise NotUnderstood(
            f"'{by}' may be missing. Say what '{column}' is then (`missing: ...`), or set "
            f"`nullable: true` for '{column}'."
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


def _spans(key: str, by: str, columns: Mapping[str, Column]) -> Spans:
    """What a key of the table stands for: a value, a list of values, or a range."""
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


def _formula(fact: Formula, columns: Mapping[str, Column]) -> Linear | Near:
    name = _number_column(fact.column, columns)
    terms, sources = _terms(fact, columns)
    if not sources:
        raise NotUnderstood("nothing but numbers is added up. Use a constraint `fixed: {...}`.")
    gaps = [other for other in sources if columns[other].nullable]
    if gaps and not columns[name].nullable:
        raise NotUnderstood(
            f"{listed(gaps)} may be missing, so '{name}' may be, too: set `nullable: true`."
        )
    grids = [columns[other].grid for other in sources]  # type: ignore[attr-defined]
    grid = columns[name].grid  # type: ignore[attr-defined]
    straight = all(len(names) < 2 for _, names in terms)
    if fact.within is None and straight and grid is not None and None not in grids:
        return _linear(fact, name, terms, columns)
    if fact.within is None and grid is None:
        raise NotUnderstood(
            f"'{name}' is a real number without `decimals`. Give it some, or say how near it is: "
            "`within 0.01`."
        )
    scale = Scale(columns[name])
    relative = fact.percent
    step = 0.0 if grid is None else grid.step / grid.unit
    within = fact.within / (100 if relative else 1) if fact.within is not None else step / 2
    if not relative and within < step / 2:
        raise NotUnderstood(
            f"`within {within:g}` is less than half a step of '{name}', which is {step:g}."
        )
    return Near(str(fact), name, tuple(terms), within, relative, scale)


def _terms(fact: Formula, columns: Mapping[str, Column]) -> tuple[Terms, list[str]]:
    """Each term as a number and the columns that it is multiplied by; all columns."""
    terms: Terms = []
    for term in fact.terms:
        factor, names = -1.0 if term.negative else 1.0, []
        for word in term.factors:
            number = as_number(word.text)
            if word.kind == "bare" and word.text not in columns and isinstance(number, float):
                factor *= number
            else:
                names.append(_number_column(word, columns))
        if not math.isfinite(factor):
            raise NotUnderstood("a number in it is larger than numbers can be.")
        terms.append((factor, tuple(names)))
    return terms, list(dict.fromkeys(name for _, names in terms for name in names))


def _linear(fact: Formula, name: str, terms: Terms, columns: Mapping[str, Column]) -> Linear:
    """The sum in whole numbers; refused if it could lie between two steps of the column."""
    grids = {other: columns[other].grid for _, names in terms for other in names}  # type: ignore[attr-defined]
    grid = columns[name].grid  # type: ignore[attr-defined]
    needed = [digits(factor) + sum(grids[n].decimals for n in names) for factor, names in terms]
    decimals = max(grid.decimals, *needed)
    factors: dict[str, int] = dict.fromkeys(grids, 0)
    constant = 0
    for factor, names in terms:
        own = sum(grids[n].decimals for n in names)
        whole = int(Decimal(repr(factor)) * 10 ** (decimals - own))
        if names:
            factors[names[0]] += whole
        else:
            constant += whole
    unit = 10 ** (decimals - grid.decimals)
    ends = [_ends(factors[other], columns[other]) for other in grids]
    low, high = (constant + sum(pair[side] for pair in ends) for side in (0, 1))
    first, last = (unit * end for end in _ends(1, columns[name]))
    if max(abs(low), abs(high), abs(first), abs(last)) >= EXACT:
        raise NotUnderstood("its numbers are too large to be added exactly. Give it `within`.")
    start = constant + sum(factors[other] * grids[other].first for other in grids)
    moduli = [start - first, *(factors[other] * grids[other].step for other in grids)]
    if any(each % (grid.step * unit) for each in moduli):
        half = grid.step / grid.unit / 2
        raise NotUnderstood(
            f"the sum may lie between two values of '{name}'. Give it more `decimals` or a finer "
            f"`step`, or say `within {half:g}`, which rounds it."
        )
    if low > last or high < first:
        raise NotUnderstood(f"the sum never lies within the bounds of '{name}'. Widen them.")
    return Linear(str(fact), name, factors, constant, unit, columns)


def _ends(factor: int, column: Column) -> tuple[int, int]:
    """The least and largest of a column's values times a factor, in units of its last decimal."""
    grid, ticks = column.grid, column.ticks  # type: ignore[attr-defined]
    ends = sorted((factor * grid.first, factor * (grid.first + grid.step * ticks)))
    return ends[0], ends[1]


def _column(word: Word, columns: Mapping[str, Column]) -> str:
    if word.kind == "bare" and (said := sum_without_blanks(word.text, columns)) is not None:
        raise NotUnderstood(said)
    if word.kind == "value" or word.text not in columns:
        raise NotUnderstood(f"{shown(word.text)} is not a column.{suggest(word.text, columns)}")
    return word.text


def _number_column(word: Word, columns: Mapping[str, Column]) -> str:
    name = _column(word, columns)
    if isinstance(columns[name], Integer | Real):
        return name
    column = columns[name]
    advice = "Use a constraint" if not isinstance(column, Categorical) else "Use a table"
    whole = [v for v in getattr(column, "values", ()) if re.fullmatch(r"-?\d+", v)]
    if whole and len(whole) == len(column.values):  # type: ignore[attr-defined]
        low, high = min(map(int, whole)), max(map(int, whole))
        advice = f"If its values are numbers, write {{type: integer, low: {low}, high: {high}}}"
    raise NotUnderstood(
        f"'{name}' is {columns[name].type}, and only numbers are added and multiplied. {advice}."
    )


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
