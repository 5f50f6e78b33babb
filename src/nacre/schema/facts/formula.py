"""From a formula's words to the sum that it computes, or what is wrong with it.

A date plus a number of days is a date, and a date minus a date a number of days; so the factors of
all dates add up to 1 where a date is computed and to 0 where a number is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from nacre.schema.columns.category import Categorical
from nacre.schema.columns.column import Column, as_number, shown
from nacre.schema.columns.grid import Grid
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.binding import sum_without_blanks
from nacre.schema.constraints.statement import NotUnderstood, Word, value_text
from nacre.schema.facts.amounts import adds_up, line, per_amount
from nacre.schema.facts.bound import Linear, Near
from nacre.schema.facts.statement import Formula, Term
from nacre.schema.suggest import suggest
from nacre.schema.table import listed

EXACT = 2**61  # sums below this fit into 64 bits
Terms = list[tuple[float, tuple[str, ...]]]
DATES = (
    "A date plus a number of days is a date (`departure = arrival + nights`), a date minus a date "
    "a number of days (`nights = departure - arrival`)"
)


def bind_formula(fact: Formula, columns: Mapping[str, Column]) -> Linear | Near:
    """What a formula computes; raises NotUnderstood."""
    name = _amount_column(fact.column, columns)
    terms, sources = _terms(fact, columns)
    if not sources:
        raise NotUnderstood("nothing but numbers is added up. Use a constraint `fixed: {...}`.")
    _refuse_dates(name, terms, columns, percent=fact.percent)
    gaps = [other for other in sources if columns[other].nullable]
    if gaps and not columns[name].nullable:
        raise NotUnderstood(
            f"{listed(gaps)} may be missing, so '{name}' may be, too: set `nullable: true`."
        )
    lines = {other: line(columns[other]) for other in sources}
    own = line(columns[name])
    straight = all(len(names) < 2 for _, names in terms)
    known = {other: each for other, each in lines.items() if each is not None}
    if fact.within is None and straight and own is not None and len(known) == len(lines):
        return _linear(fact, name, terms, {**known, name: own}, columns)
    if fact.within is None and own is None:
        raise NotUnderstood(
            f"'{name}' is a real number without `decimals`. Give it some, or say how near it is: "
            "`within 0.01`."
        )
    scale = Scale(columns[name])
    relative = fact.percent
    half = half_step(columns[name])
    within = fact.within / (100 if relative else 1) if fact.within is not None else half
    if not relative and within < half:
        raise NotUnderstood(
            f"`within {value_text(within)}` is less than half a step of '{name}', which is "
            f"{value_text(half)}."
        )
    return Near(str(fact), name, tuple(terms), within, relative, scale, columns)


def rounded(name: str, terms: Sequence[Term], columns: Mapping[str, Column]) -> Formula:
    """The formula of a column: exact where it can be, and else within what rounding leaves."""
    exact = Formula(Word.of_column(name), tuple(terms))
    try:
        bind_formula(exact, columns)
    except NotUnderstood:
        return Formula(exact.column, exact.terms, half_step(columns[name]) or None)
    return exact


def half_step(column: Column) -> float:
    """Half the distance between two values of a number or date, in days; 0 without decimals."""
    own = line(column)
    return 0.0 if own is None else own.step / own.unit / per_amount(column) / 2


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
                names.append(_amount_column(word, columns))
        if not math.isfinite(factor):
            raise NotUnderstood("a number in it is larger than numbers can be.")
        terms.append((factor, tuple(names)))
    return terms, list(dict.fromkeys(name for _, names in terms for name in names))


def _refuse_dates(name: str, terms: Terms, columns: Mapping[str, Column], *, percent: bool) -> None:
    """Dates that are multiplied, added to each other, or come out where a number should."""
    dates = [
        (factor, names)
        for factor, names in terms
        if any(isinstance(columns[each], Datetime) for each in names)
    ]
    mentioned = list(
        dict.fromkeys(
            each for _, names in dates for each in names if isinstance(columns[each], Datetime)
        )
    )
    kinds = f"{listed(mentioned)} {'is a date' if len(mentioned) == 1 else 'are dates'}"
    if any(len(names) > 1 for _, names in dates):
        raise NotUnderstood(f"{kinds}, and a date is not multiplied by a column. {DATES}.")
    total = sum((Fraction(repr(factor)) for factor, _ in dates), Fraction(0))
    if total not in (0, 1):
        raise NotUnderstood(f"{kinds}, and this adds up to neither a date nor a number. {DATES}.")
    if isinstance(columns[name], Datetime) and percent:
        raise NotUnderstood(f"'{name}' is a date, which has no percent. Say `within 1`, in days.")
    if isinstance(columns[name], Datetime) and not total:
        raise NotUnderstood(f"'{name}' is a date, and this adds up to a number. {DATES}.")
    if not isinstance(columns[name], Datetime) and total:
        raise NotUnderstood(
            f"'{name}' is {columns[name].type}, and this adds up to a date. {DATES}."
        )


def _linear(
    fact: Formula,
    name: str,
    terms: Terms,
    lines: Mapping[str, Grid],
    columns: Mapping[str, Column],
) -> Linear:
    """The sum in whole numbers; refused if it could lie between two steps of the column."""
    worth = {each: Fraction(1, lines[each].unit * per_amount(columns[each])) for each in lines}
    shares: dict[str, Fraction] = {each: Fraction(0) for _, names in terms for each in names}
    added = Fraction(0)
    for factor, names in terms:
        if names:
            shares[names[0]] += Fraction(repr(factor)) * worth[names[0]]
        else:
            added += Fraction(repr(factor))
    # So many parts of one make every number of the sum a whole one.
    parts = math.lcm(*(each.denominator for each in (*shares.values(), added, worth[name])))
    factors = {each: int(share * parts) for each, share in shares.items()}
    constant, unit = int(added * parts), int(worth[name] * parts)
    ends = [_ends(factors[each], lines[each], columns[each]) for each in factors]
    low, high = (constant + sum(pair[side] for pair in ends) for side in (0, 1))
    first, last = _ends(unit, lines[name], columns[name])
    largest = (abs(end) for pair in (*ends, (low, high), (first, last)) for end in pair)
    if max(abs(constant), *largest) >= EXACT:
        raise NotUnderstood("its numbers are too large to be added exactly. Give it `within`.")
    start = constant + sum(factors[each] * lines[each].first for each in factors)
    moduli = [start - first, *(factors[each] * lines[each].step for each in factors)]
    if any(each % (lines[name].step * unit) for each in moduli):
        raise NotUnderstood(
            f"the sum may lie between two values of '{name}'. Give it more `decimals` or a finer "
            f"`step`, or say `within {value_text(half_step(columns[name]))}`, which rounds it."
        )
    if low > last or high < first:
        raise NotUnderstood(f"the sum never lies within the bounds of '{name}'. Widen them.")
    return Linear(str(fact), name, factors, constant, unit, columns)


def _ends(factor: int, line: Grid, column: Column) -> tuple[int, int]:
    """The least and largest of a column's values times a factor, in units of its last decimal."""
    ends = sorted((factor * line.first, factor * (line.first + line.step * (column.ticks or 0))))
    return ends[0], ends[1]


def column_of(word: Word, columns: Mapping[str, Column]) -> str:
    """The name of a column; raises NotUnderstood."""
    if word.kind == "bare" and (said := sum_without_blanks(word.text, columns)) is not None:
        raise NotUnderstood(said)
    if word.kind == "value" or word.text not in columns:
        raise NotUnderstood(f"{shown(word.text)} is not a column.{suggest(word.text, columns)}")
    return word.text


def _amount_column(word: Word, columns: Mapping[str, Column]) -> str:
    name = column_of(word, columns)
    column = columns[name]
    if adds_up(column):
        return name
    advice = "Use a constraint" if not isinstance(column, Categorical) else "Use a table"
    values: Sequence[str] = getattr(column, "values", ())
    whole = [value for value in values if re.fullmatch(r"-?\d+", value)]
    if whole and len(whole) == len(values):
        low, high = min(map(int, whole)), max(map(int, whole))
        advice = f"If its values are numbers, write {{type: integer, low: {low}, high: {high}}}"
    raise NotUnderstood(
        f"'{name}' is {column.type}, and only numbers are added and multiplied, and dates and "
        f"days. {advice}."
    )
