"""Constraints: public facts that every sampled row satisfies, as statements that people read.

    - admitted <= discharged                          a range between columns
    - age >= 18 if employed = yes                     a rule
    - forbid: {sex: Male, pregnant: yes}              a combination that does not occur
    - fixed: {country: US}                            one value in every row, never missing

A row breaks a constraint only if it surely does: a comparison with a missing value breaks nothing.
They bind what is sampled, which is post-processing and costs no privacy. What is fitted is bound by
none; some let a difference be fitted in place of a column (`nacre.rows.differences`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, final

import numpy as np

from nacre.schema.columns.column import Column, shown
from nacre.schema.constraints.binding import bind
from nacre.schema.constraints.condition import Among, ColumnValues, Condition, Mask
from nacre.schema.constraints.statement import (
    Clause,
    Clauses,
    Comparison,
    Membership,
    NotUnderstood,
    Presence,
    Word,
    joined,
    parse,
    parse_all,
)
from nacre.schema.facts.statement import parse as parse_fact

Kind = Literal["rule", "forbid", "fixed"]
KINDS: dict[Any, Kind] = {"forbid": "forbid", "fixed": "fixed"}
Said: TypeAlias = "str | Mapping[str, Any] | Constraint"
MOST, LETTERS = 1_000, 200_000  # statements in a schema, and their length together
FORMS = (
    "A constraint is a statement such as `start <= end`, or {forbid: ...}, or {fixed: ...} with a "
    "mapping from columns to values."
)


@final
@dataclasses.dataclass(frozen=True)
class Constraint:
    """One constraint as it was said, not yet bound to columns.

    Attributes:
        kind: "rule" (demands hold wherever the premise does), "forbid" (the demands never hold
            all together) or "fixed" (each column has its value in every row).
        demands: what it says.
        premise: when; empty for always.
    """

    kind: Kind
    demands: Clauses
    premise: Clauses = ()

    def __str__(self) -> str:
        text = joined(self.demands)
        if self.kind != "rule":
            return f"{self.kind}: {text}"
        return f"{text} if {joined(self.premise)}" if self.premise else text

    @classmethod
    def of(cls, said: Said, names: Iterable[str]) -> Constraint:
        """A constraint from its plain form; raises NotUnderstood."""
        if isinstance(said, Constraint):
            return said
        if isinstance(said, str):
            try:
                return cls("rule", *parse(said))
            except NotUnderstood:
                _refuse_fact(said)
                raise
        if not isinstance(said, Mapping) or len(said) != 1:
            raise NotUnderstood(FORMS)
        _refuse_fact(said)
        ((word, what),) = said.items()
        if word not in KINDS:
            raise NotUnderstood(f"{shown(word)} is not known here. {FORMS}")
        kind = KINDS[word]
        if isinstance(what, str):
            return cls(kind, parse_all(what))
        if not isinstance(what, Mapping) or not what:
            raise NotUnderstood(FORMS)
        known = frozenset(names)
        return cls(kind, tuple(_clause(name, value, known) for name, value in what.items()))

    def plain(self) -> str | dict[str, str]:
        """The form that is written to files."""
        if self.kind == "rule":
            return str(self)
        return {self.kind: joined(self.demands)}

    def bind(self, columns: Mapping[str, Column]) -> Rule:
        """The constraint bound to columns; raises NotUnderstood."""
        demands = [bind(clause, columns) for clause in self.demands]
        premise = tuple(bind(clause, columns) for clause in self.premise)
        if self.kind == "fixed":
            if not all(_fixes(clause) for clause in self.demands):
                raise NotUnderstood("`fixed` gives one value to each column, such as {a: x}.")
            demands = [_surely(condition) for condition in demands]
        return Rule(str(self), self.kind, tuple(demands), premise)


@final
@dataclasses.dataclass(frozen=True)
class Rule:
    """A constraint that can be tried on rows; `text` is how messages name it."""

    text: str
    kind: Kind
    demands: tuple[Condition, ...]
    premise: tuple[Condition, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The columns that it speaks of."""
        conditions = (*self.demands, *self.premise)
        return frozenset(name for condition in conditions for name in condition.names)

    @property
    def parts(self) -> tuple[Rule, ...]:
        """Rules of one demand each that say the same together; one that forbids has no parts."""
        if self.kind == "forbid":
            return (self,)
        return tuple(dataclasses.replace(self, demands=(each,)) for each in self.demands)

    def holds(self, view: ColumnValues) -> Mask:
        """Which rows do not break it."""
        if self.kind == "forbid":
            return ~_all_true(self.demands, view)
        if self.kind == "fixed":
            return _all_true(self.demands, view)
        false = np.zeros(view.rows, bool)
        for condition in self.demands:
            false |= condition.truth(view)[1]
        return ~(false & _all_true(self.premise, view)) if self.premise else ~false


def understand(
    said: Any, columns: Mapping[str, Column], *, known: bool
) -> tuple[tuple[Constraint, ...], list[str]]:
    """Constraints from their plain forms, and what is wrong with them.

    With `known` false the columns themselves have problems, and only the form is looked at.
    """
    if isinstance(said, str | Mapping) or not isinstance(said, Iterable):
        return (), ["`constraints` must be a list of statements such as `start <= end`."]
    said = list(said)
    letters = sum(len(str(each)) for each in said if not isinstance(each, Constraint))
    if len(said) > MOST or letters > LETTERS:
        return (), [
            f"`constraints` may hold {MOST:,} statements, of {LETTERS:,} letters together, which "
            "can be checked for contradictions. Leave some out, or filter sampled rows by `keep`."
        ]
    constraints: dict[Constraint, None] = {}
    problems = []
    for place, each in enumerate(said, 1):
        try:
            constraint = Constraint.of(each, columns)
            if constraint in constraints:
                raise NotUnderstood("it is there twice. Remove one.")
            constraints[constraint] = None
            if known:
                constraint.bind(columns)
        except NotUnderstood as error:
            problems.append(f"constraint {place} ({_short(each)}): {error}")
    return tuple(constraints), problems


def _refuse_fact(said: Any) -> None:
    """Say where it belongs, if it is a fact."""
    try:
        parse_fact(said)
    except NotUnderstood:
        return
    raise NotUnderstood("it is a fact, and no constraint: write it under `facts`.")


def _clause(name: Any, value: Any, names: frozenset[str]) -> Clause:
    if not isinstance(name, str) or name not in names:
        raise NotUnderstood(f"{shown(name)} is not a column.")
    column = Word.of_column(name)
    if value is None:
        return Presence(column, missing=True)
    if isinstance(value, list | tuple | set | frozenset):
        values = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        if not values or any(item is None for item in values):
            raise NotUnderstood(f"'{name}': an empty list, or a missing value in one.")
        return Membership(column, tuple(Word.of_value(item, names) for item in values))
    return Comparison(column, "=", Word.of_value(value, names))


def _short(said: Any) -> str:
    """A constraint as messages about it start."""
    if isinstance(said, Mapping):
        said = ", ".join(f"{key}: {value}" for key, value in said.items())
    return f"`{shown(str(said))[1:-1]}`"


def _fixes(clause: Clause) -> bool:
    return (isinstance(clause, Comparison) and clause.sign == "=") or (
        isinstance(clause, Presence) and clause.missing
    )


def _surely(condition: Condition) -> Condition:
    """The condition with a missing value counted as another value."""
    if isinstance(condition, Among):
        return dataclasses.replace(condition, gap=bool(condition.gap))
    raise NotUnderstood("`fixed` gives values to columns; write a rule for two columns.")


def _all_true(conditions: Iterable[Condition], view: ColumnValues) -> Mask:
    found = np.ones(view.rows, bool)
    for condition in conditions:
        found &= condition.truth(view)[0]
    return found
