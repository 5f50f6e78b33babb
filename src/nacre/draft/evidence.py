"""What suggested statements rest on: values that enough persons have to hold, however many rows.

Releases:
    nothing for others' eyes: as the draft itself, it is for the holder, who has to review it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from nacre.rows.within import MISSING, places_of
from nacre.schema import Column, Schema
from nacre.schema.constraints.constraint import Constraint
from nacre.schema.constraints.statement import Clause, Comparison, Membership
from nacre.schema.draft.suggested import Suggested
from nacre.schema.facts.statement import Gap, parse

NOBODYS = -3  # the place of a value that cannot be read again


class Evidence(NamedTuple):
    """Codes and ticks of a column that a statement rests on.

    Attributes:
        statement: its text.
        name: the column.
        named: those that it names, a gap among them; many persons are to hold each.
        others: those that make up its other side, of which many persons are to hold one; empty if
            nothing is said of other rows.
    """

    statement: str
    name: str
    named: frozenset[int]
    others: frozenset[int] = frozenset()

    def thin(self, few: set[int]) -> bool:
        """Whether it rests on few persons, if these places are held by few."""
        return bool(self.named & few) or (bool(self.others) and self.others <= few)


def evidence(suggested: Suggested, schema: Schema) -> list[Evidence]:
    """What constraints and missing values follow from.

    Orders, sums and tables follow from no single value, and are not among them.
    """
    found = []
    for said in suggested.constraints:
        for clause in Constraint.of(said, schema.columns).premise:
            name, named = _named(clause, schema)
            found.append(Evidence(str(said), name, named))
    for said in suggested.facts:
        fact = parse(said)
        for clause in fact.clauses if isinstance(fact, Gap) else ():
            name, named = _named(clause, schema)
            every = frozenset(range(MISSING, _places(schema.columns[name])))
            found.append(Evidence(str(said), name, named, every - named))
    return found


def _named(clause: Clause, schema: Schema) -> tuple[str, frozenset[int]]:
    """The column of a clause, and the places of the values that it names."""
    if isinstance(clause, Comparison):
        name, words = clause.left.text, [clause.right.text]
    elif isinstance(clause, Membership):
        name, words = clause.column.text, [word.text for word in clause.values]
    else:
        return clause.column.text, frozenset({MISSING})
    places = value_places(schema.columns[name], words)
    return name, frozenset(NOBODYS if place == MISSING else place for place in places)


def _places(column: Column) -> int:
    return column.size if column.ticks is None and column.size else (column.ticks or 0) + 1


def held_by_many(
    suggested: Suggested, schema: Schema, rests: Sequence[Evidence], few: Mapping[str, set[int]]
) -> Suggested:
    """Without what follows from a value that few persons hold, however many rows these have.

    Of a constraint that several values say the others stay.
    """
    thin = {each.statement for each in rests if each.thin(few[each.name])}
    constraints = (
        _of_many(each, schema, few) if each in thin else each for each in suggested.constraints
    )
    return dataclasses.replace(
        suggested,
        constraints=tuple(each for each in constraints if each is not None),
        facts=tuple(each for each in suggested.facts if str(each) not in thin),
    )


def _of_many(said: str, schema: Schema, few: Mapping[str, set[int]]) -> str | None:
    """A constraint by those of its values that many persons hold; None if there are none."""
    found = Constraint.of(said, schema.columns)
    if len(found.premise) != 1 or not isinstance(clause := found.premise[0], Membership):
        return None
    name = clause.column.text
    places = value_places(schema.columns[name], [word.text for word in clause.values])
    held = [place not in few[name] and place != MISSING for place in places]
    words = tuple(word for word, many in zip(clause.values, held, strict=True) if many)
    if not words or clause.negated:
        return None
    premise: Clause = dataclasses.replace(clause, values=words)
    if len(words) == 1:
        premise = Comparison(clause.column, "=", words[0])
    return str(dataclasses.replace(found, premise=(premise,)))


def places_of_evidence(rests: Iterable[Evidence]) -> Iterator[tuple[str, frozenset[int]]]:
    """The places of which it has to be known how many persons hold them, by column."""
    for each in rests:
        yield each.name, each.named | each.others


def value_places(column: Column, values: Sequence[str]) -> list[int]:
    """The codes or ticks of values as a draft writes them; `MISSING` for what cannot be read."""
    return places_of(column, pa.array(values, pa.string())).tolist() if values else []
