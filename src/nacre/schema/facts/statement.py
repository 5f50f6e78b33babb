"""The small language of facts: what follows from other columns in every row.

    - group determined by code: {A1: A, A2: A, B1: B}    a public look-up table
    - group determined by code if known: {A1: A}         likewise, and nothing where it is missing
    - living = above + basement                          a sum or difference, exact
    - departure = arrival + nights                       a date and days, exact
    - discharge = arrival + stay minutes                 a date and another unit of time
    - stay minutes = discharge - arrival                 the time between two dates
    - charges = months * price within 5                  a product, within rounding
    - discharged is missing exactly when status = open   a gap and its reason
    - diag2, diag3 are missing together                  one gap in several columns

Words are those of constraints: signs stand between blanks, names with blanks in backticks.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, TypeAlias, final

from nacre.schema.columns.column import as_number, as_whole, shown
from nacre.schema.constraints.statement import (
    Clauses,
    NotUnderstood,
    Presence,
    Reader,
    Word,
    joined,
    value_text,
)
from nacre.schema.constraints.statement import parse as parse_constraint
from nacre.schema.facts.units import read_unit, refuse_rest

FORMS = (
    "A fact is a statement such as `total = a + b`, `charges = months * price within 5`, "
    "`discharge = arrival + stay minutes`, `end is missing exactly when status = open` or `a, b "
    "are missing together`, or a look-up table {group determined by code: {A1: A}}."
)
CONSTRAINT = "it is a constraint, and no fact: write it under `constraints`."
HEAD = "A look-up table without its entries is a statement such as `group determined by code`."
MISSING, BOUGHT, IF_KNOWN = "missing", "bought", " if known"
MOST = 1_000_000  # releases that a schema might have
PURCHASE = "[0-9a-f]{16}|[0-9a-f]{8}"  # a release's fingerprint; or, earlier, the id in its name
Plain: TypeAlias = "str | dict[str, Any]"


@final
@dataclasses.dataclass(frozen=True)
class Determined:
    """A column that another one determines, by a table of (values of that one, value).

    Attributes:
        known: only where that one is known; elsewhere the column may have any value.
        bought: which of the schema's `releases` the table is from, the first being 1; 0 for none.
        purchase: the fingerprint of this release; of earlier versions the random id in its name,
            or nothing.
    """

    column: Word
    by: Word
    table: tuple[tuple[str, str], ...]
    bought: int = 0
    purchase: str = ""
    known: bool = False

    def __str__(self) -> str:
        return f"{self.column} determined by {self.by}{IF_KNOWN * self.known}"

    def plain(self) -> Plain:
        """The form that is written to files."""
        mark = {BOUGHT: self.mark} if self.bought else {}
        return {str(self): dict(self.table), **mark}

    @property
    def mark(self) -> int | str:
        """Of which release it is, as it is written: `2-5d0e8c1f9a27b346`; earlier also `2`."""
        return f"{self.bought}-{self.purchase}" if self.purchase else self.bought


@final
@dataclasses.dataclass(frozen=True)
class Term:
    """A product of columns and numbers, added or taken away; `unit` is the time that it counts."""

    factors: tuple[Word, ...]
    negative: bool = False
    unit: str = ""

    def __str__(self) -> str:
        return _counted(" * ".join(map(str, self.factors)), self.unit)


@final
@dataclasses.dataclass(frozen=True)
class Formula:
    """A column that is a sum of terms, exactly or `within` so much (in percent: of the sum).

    Attributes:
        unit: the time that the column counts.
        within_unit: the time that `within` counts.
    """

    column: Word
    terms: tuple[Term, ...]
    within: float | None = None
    percent: bool = False
    unit: str = ""
    within_unit: str = ""

    def __str__(self) -> str:
        text = f"{_counted(str(self.column), self.unit)} = {self.terms[0]}"
        for term in self.terms[1:]:
            text += f" {'-' if term.negative else '+'} {term}"
        if self.within is None:
            return text
        within = f"{value_text(self.within)}{'%' * self.percent}"
        return f"{text} within {_counted(within, self.within_unit)}"

    def plain(self) -> Plain:
        """The form that is written to files."""
        return str(self)


@final
@dataclasses.dataclass(frozen=True)
class Gap:
    """A column that is missing exactly when all clauses are true."""

    column: Word
    clauses: Clauses

    def __str__(self) -> str:
        return f"{self.column} is missing exactly when {joined(self.clauses)}"

    def plain(self) -> Plain:
        """The form that is written to files."""
        return str(self)


@final
@dataclasses.dataclass(frozen=True)
class Together:
    """Columns that are missing in the same rows."""

    columns: tuple[Word, ...]

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.columns))} are missing together"

    def plain(self) -> Plain:
        """The form that is written to files."""
        return str(self)


Fact: TypeAlias = Determined | Formula | Gap | Together


def _counted(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text


def parse(said: Any) -> Fact:
    """A fact from its plain form; raises NotUnderstood."""
    if isinstance(said, Determined | Formula | Gap | Together):
        return said
    if isinstance(said, str):
        try:
            return _statement(Reader(said, FORMS))
        except NotUnderstood:
            _refuse_constraint(said)
            raise
    if isinstance(said, Mapping) and {*said} <= {"forbid", "fixed"} and said:
        raise NotUnderstood(CONSTRAINT)
    if isinstance(said, Mapping) and len(said) == 1 + (BOUGHT in said):
        ((head, table),) = ((head, table) for head, table in said.items() if head != BOUGHT)
        if isinstance(head, str) and isinstance(table, Mapping) and table:
            found = _determined(Reader(head, FORMS), table)
            return _marked(found, said[BOUGHT]) if BOUGHT in said else found
    raise NotUnderstood(FORMS)


def _marked(fact: Determined, mark: Any) -> Determined:
    """The fact with the release that it is from, as `1-5d0e8c1f9a27b346`; earlier also `1`."""
    number, dash, purchase = mark.partition("-") if isinstance(mark, str) else (mark, "", "")
    place = as_whole(number)
    known = re.fullmatch(PURCHASE, purchase) if dash else True
    if type(place) is not int or not 1 <= place <= MOST or not known:
        raise NotUnderstood(
            f"`{BOUGHT}: {shown(mark)}` must say which of the schema's `releases` the table is "
            "from, the first being 1, and that one's fingerprint, as `1-5d0e8c1f9a27b346`. Put it "
            "back as it was written."
        )
    return dataclasses.replace(fact, bought=place, purchase=purchase)


def parse_head(said: str) -> Determined:
    """A look-up table of which only `group determined by code` is said; raises NotUnderstood."""
    found = _determined(Reader(said, HEAD), {})
    if found.known:
        raise NotUnderstood(
            "a table that is bought says what belongs to a missing code, too. Leave `if known` "
            "out, or state the table if it is public."
        )
    return found


def _determined(reader: Reader, table: Mapping[Any, Any]) -> Determined:
    column = reader.word()
    reader.skip("is")
    if not (reader.skip("determined") and reader.skip("by")):
        raise NotUnderstood(reader.form)
    by = reader.word()
    known = reader.skip("if")
    if known and not reader.skip("known"):
        raise NotUnderstood(f"after `if` stands `known`: `{column} determined by {by} if known`.")
    reader.end()
    entries = ((_text(key), _text(value)) for key, value in table.items())
    return Determined(column, by, tuple(entries), known=known)


def _text(value: Any) -> str:
    return MISSING if value is None else value_text(value)


def _statement(reader: Reader) -> Fact:
    first = reader.word()
    if reader.skip("is"):
        for word in ("missing", "exactly", "when"):
            if not reader.skip(word):
                raise NotUnderstood(f"after `is` stands `missing exactly when`. {FORMS}")
        clauses = reader.clauses()
        reader.end()
        return Gap(first, clauses)
    unit = read_unit(reader)
    if reader.next_is_sign():
        if reader.sign() != "=":
            raise NotUnderstood(f"a fact says `=`; other signs make a constraint. {FORMS}")
        return _formula(reader, first, unit)
    if any(reader.skip(sign) for sign in ("+", "-", "*")):
        raise NotUnderstood(
            "what is computed stands alone on the left: write `d = a + b`, not `a + b = d`."
        )
    columns = [first]
    while reader.skip(",") or reader.skip("and"):
        columns.append(reader.word())
    if len(columns) < 2 or not all(reader.skip(w) for w in ("are", "missing", "together")):
        raise NotUnderstood(FORMS)
    reader.end()
    return Together(tuple(columns))


def _refuse_constraint(said: str) -> None:
    """Say where it belongs, if it is a constraint."""
    try:
        demands, premise = parse_constraint(said)
    except NotUnderstood:
        return
    one_way = premise and any(isinstance(each, Presence) for each in demands)
    both = " A fact says exactly where: `end is missing exactly when status = open`."
    raise NotUnderstood(f"{CONSTRAINT}{both if one_way else ''}")


def _formula(reader: Reader, column: Word, unit: str) -> Formula:
    terms = [_term(reader, negative=False)]
    while (plus := reader.skip("+")) or reader.skip("-"):
        terms.append(_term(reader, negative=not plus))
    within, percent, within_unit = None, False, ""
    if reader.skip("within"):
        text = reader.word().text
        percent = text.endswith("%") or reader.skip("%")
        within = as_number(text.removesuffix("%"))
        if not isinstance(within, float) or not 0 < within < float("inf"):
            raise NotUnderstood(
                "after `within` stands a number above 0, such as 5, 2% or 30 seconds."
            )
        within_unit = read_unit(reader)
    refuse_rest(reader)
    return Formula(column, tuple(terms), within, percent, unit, within_unit)


def _term(reader: Reader, *, negative: bool) -> Term:
    factors = [reader.word()]
    while reader.skip("*"):
        factors.append(reader.word())
    return Term(tuple(factors), negative, read_unit(reader))
