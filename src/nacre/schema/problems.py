"""What is wrong with a schema's columns, its label, and where it says that its facts come from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from nacre.schema.columns.column import Column, shown
from nacre.schema.facts.statement import Determined, Fact
from nacre.schema.suggest import suggest
from nacre.schema.table import listed

PROVENANCES = ("declared", "data", "private")
BOUGHT = "look-up tables"
"""How the names of releases begin with which tables of codes and groups were bought."""
EARLIER = (0, 8)  # digits of the ids that earlier versions wrote, which no fingerprint is of
DIGITS = 16  # of a fingerprint


def column_problems(columns: Mapping[str, Any]) -> list[str]:
    """Names that are none, types that are none, and what each column says of itself."""
    found = [] if columns else ["no columns given. Describe at least one."]
    for name, column in columns.items():
        if not isinstance(name, str) or not name:
            found.append(f"column name {shown(name)} must be text.")
        elif not isinstance(column, Column):
            found.append(f"'{name}': {shown(column)} is not a column type, such as Boolean().")
        else:
            found += [f"'{name}': {problem}" for problem in column.problems()]
    return found


def label_problems(label: Any, columns: Mapping[str, Any]) -> list[str]:
    """A label is one of the columns, or there is none."""
    if label is None or (isinstance(label, str) and label in columns):
        return []
    if not isinstance(label, str):
        return [f"label {shown(label)} must be the name of a column."]
    names = [str(name) for name in columns]
    return [
        f"label {shown(label)} is not a column. The columns are {listed(names)}."
        f"{suggest(label, names)}"
    ]


def protected_problems(protect: Sequence[Any], releases: Sequence[Any]) -> list[str]:
    """What counts with noise have told of codes and groups cannot be hidden any more."""
    bought = [str(release["name"]) for release in releases if _names_tables(release)]
    if not protect or not bought:
        return []
    return [
        f"protect: the counts of the schema's {bought[0]} are released, and tell the distribution "
        "of those columns; a schema that has them protects none. Take `protect` out, or state the "
        "tables in a schema without these releases if they are public."
    ]


def bought_problems(facts: Sequence[Fact], releases: Sequence[Any]) -> list[str]:
    """A bought table says which release it is from, so that neither stays without the other."""
    return [
        f"fact `{fact}`: its table was bought (`bought: {fact.mark}`), and what it cost, number "
        f"{fact.bought} of `releases`, is not there as it was{_found(fact, releases)}. Put "
        "`releases` back as they were written, all of them and in their order: a fit counts them. "
        "A table that was bought for another schema cannot be taken over; buy it for this one. If "
        "the table is public anyway, state it without `bought`."
        for fact in facts
        if isinstance(fact, Determined) and fact.bought and not _is_of(fact, releases)
    ]


def purchase_name(facts: Sequence[Determined], purchase: str) -> str:
    """The name of the release by which these tables are bought; its id is like no other one's."""
    return f"{BOUGHT} {purchase} ({'; '.join(f'{fact.column} by {fact.by}' for fact in facts)})"


def fingerprint(release: Mapping[str, Any]) -> str:
    """A short hash of all fields of a release, of which its name has a random id.

    A table has it beside it, so that neither can be edited alone.  It is no signature: whoever
    writes both may write what they like.
    """
    said = sorted((str(name), _exactly(value)) for name, value in release.items())
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:DIGITS]


def _exactly(value: Any) -> str:
    """A value as text, the same for numbers that are the same, however a file writes them."""
    if isinstance(value, float):
        return hex(int(value)) if value.is_integer() else value.hex()
    return hex(value) if type(value) is int else str(value)


def _is_of(fact: Determined, releases: Sequence[Any]) -> bool:
    """Whether the release at the fact's place is there, names its table, and was not edited.

    Marks of earlier versions have no fingerprint: the id in the release's name, or not even that.
    """
    if fact.bought > len(releases) or not _names_tables(releases[fact.bought - 1]):
        return False
    release = releases[fact.bought - 1]
    own, _, pairs = str(release["name"]).removeprefix(BOUGHT).partition("(")
    own = own.strip()
    mark = own if len(own) in EARLIER else fingerprint(release)
    named = f"; {fact.column} by {fact.by}; " in f"; {pairs.removesuffix(')')}; "
    return named and fact.purchase == mark


def _found(fact: Determined, releases: Sequence[Any]) -> str:
    """What stands in the place of a release, if something does."""
    if fact.bought > len(releases) or not _names_tables(releases[fact.bought - 1]):
        return ""
    name = shown(releases[fact.bought - 1]["name"])
    return f" (there is another purchase, or this one was edited: {name})"


def _names_tables(release: Any) -> bool:
    return isinstance(release, dict) and str(release.get("name", "")).startswith(BOUGHT)


def origin_problems(provenance: Any, reviewed: Any, releases: Sequence[Any]) -> list[str]:
    """Facts are declared, read from the rows, or paid for; and paid ones say with what."""
    found = []
    if provenance not in PROVENANCES:
        found.append(f"provenance={shown(provenance)} must be one of {', '.join(PROVENANCES)}.")
    if provenance == "private" and not releases:
        found.append(
            "provenance: private needs the `releases` that its facts were bought with; a fit "
            "counts them. Keep them as they were written, or declare the facts as public."
        )
    if not isinstance(reviewed, bool):
        found.append(f"reviewed={shown(reviewed)} must be true or false.")
    if not all(isinstance(release, dict) for release in releases):
        found.append("releases must be a list of mappings, as nacre writes them.")
    return found
