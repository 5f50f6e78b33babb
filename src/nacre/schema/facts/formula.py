"""From a formula's words to the sum that it computes, or what is wrong with it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from nacre.schema.columns.category import Categorical
from nacre.schema.columns.column import Column, as_number, shown
from nacre.schema.columns.grid import Grid
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.binding import sum_without_blanks
from nacre.schema.constraints.statement import NotUnderstood, Word, value_text
from nacre.schema.facts.amounts import (
    adds_up,
    half_step,
    last_step,
    line,
    listed_numbers,
    per_amount,
)
from nacre.schema.facts.bound import Linear, Near
from nacre.schema.facts.statement import Formula, Term
from nacre.schema.facts.times import Terms, count_in_days, is_date, tolerance
from nacre.schema.facts.units import NO_DIVISION, in_units, length_text
from nacre.schema.suggest import suggest
from nacre.schema.table import listed

EXACT = 2**61  # sums below this fit into 64 bits


def bind_formula(fact: Formula, columns: Mapping[str, Column]) -> Linear | Near:
    """What a formula computes; raises NotUnderstood."""
    name = _computed_column(fact.column, columns)
    terms = _terms(fact, columns)
    sources = list(dict.fromkeys(each for _, names in terms for each in names))
    if not sources:
        raise NotUnderstood("nothing but numbers is added up. Use a constraint `fixed: {...}`.")
    terms = count_in_days(fact, name, terms, columns)
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
    return _near(fact, name, terms, columns)


def _near(fact: Formula, name: str, terms: Terms, columns: Mapping[str, Column]) -> Near:
    """The sum within its tolerance, or within half a step of the column where it has none."""
    column = columns[name]
    if fact.within is None and line(column) is None:
        raise NotUnderstood(
            f"'{name}' is a real number without `decimals`. Give it some, or say how near it is: "
            "`within 0.01`."
        )
    within, half = tolerance(fact, name, columns), half_step(column)
    if not fact.percent and float(within) < float(half):  # as people write a third of a day
        raise NotUnderstood(
            f"`within {_amount_text(column, within)}` is less than half a step of '{name}', which "
            f"is {_amount_text(column, half)}."
        )
    rough = tuple((float(factor), names) for factor, names in terms)
    return Near(str(fact), name, rough, float(within), fact.percent, Scale(column), columns)


def rounded(
    name: str, terms: Sequence[Term], columns: Mapping[str, Column], unit: str = ""
) -> Formula:
    """The formula of a column: exact where it can be, and else within what rounding leaves."""
    exact = Formula(Word.of_column(name), tuple(terms), unit=unit)
    try:
        bind_formula(exact, columns)
    except NotUnderstood:
        half, within_unit = float(half_step(columns[name])), ""
        if is_date(columns[name]):
            half, within_unit = in_units(half_step(columns[name]))
        return Formula(exact.column, exact.terms, half or None, unit=unit, within_unit=within_unit)
    return exact


def _amount_text(column: Column, amount: Fraction) -> str:
    return length_text(amount) if is_date(column) else value_text(float(amount))


def _terms(fact: Formula, columns: Mapping[str, Column]) -> Terms:
    """Each term as a number and the columns that it is multiplied by."""
    terms: Terms = []
    for term in fact.terms:
        factor, names = Fraction(-1 if term.negative else 1), []
        for word in term.factors:
            number = as_number(word.text)
            if word.kind == "bare" and word.text not in columns and isinstance(number, float):
                if not math.isfinite(number):
                    raise NotUnderstood("a number in it is larger than numbers can be.")
                factor *= Fraction(repr(number))
            else:
                names.append(_added_column(word, columns))
        if abs(factor) > Fraction(2) ** 1023:
            raise NotUnderstood("a number in it is larger than numbers can be.")
        terms.append((factor, tuple(names)))
    return terms


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
            shares[names[0]] += factor * worth[names[0]]
        else:
            added += factor
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
        raise NotUnderstood(_between(fact, name, columns))
    if low > last or high < first:
        raise NotUnderstood(f"the sum never lies within the bounds of '{name}'. Widen them.")
    return Linear(str(fact), name, factors, constant, unit, columns)


def _between(fact: Formula, name: str, columns: Mapping[str, Column]) -> str:
    """What to do where a sum may lie between two values of the column."""
    column = columns[name]
    half = _amount_text(column, half_step(column))
    what, more = f"the sum may lie between two values of '{name}'.", "Give it more `decimals` or"
    if is_date(column):
        more = "Give it"
        if not any(term.unit for term in fact.terms):
            what += (
                " A number that is added to a date counts days; if it counts something else, say "
                "so behind it (`arrival + stay minutes`)."
            )
    return f"{what} {more} a finer `step`, or say `within {half}`, which rounds it."


def _ends(factor: int, line: Grid, column: Column) -> tuple[int, int]:
    """The least and largest of a column's values times a factor, in units of its last decimal."""
    last = line.first + line.step * last_step(column)
    ends = sorted((factor * line.first, factor * last))
    return ends[0], ends[1]


def column_of(word: Word, columns: Mapping[str, Column]) -> str:
    """The name of a column; raises NotUnderstood."""
    if word.kind == "bare" and (said := sum_without_blanks(word.text, columns)) is not None:
        raise NotUnderstood(said)
    if word.kind == "bare" and "/" in word.text and word.text.split("/")[0] in columns:
        raise NotUnderstood(f"{NO_DIVISION}.")
    if word.kind == "value" or word.text not in columns:
        raise NotUnderstood(f"{shown(word.text)} is not a column.{suggest(word.text, columns)}")
    return word.text


def _computed_column(word: Word, columns: Mapping[str, Column]) -> str:
    """A number or date that a formula may compute; raises NotUnderstood."""
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


def _added_column(word: Word, columns: Mapping[str, Column]) -> str:
    """Likewise one that may be added up: numbers may also be those of a list."""
    name = column_of(word, columns)
    return name if listed_numbers(columns[name]) is not None else _computed_column(word, columns)
