"""All facts of a schema together: what is wrong with them, and in which order they are computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nacre.schema.columns.column import Column, shown
from nacre.schema.constraints.statement import NotUnderstood
from nacre.schema.facts.binding import bind_fact, in_order
from nacre.schema.facts.bound import Absence, Belonging, BoundFact
from nacre.schema.facts.statement import BOUGHT, FORMS, Fact, parse

MOST = 1_000  # facts in a schema


def understand_facts(
    said: Any, columns: Mapping[str, Column], label: str | None, *, known: bool
) -> tuple[tuple[Fact, ...], tuple[BoundFact, ...], list[str]]:
    """Facts from their plain forms, bound and in order, and what is wrong with them.

    With `known` false the columns themselves have problems, and only the form is looked at.
    """
    if isinstance(said, str | Mapping) or not isinstance(said, Iterable):
        return (), (), [f"`facts` must be a list. {FORMS}"]
    said = list(said)
    if len(said) > MOST:
        return (), (), [f"`facts` may hold {MOST:,} statements. Leave some out."]
    facts: dict[Fact, None] = {}
    owners: dict[tuple[str, bool], str] = {}
    bound: list[BoundFact] = []
    problems = []
    for place, each in enumerate(said, 1):
        try:
            fact = parse(each)
            if fact in facts:
                raise NotUnderstood("it is there twice. Remove one.")
            facts[fact] = None
            for one in bind_fact(fact, columns) if known else ():
                _refuse_twice(one, owners, label)
                bound.append(one)
        except NotUnderstood as error:
            problems.append(f"fact {place} (`{_short(each)}`): {error}")
    if problems:
        return tuple(facts), (), problems
    try:
        return tuple(facts), in_order(bound), []
    except NotUnderstood as error:
        return tuple(facts), (), [str(error)]


def _refuse_twice(fact: BoundFact, owners: dict[tuple[str, bool], str], label: str | None) -> None:
    """One fact for each column; the gaps of a code and its group are two matters."""
    name = fact.column
    if name == label:
        what = "gaps" if isinstance(fact, Absence) else "values"
        raise NotUnderstood(
            f"'{name}' is the label, whose {what} a model learns to predict. Choose another label, "
            "or leave the fact out."
        )
    if name in fact.sources:
        raise NotUnderstood(f"'{name}' follows from itself.")
    for each in settled(fact):
        if each in owners:
            other = owners[each]
            raise NotUnderstood(f"'{name}' follows from `{other}` already. Keep one of the two.")
    owners.update(dict.fromkeys(settled(fact), fact.text))


def settled(fact: BoundFact) -> list[tuple[str, bool]]:
    """What a fact settles of its column, which no other may: its gaps or values, or its group."""
    parts = [isinstance(fact, Belonging)]
    if not isinstance(fact, Absence | Belonging):
        parts = [False, True]
    return [(fact.column, part) for part in parts]


def _short(said: Any) -> str:
    """A fact as messages about it start."""
    if isinstance(said, Mapping):
        said = ", ".join(str(head) for head in said if head != BOUGHT)
    return shown(str(said))[1:-1]
