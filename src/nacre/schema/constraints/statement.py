"""The small language of constraints: `admitted <= discharged`, `age >= 18 if employed = yes`.

    statement = all ["if" all]
    all       = clause {"and" clause}
    clause    = word sign word [sign word]
              | word ["not"] "in" "[" word {"," word} "]"
              | word "is" ["not"] "missing"
    sign      = "=" | "!=" | "<" | "<=" | ">" | ">="

A word without quotes is the column of that name if there is one, and otherwise a value; "Never
married" in quotes is always a value, `marital status` in backticks always a column. Nothing is
computed and nothing runs: text becomes a tree of clauses or an error.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Container, Sequence
from typing import Any, Literal, TypeAlias, final

from nacre.errors import NacreError

KEYWORDS = ("if", "and", "or", "not", "in", "is", "missing")
OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
MIRRORED = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
SPELLINGS = {"==": "=", "≤": "<=", "≥": ">=", "≠": "!="}
TOKEN = re.compile(
    r"""(?P<value>"(?:[^"]|"")*"|'(?:[^']|'')*')
      | (?P<column>`(?:[^`]|``)+`)
      | (?P<sign><=|>=|!=|==|[=<>≤≥≠])
      | (?P<mark>[\[\],])
      | (?P<bare>[^\s"'`<>=!≤≥≠,\[\]()]+)""",
    re.VERBOSE,
)
BLANKS = re.compile(r"\s*")
SUMS = ("+", "-", "*", "/")
NO_SUMS = (
    "a constraint compares columns and values, and computes nothing. Say the sum as a fact "
    "(`total = a + b`), and compare that column."
)
FORM = "Write it like `start <= end`, `age >= 18 if employed = yes` or `ward in [a, b]`."


class NotUnderstood(NacreError):
    """A statement that is not of this language, with what to do."""


@final
@dataclasses.dataclass(frozen=True)
class Word:
    """A column or a value as it was written."""

    text: str
    kind: Literal["bare", "value", "column"] = "bare"

    @classmethod
    def of_column(cls, name: str) -> Word:
        """The word for a column, in backticks where it must be."""
        return cls(name, "bare" if _is_bare(name) else "column")

    @classmethod
    def of_value(cls, value: Any, names: Container[str]) -> Word:
        """The word for a value, in quotes where it could be something else."""
        text = value_text(value)
        return cls(text, "bare" if _is_bare(text) and text not in names else "value")

    def __str__(self) -> str:
        if self.kind == "bare":
            return self.text
        mark = '"' if self.kind == "value" else "`"
        return mark + self.text.replace(mark, 2 * mark) + mark


@final
@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two words and a sign between them."""

    left: Word
    sign: str
    right: Word

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}"


@final
@dataclasses.dataclass(frozen=True)
class Membership:
    """A column's value is, or is not, in a list."""

    column: Word
    values: tuple[Word, ...]
    negated: bool = False

    def __str__(self) -> str:
        listed = ", ".join(map(str, self.values))
        return f"{self.column} {'not in' if self.negated else 'in'} [{listed}]"


@final
@dataclasses.dataclass(frozen=True)
class Presence:
    """A column's value is missing, or is there."""

    column: Word
    missing: bool

    def __str__(self) -> str:
        return f"{self.column} is {'missing' if self.missing else 'not missing'}"


Clause: TypeAlias = Comparison | Membership | Presence
Clauses: TypeAlias = tuple[Clause, ...]


def parse(text: str) -> tuple[Clauses, Clauses]:
    """What a statement demands, and under which premise (empty for always)."""
    reader = Reader(text)
    demand = reader.clauses()
    premise = reader.clauses() if reader.skip("if") else ()
    reader.end()
    return demand, premise


def parse_all(text: str) -> Clauses:
    """Clauses joined by `and`, without a premise."""
    reader = Reader(text)
    found = reader.clauses()
    reader.end()
    return found


def joined(clauses: Sequence[Clause]) -> str:
    """The text of clauses."""
    return " and ".join(map(str, clauses))


def value_text(value: Any) -> str:
    """A value of Python as a statement writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _is_bare(text: str) -> bool:
    match = TOKEN.fullmatch(text)
    return match is not None and match.lastgroup == "bare" and text not in KEYWORDS


class Reader:
    """Reads one token after the other; `form` says in messages how statements look."""

    def __init__(self, text: str, form: str = FORM) -> None:
        self.form = form
        self.tokens: list[tuple[str, str]] = []
        place = 0
        while (place := _skip_blanks(text, place)) < len(text):
            match = TOKEN.match(text, place)
            if match is None:
                raise NotUnderstood(_odd(text[place], form))
            self.tokens.append((str(match.lastgroup), match[0]))
            place = match.end()
        self.tokens.reverse()

    def clauses(self) -> Clauses:
        """Clauses joined by `and`."""
        found = [*self.clause()]
        while self.skip("and"):
            found += self.clause()
        return tuple(found)

    def clause(self) -> Clauses:
        """One clause, or the two of `18 <= age <= 65`."""
        left = self.word()
        if self.skip("is"):
            there = self.skip("not")
            if not self.skip("missing"):
                raise NotUnderstood("after `is` stands `missing` or `not missing`.")
            return (Presence(left, not there),)
        negated = self.skip("not")
        if negated or self._next() == ("bare", "in"):
            if not self.skip("in"):
                raise NotUnderstood("after `not` stands `in` and a list.")
            return (Membership(left, self.listed(), negated),)
        first = Comparison(left, self.sign(), self.word())
        if not self.next_is_sign():
            return (first,)
        return first, Comparison(first.right, self.sign(), self.word())  # 18 <= age <= 65

    def listed(self) -> tuple[Word, ...]:
        """A list in brackets."""
        if not self.skip("["):
            raise NotUnderstood("after `in` stands a list in brackets, such as [a, b].")
        found = [self.word()]
        while self.skip(","):
            found.append(self.word())
        if not self.skip("]"):
            raise NotUnderstood("a list needs commas between its values and `]` at its end.")
        return tuple(found)

    def sign(self) -> str:
        """A sign, in its usual spelling."""
        kind, text = self._next()
        if text in SUMS:
            raise NotUnderstood(NO_SUMS)
        if kind != "sign":
            raise NotUnderstood(
                f"a sign such as `<=` or `=` is needed {_before(text)}. {self.form}{_hint(text)}"
            )
        self.tokens.pop()
        return SPELLINGS.get(text, text)

    def word(self) -> Word:
        """A column or a value."""
        kind, text = self._next()
        if kind not in ("bare", "value", "column") or (kind == "bare" and text in KEYWORDS):
            raise NotUnderstood(f"a column or a value is needed {_before(text)}. {self.form}")
        self.tokens.pop()
        if kind == "bare":
            return Word(text)
        mark = text[0]
        inner = text[1:-1].replace(2 * mark, mark)
        return Word(inner, "value" if kind == "value" else "column")

    def next_is_sign(self) -> bool:
        """Whether a sign such as `<=` comes next."""
        return self._next()[0] == "sign"

    @property
    def ahead(self) -> str:
        """What comes next, as it is written; nothing at the end."""
        return self._next()[1]

    def skip(self, text: str) -> bool:
        """Whether this keyword or mark comes next; if so it is read."""
        kind, found = self._next()
        if found != text or kind not in ("bare", "mark"):
            return False
        self.tokens.pop()
        return True

    def end(self) -> None:
        """Refuse what is too much."""
        if self._next()[1] in SUMS:
            raise NotUnderstood(NO_SUMS)
        if self.tokens:
            text = self.tokens[-1][1]
            raise NotUnderstood(f"`{text[:30]}` is too much at the end.{_hint(text)}")

    def _next(self) -> tuple[str, str]:
        return self.tokens[-1] if self.tokens else ("end", "")


def _skip_blanks(text: str, place: int) -> int:
    match = BLANKS.match(text, place)
    return place if match is None else match.end()


def _before(text: str) -> str:
    return f"before `{text[:30]}`" if text else "at the end"


def _hint(text: str) -> str:
    if text == "or":
        return " There is no `or`: use `in [a, b]`, or `forbid`."
    if text in KEYWORDS or not text:
        return ""
    return " Put a value with blanks or signs in quotes, a column's name in backticks."


def _odd(sign: str, form: str) -> str:
    if sign in "\"'`":
        return f"a {sign} is not closed."
    if sign in "()":
        return f"`{sign}` is not known here: write it without brackets. {form}"
    return f"`{sign}` is not known here. {form} Put a value that holds it in quotes."
