"""From the words of a clause to a condition on a schema's columns, or what is wrong with it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from nacre.schema.columns.column import Column, as_number, shown
from nacre.schema.columns.listed import as_integer, type_text
from nacre.schema.columns.scale import Scale
from nacre.schema.columns.span import Spans, join, meet, outside
from nacre.schema.constraints.condition import Among, Condition, Order
from nacre.schema.constraints.statement import (
    MIRRORED,
    Clause,
    Comparison,
    Membership,
    NotUnderstood,
    Presence,
    Word,
)
from nacre.schema.suggest import suggest

DENSE = (
    "is a real number without `decimals`, of which hardly any two rows share one. Give it "
    "`decimals`, or use a range"
)


def bind(clause: Clause, columns: Mapping[str, Column]) -> Condition:
    """The condition that a clause stands for; raises NotUnderstood."""
    if isinstance(clause, Presence):
        return presence(_column(clause.column, columns), columns, missing=clause.missing)
    if isinstance(clause, Membership):
        name = _column(clause.column, columns)
        if any(word.kind == "column" for word in clause.values):
            raise NotUnderstood("a list holds values, not columns.")
        spans = among(name, [word.text for word in clause.values], columns)
        return Among(name, _outside(spans, name, columns) if clause.negated else spans)
    left, right = (_is_column(word, columns) for word in (clause.left, clause.right))
    if left and right:
        return _order(clause, columns)
    if left:
        return _compare(clause.left.text, clause.sign, clause.right.text, columns)
    if right:
        return _compare(clause.right.text, MIRRORED[clause.sign], clause.left.text, columns)
    words = [word for word in (clause.left, clause.right) if word.kind != "value"]
    raise NotUnderstood(_unknown((words or [clause.left])[0].text, columns))


def among(name: str, values: Sequence[Any], columns: Mapping[str, Column]) -> Spans:
    """The spans of some values of a column, each of which must be possible."""
    scale = Scale(columns[name])
    found = []
    for value in values:
        span = _span(name, value, columns)
        if scale.dense and scale.low < span[0] < scale.high:  # rows do pile up at the bounds
            raise NotUnderstood(f"'{name}' {DENSE}.")
        if (beside := scale.beside(span)) is not None:
            raise NotUnderstood(f"'{name}' is never {value}: {beside}.")
        if not meet((span,), ((scale.low, scale.high),)):
            raise NotUnderstood(_never(name, f"{shown(value)} is never its value", scale))
        found.append(span)
    return join(found)


def between(name: str, low: Any, high: Any, columns: Mapping[str, Column]) -> Spans:
    """The spans of a range, both ends included; an end that is None is open."""
    scale = Scale(columns[name])
    if not scale.ordered:
        raise NotUnderstood(
            f"'{name}' has no order, so it has no range. Give a list of values instead."
        )
    first = scale.low if low is None else _span(name, low, columns)[0]
    last = scale.high if high is None else _span(name, high, columns)[1]
    ends = "the range" + "".join(
        f" {word} {shown(end)}" for word, end in (("from", low), ("to", high)) if end is not None
    )
    if first > last and None not in (low, high):
        raise NotUnderstood(f"'{name}': {ends} is empty.")
    spans = meet(join([(first, last)]), ((scale.low, scale.high),))
    if not spans:
        raise NotUnderstood(_never(name, f"{ends} lies outside", scale))
    return spans


def presence(name: str, columns: Mapping[str, Column], *, missing: bool) -> Among:
    """That a value is missing, or is there."""
    if missing and not columns[name].nullable:
        raise NotUnderstood(
            f"'{name}' is never missing. Set `nullable: true` if its values may be."
        )
    scale = Scale(columns[name])
    return Among(name, () if missing else ((scale.low, scale.high),), gap=missing)


def _compare(name: str, sign: str, value: str, columns: Mapping[str, Column]) -> Among:
    if sign in ("=", "!="):
        spans = among(name, [value], columns)
        return Among(name, spans if sign == "=" else _outside(spans, name, columns))
    scale = Scale(columns[name])
    if not scale.ordered:
        raise NotUnderstood(f"'{name}' has no order, so `{sign}` says nothing. Use =, != or in.")
    first, last = _span(name, value, columns)
    below = scale.before(first) if first <= last else last  # 17.5 lies between 17 and 18
    above = scale.after(last) if first <= last else first
    span = {
        "<": (scale.low, below),
        "<=": (scale.low, last),
        ">": (above, scale.high),
        ">=": (first, scale.high),
    }[sign]
    if not (spans := join([span])):
        raise NotUnderstood(_never(name, f"`{name} {sign} {value}` never holds", scale))
    return Among(name, spans)


def _order(clause: Comparison, columns: Mapping[str, Column]) -> Order:
    left, right = clause.left.text, clause.right.text
    one, other = Scale(columns[left]), Scale(columns[right])
    for word, scale in ((clause.left, other), (clause.right, one)):
        if word.kind == "bare" and word.text in scale.names:
            raise NotUnderstood(
                f"'{word.text}' is both a column and a value. Write it in quotes for the value, "
                "in backticks for the column."
            )
    if left == right:
        raise NotUnderstood(f"'{left}' is compared with itself.")
    if one.kind != other.kind:
        kinds = [f"'{name}' is {columns[name].type}" for name in (left, right)]
        what = _comparable((left, right), columns)
        raise NotUnderstood(f"{' and '.join(kinds)}, which cannot be compared. {what}")
    equal = clause.sign in ("=", "!=")
    if equal and (one.dense or other.dense):
        raise NotUnderstood(f"'{left if one.dense else right}' {DENSE}.")
    if not equal and not (one.ordered and other.ordered and one.names == other.names):
        raise NotUnderstood(
            f"'{left}' and '{right}' have no common order, so `{clause.sign}` says nothing. "
            f"{_comparable((left, right), columns)}"
        )
    if one.names == other.names:
        return Order(left, clause.sign, right)
    shared = {name: place for place, name in enumerate(dict.fromkeys((*one.names, *other.names)))}
    places = tuple(tuple(shared[name] for name in scale.names) for scale in (one, other))
    return Order(left, clause.sign, right, (places[0], places[1]))


def _comparable(names: tuple[str, str], columns: Mapping[str, Column]) -> str:
    """What would make two columns comparable."""
    whole = {name: as_integer(columns[name]) for name in names}
    numbers = [name for name in names if Scale(columns[name]).kind == "number"]
    lists = {name: found for name, found in whole.items() if found is not None}
    if lists and len(lists) + len(numbers) == len(names):
        said = " and ".join(f"'{name}' be {type_text(each)}" for name, each in lists.items())
        return f"A list of whole numbers compares if the column is an integer: let {said}."
    return (
        "Numbers compare with numbers, dates with dates, times of day with times of day, and lists "
        "with those of the same values in the same order."
    )


def _outside(spans: Spans, name: str, columns: Mapping[str, Column]) -> Spans:
    scale = Scale(columns[name])
    return outside(spans, scale.low, scale.high, scale.before, scale.after)


def _span(name: str, value: Any, columns: Mapping[str, Column]) -> tuple[float, float]:
    try:
        return Scale(columns[name]).span(value)
    except ValueError as error:
        if isinstance(value, str) and (said := sum_without_blanks(value, columns)) is not None:
            raise NotUnderstood(said) from None
        own = difflib.get_close_matches(str(value), Scale(columns[name]).names or (), 1)
        close = difflib.get_close_matches(str(value), columns, 1)
        hint = f" Did you mean the column '{close[0]}'?" if close else ""
        hint = f" Did you mean '{own[0]}'?" if own else hint
        raise NotUnderstood(f"'{name}': {error}.{hint}") from None


def _is_column(word: Word, columns: Mapping[str, Column]) -> bool:
    if word.kind == "column" and word.text not in columns:
        raise NotUnderstood(_unknown(word.text, columns))
    return word.kind != "value" and word.text in columns


def _column(word: Word, columns: Mapping[str, Column]) -> str:
    if not _is_column(word, columns):
        raise NotUnderstood(_unknown(word.text, columns))
    return word.text


def _unknown(name: str, columns: Mapping[str, Column]) -> str:
    if (said := sum_without_blanks(name, columns)) is not None:
        return said
    return f"{shown(name)} is not a column.{suggest(name, columns)}"


def sum_without_blanks(text: str, columns: Mapping[str, Column]) -> str | None:
    """What to say of `a+b`, which is one word here; None if it is none of these."""
    parts = [part for part in re.split(r"[+*-]", text) if part]
    if len(parts) < 2 or not all(part in columns or _is_number(part) for part in parts):
        return None
    if not any(part in columns for part in parts):  # 2024-12 or 100-200
        return None
    apart = " ".join(re.split(r"\s*([+*-])\s*", text))
    return (
        f"{shown(text)} is one word, as a name may hold such a sign. Put blanks around it: "
        f"`{apart}`. Only facts compute; a constraint compares columns and values."
    )


def _is_number(text: str) -> bool:
    return isinstance(as_number(text), float)


def _never(name: str, what: str, scale: Scale) -> str:
    column = scale.column
    bounds = f"{getattr(column, 'low', scale.low)} to {getattr(column, 'high', scale.high)}"
    return f"{what}: '{name}' goes from {bounds}."
