"""Dates, times of day and units of time in a formula: everything is counted in days.

A date plus a number of days is a date, and a date minus a date a number of days; so the factors of
all dates add up to 1 where a date is computed and to 0 where a number is.  So it is with times of
day, of which numbers need a unit: a day leads out of every day.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from nacre.schema.columns.clock import Time
from nacre.schema.columns.column import Column
from nacre.schema.columns.timed import Timed
from nacre.schema.constraints.statement import NotUnderstood
from nacre.schema.facts.amounts import half_step
from nacre.schema.facts.statement import Formula, parse
from nacre.schema.facts.units import UNITS, days
from nacre.schema.table import listed

Terms = list[tuple[Fraction, tuple[str, ...]]]
DATES = (
    "A date plus a number of days is a date (`departure = arrival + nights`), a date minus a date "
    "a number of days (`nights = departure - arrival`); another unit stands behind the number "
    "(`discharge = arrival + stay minutes`)"
)


def is_date(column: Column) -> bool:
    """Whether it holds points in time, or times of day."""
    return isinstance(column, Timed)


def kind_of(column: Column) -> str:
    """What messages call it."""
    return "time of day" if isinstance(column, Time) else "date"


def count_in_days(fact: Formula, name: str, terms: Terms, columns: Mapping[str, Column]) -> Terms:
    """The terms in the unit of what is computed: days, or its own; raises NotUnderstood."""
    dates = [(f, names) for f, names in terms if any(is_date(columns[each]) for each in names)]
    _refuse_dates(fact, name, dates, columns)
    _refuse_mixed(name, dates, columns)
    _refuse_units(fact, name, columns, dated=bool(dates) or is_date(columns[name]))
    own = days(fact.unit)
    return [
        (factor * days(term.unit) / own, names)
        for (factor, names), term in zip(terms, fact.terms, strict=True)
    ]


def tolerance(fact: Formula, name: str, columns: Mapping[str, Column]) -> Fraction:
    """How far off the column may be, in days or its own unit; half a step if nothing is said."""
    if fact.within is None:
        return half_step(columns[name])
    within = Fraction(repr(fact.within))
    if fact.percent:
        return within / 100
    return within * days(fact.within_unit) / days(fact.unit) if fact.within_unit else within


def days_hint(text: str, columns: Mapping[str, Column]) -> str:
    """What to say where rows break a fact that adds numbers without a unit to dates."""
    fact = parse(text)
    if not isinstance(fact, Formula) or fact.unit or any(term.unit for term in fact.terms):
        return ""
    words = [fact.column, *(word for term in fact.terms for word in term.factors)]
    named = [word for word in words if word.text in columns]
    numbers = [str(word) for word in named if not is_date(columns[word.text])]
    if not numbers or len(numbers) == len(named):
        return ""
    return (
        f"`{numbers[0]}` counts days there; if it counts something else, write that behind it: "
        f"`{numbers[0]} minutes`."
    )


def _refuse_dates(fact: Formula, name: str, dates: Terms, columns: Mapping[str, Column]) -> None:
    """Dates that are multiplied, added to each other, or come out where a number should."""
    mentioned = list(
        dict.fromkeys(each for _, names in dates for each in names if is_date(columns[each]))
    )
    called = {kind_of(columns[each]) for each in mentioned}
    many = "dates" if called == {"date"} else "times"
    one = f"is a {min(called, default='date')}"
    kinds = f"{listed(mentioned)} {one if len(mentioned) == 1 else f'are {many}'}"
    if any(len(names) > 1 for _, names in dates):
        raise NotUnderstood(f"{kinds}, and a date is not multiplied by a column. {DATES}.")
    total = sum((factor for factor, _ in dates), Fraction(0))
    if total not in (0, 1):
        raise NotUnderstood(f"{kinds}, and this adds up to neither a date nor a number. {DATES}.")
    if is_date(columns[name]) and fact.percent:
        raise NotUnderstood(
            f"'{name}' is a {kind_of(columns[name])}, which has no percent. Say `within 1`, in "
            "days, or `within 30 minutes`."
        )
    if is_date(columns[name]) and not total:
        kind = kind_of(columns[name])
        raise NotUnderstood(f"'{name}' is a {kind}, and this adds up to a number. {DATES}.")
    if not is_date(columns[name]) and total:
        raise NotUnderstood(
            f"'{name}' is {columns[name].type}, and this adds up to a date. {DATES}."
        )


def _refuse_mixed(name: str, dates: Terms, columns: Mapping[str, Column]) -> None:
    """Dates beside times of day."""
    timed = [each for each in (name, *(n for _, ns in dates for n in ns)) if is_date(columns[each])]
    by_kind = {kind_of(columns[each]): each for each in timed}
    if len(by_kind) > 1:
        raise NotUnderstood(
            f"'{by_kind['date']}' is a date and '{by_kind['time of day']}' a time of day, which do "
            "not add up. Use two dates, or two times of day."
        )


def _refuse_units(fact: Formula, name: str, columns: Mapping[str, Column], *, dated: bool) -> None:
    """Units of what has none, and numbers without one where others have one."""
    numbers = []
    for term in fact.terms:
        date = [w.text for w in term.factors if w.text in columns and is_date(columns[w.text])]
        if date and term.unit:
            raise NotUnderstood(_no_unit(date[0], fact, columns[name], term.unit))
        if not date:
            numbers.append(term)
    if fact.unit and is_date(columns[name]):
        raise NotUnderstood(_no_unit(name, fact, columns[name], fact.unit))
    if fact.within_unit and fact.percent:
        raise NotUnderstood("a percentage has no unit. Say `within 2%` or `within 5 minutes`.")
    counted = any(term.unit for term in numbers) or fact.unit
    bare = [str(term) for term in numbers if not term.unit]
    words = [fact.column, *(word for term in fact.terms for word in term.factors)]
    if any(isinstance(columns.get(word.text), Time) for word in words):
        if not is_date(columns[name]) and not fact.unit:
            bare = [str(fact.column), *bare]
        if bare:
            raise NotUnderstood(f"say what `{bare[0]}` counts: `{bare[0]} minutes`. {UNITS}.")
    if counted and bare:
        raise NotUnderstood(f"say what `{bare[0]}` counts, too: `{bare[0]} days`. {UNITS}.")
    if (counted or fact.within_unit) and not dated and not fact.unit:
        raise NotUnderstood(
            f"say what '{name}' counts, too: `{fact.column} minutes = ...`. {UNITS}."
        )


def _no_unit(date: str, fact: Formula, computed: Column, unit: str) -> str:
    if not is_date(computed):
        written = f"`{fact.column} {unit} = ...`"
        return f"'{date}' is a date. The unit stands behind the number that counts it: {written}."
    return f"'{date}' is a date, and a unit stands behind a number. {DATES}."
