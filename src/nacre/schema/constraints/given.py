"""Conditions on what is sampled: `where={"age": (30, 40)}` and `--where age=30..40`."""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from nacre.errors import NacreError, a_kind
from nacre.schema.columns.column import MISSING, Column, shown
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.binding import among, between, presence
from nacre.schema.constraints.condition import Among
from nacre.schema.constraints.constraint import Rule
from nacre.schema.constraints.statement import NotUnderstood, value_text
from nacre.schema.suggest import suggest
from nacre.schema.table import listed

TO = ".."
RANGES = (
    r"(?P<low>.+?)\s+to\s+(?P<high>.+)",
    r"(?P<low>.+?)\s*\N{EN DASH}\s*(?P<high>.+)",
    r"(?P<low>.+?)\s*-\s*(?P<high>.+)",
    r">=?\s*(?P<low>.+)",
    r"<=?\s*(?P<high>.+)",
    r"[\[(](?P<low>[^,]+),(?P<high>[^,]+)[\])]",
    r"(?P<low>.+?)\s*(?:\+|-|plus|(?:or|and)\s+(?:more|over|above|older|later|up))",
    r"(?:over|above|from|since|at least)\s+(?P<low>.+)",
    r"(?P<high>.+?)\s*(?:(?:or|and)\s+(?:less|fewer|under|below|younger|earlier))",
    r"(?:under|below|until|up to|at most)\s+(?P<high>.+)",
)
EXAMPLES = {
    "number": ("number", "18..65, 80.., ..5"),
    "time": ("date", "2024-01-01..2024-06-30, 2024-07-01.., ..2023-12-31"),
    "clock": ("time of day", "08:00..11:59, 18:00.., ..07:30"),
}


def given(where: Mapping[str, Any], columns: Mapping[str, Column]) -> tuple[Rule, ...]:
    """Conditions as rules that a missing value does not satisfy; raises ValueError.

    A value, a list of values, None (or NaN, NA, NaT, "missing") for missing, or a tuple (low, high)
    with both ends included, of which one may be None.
    """
    if not isinstance(where, Mapping):
        raise NacreError(
            "`where` must be a dictionary of conditions by column, such as {'age': (30, 40)}, got "
            f"{a_kind(where)}."
        )
    return tuple(_rule(name, value, columns) for name, value in where.items())


def _rule(name: str, value: Any, columns: Mapping[str, Column]) -> Rule:
    if name not in columns:
        raise NacreError(
            f"There is no column '{name}'.{suggest(name, columns)} The columns are "
            f"{listed(columns)}."
        )
    if _is_gap(value, columns[name]):
        return _fixed(f"{name} is missing", _gap(name, columns))
    if isinstance(value, tuple):
        if len(value) != 2 or value == (None, None):
            raise NacreError(
                f"'{name}': a tuple is a range (low, high), of which one may be None. Write a list "
                "for several values."
            )
        low, high = ("" if end is None else value_text(end) for end in value)
        spans = between(name, *value, columns)
        return _fixed(f"{name} = {low}{TO}{high}", Among(name, spans, gap=False))
    if not isinstance(value, list | set | frozenset):
        text = f"{name} = {value_text(value)}"
        return _fixed(text, Among(name, among(name, [value], columns), gap=False))
    there = [each for each in value if not _is_gap(each, columns[name])]
    if not value:
        raise NacreError(f"'{name}': an empty list leaves no row. Give at least one value.")
    if len(there) < len(value):
        _gap(name, columns)  # refuses columns that have no gaps
    texts = sorted(map(value_text, there)) + [MISSING] * (len(there) < len(value))
    spans = among(name, there, columns)
    return _fixed(f"{name} = {','.join(texts)}", Among(name, spans, gap=len(there) < len(value)))


def _gap(name: str, columns: Mapping[str, Column]) -> Among:
    if not columns[name].nullable:
        raise NacreError(
            f"'{name}' is never missing, as its schema does not say `nullable: true`. Ask for "
            "values of it, or leave this condition out."
        )
    return presence(name, columns, missing=True)


def _is_gap(value: Any, column: Column) -> bool:
    """Whether a missing value is meant: by None, a code for one, or the word, if no value is it."""
    if not isinstance(value, str):
        return _is_missing(value)
    return value in column.missing or _is_word(value, column)


def _is_word(value: str, column: Column) -> bool:
    """Whether it is the word "missing", and no value in any case that might be meant by it."""
    return value.strip().casefold() == MISSING and (
        MISSING not in map(str.casefold, Scale(column).names)
    )


def _is_missing(value: Any) -> bool:
    """None, and what frames write for it: NaN and NaT, which are not themselves, and pandas.NA."""
    if isinstance(value, float | datetime.datetime | np.generic):
        return bool(value != value)
    return value is None or type(value).__name__ == "NAType"  # pandas need not be there


def _fixed(text: str, condition: Among) -> Rule:
    return Rule(text, "fixed", (condition,))


def read_given(said: Mapping[str, str], columns: Mapping[str, Column]) -> dict[str, Any]:
    """Conditions from text, as for `given`: a value, `a,b`, `low..high`, or `missing` or nothing.

    Text that is a value as it stands is that value, also with a comma or two dots in it, or if it
    is "missing"; in a list such a value stands in double quotes.
    """
    return {name: _read(name, text, columns) for name, text in said.items()}


def _read(name: str, text: str, columns: Mapping[str, Column]) -> Any:
    if name not in columns or not text or _is_gap(text, columns[name]):
        return text or None
    try:
        Scale(columns[name]).span(text)
        return text
    except ValueError:
        pass
    low, dots, high = text.partition(TO)
    if dots and Scale(columns[name]).ordered:
        return low.strip() or None, high.strip() or None
    if Scale(columns[name]).ordered and (range_ := _range(text, columns[name])) is not None:
        both = not (range_.startswith(TO) or range_.endswith(TO))
        ends = "both ends included" if both else "its end included"
        raise NotUnderstood(f"'{name}': write {text} as {range_}, {ends}.")
    try:
        (values,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise NotUnderstood(f"'{name}': the quotes in {text} do not match.") from None
    if len(values) == 1 and Scale(columns[name]).measured:
        kind, ranges = EXAMPLES[Scale(columns[name]).kind]
        raise NotUnderstood(
            f"'{name}': {shown(text)} is not a {kind}. Write a {kind}, several with commas between "
            f"them, or a range: {ranges}."
        )
    return [value.strip() for value in values] if len(values) > 1 else values[0]


def _range(text: str, column: Column) -> str | None:
    """What people write as `100-200`, `100 to 200`, `80+` or `>100`, as a range; None if none."""
    for form in RANGES:
        if (found := re.fullmatch(form, text.strip())) is not None:
            low, high = ((found.groupdict().get(end) or "").strip() for end in ("low", "high"))
            try:
                for each in filter(None, (low, high)):
                    Scale(column).span(each)
            except ValueError:
                continue
            return f"{low}{TO}{high}"
    return None
