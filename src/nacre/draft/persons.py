"""A draft for persons of several rows: persons are counted, and what does not change is found.

Releases:
    nothing for others' eyes: as the draft itself, it is for the holder, who has to review it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from nacre.draft.counted import enough_rows
from nacre.draft.evidence import evidence, held_by_many, places_of_evidence, value_places
from nacre.rows import open_source
from nacre.rows.unit import Roster
from nacre.rows.within import MISSING, changes, code_places, few_holders, several
from nacre.schema import Categorical, Column, Integer, Ordinal, Real, Schema
from nacre.schema.draft.found import Draft, rare_ends
from nacre.schema.draft.guess import ENOUGH, FEW, Note

NEARLY = 0.02  # of the persons with several rows: a column that changes within no more is named


def of_persons(found: Draft, data: object, *, gather: bool, choose: bool = False) -> Draft:
    """The same draft, with rare values and constant columns told by persons, in two more passes.

    Args:
        found: read from the rows of `data`.
        data: what it was read from.
        gather: values that few persons hold become 'other', as those that few rows hold did.
        choose: how many rows of a person count is read from the rows, too.
    """
    schema, unit = found.schema, found.schema.unit
    if unit is None:
        return found
    source = open_source(data, [unit.column, *schema.names])
    roster = Roster.of(unit, source.batches(), declared=source.types is not None)
    enough = several(roster.persons)
    if choose:
        many = np.bincount(np.minimum(np.bincount(roster.persons.person), unit.rows))[1:]
        unit = dataclasses.replace(unit, rows=enough_rows(many.astype(np.float64)))
        schema = dataclasses.replace(schema, unit=unit)
    changed = changes(schema.columns, source.batches(), roster.persons, most=int(NEARLY * enough))
    same = [name for name, persons in changed.items() if not persons and enough >= ENOUGH]
    facts, named, spikes = _facts(found), _named(found), _spikes(schema)
    rests = evidence(found.suggested, schema)
    wanted = {
        name: {*facts.get(name, ()), *named.get(name, ()), *spikes.get(name, {}).values()}
        for name in schema.names
    }
    for name, places in places_of_evidence(rests):
        wanted[name] |= places
    few = few_holders(schema.columns, wanted, source.batches(), roster.persons, few=FEW)
    rare = _rare(found, {name: few[name] & set(places) for name, places in facts.items()})
    found = dataclasses.replace(
        found,
        schema=_spikes_of_many(schema, spikes, few),
        suggested=held_by_many(found.suggested, schema, rests, few),
        notes=_named_by_many(found, few),
        rare=rare,
        counted="persons",
        constant=tuple(same),
        nearly={name: persons for name, persons in changed.items() if persons},
    )
    return _gathered(found) if gather else found


def _facts(found: Draft) -> dict[str, list[int]]:
    """The places of listed values, of bounds that were not rounded, and of codes for gaps."""
    wanted = {}
    for name, column in found.schema.columns.items():
        wanted[name] = code_places(column)
        if isinstance(column, Categorical | Ordinal):
            wanted[name] += range(len(column.values))
        elif column.ticks is not None:
            ends = {"low": 0, "high": column.ticks}
            wanted[name] += [ends[end] for end in rare_ends(found.notes.get(name, ()))]
    return wanted


def _named(found: Draft) -> dict[str, list[int]]:
    """The codes and ticks of the values that notes name: those of an offer, for one."""
    return {
        name: [
            place
            for note in notes
            for place in value_places(found.schema.columns[name], note.names)
        ]
        for name, notes in found.notes.items()
    }


def _spikes(schema: Schema) -> dict[str, dict[float, int]]:
    """The ticks of the single values that numbers have a cell for."""
    return {
        name: dict(zip(spikes, value_places(column, [str(each) for each in spikes]), strict=True))
        for name, column in schema.columns.items()
        if (spikes := getattr(column, "spikes", ()))
    }


def _spikes_of_many(
    schema: Schema, spikes: dict[str, dict[float, int]], few: dict[str, set[int]]
) -> Schema:
    """Without those that few persons hold, however many rows these have."""
    columns = dict(schema.columns)
    for name, places in spikes.items():
        kept = tuple(each for each, place in places.items() if not _by_few([place], few[name]))
        column = schema.columns[name]
        if len(kept) < len(places) and isinstance(column, Integer):
            columns[name] = dataclasses.replace(column, spikes=tuple(int(each) for each in kept))
        elif len(kept) < len(places) and isinstance(column, Real):
            columns[name] = dataclasses.replace(column, spikes=kept)
    return dataclasses.replace(schema, columns=columns)


def _named_by_many(found: Draft, few: dict[str, set[int]]) -> dict[str, list[Note]]:
    """The notes, but for those that name a value which few persons hold."""
    return {
        name: [
            note
            for note in notes
            if not _by_few(value_places(found.schema.columns[name], note.names), few[name])
        ]
        for name, notes in found.notes.items()
    }


def _by_few(places: Iterable[int], few: set[int]) -> bool:
    """Whether few persons hold one of them, or it cannot be told how many do."""
    return any(place in few or place == MISSING for place in places)


def _rare(found: Draft, few: dict[str, set[int]]) -> dict[str, tuple[str, ...]]:
    """The facts that few persons hold, in the words of a draft."""
    return {name: _words(found.schema.columns[name], few.get(name, set())) for name in found.rare}


def _words(column: Column, few: set[int]) -> tuple[str, ...]:
    facts = [("low", 0), ("high", column.ticks)]
    if isinstance(column, Categorical | Ordinal):
        facts = [(value, code) for code, value in enumerate(column.values)]
    facts += zip(column.missing, code_places(column), strict=True)
    return tuple(fact for fact, place in facts if place in few)


def _gathered(found: Draft) -> Draft:
    """Values that few persons hold as 'other', where a list is left.

    Not of columns that suggested facts may speak of, whose tables list them: there they are marked.
    Suggested constraints speak of no such value.
    """
    told = str(found.suggested.facts)
    columns, rare = dict(found.schema.columns), dict(found.rare)
    for name, column in found.schema.columns.items():
        kept = [v for v in getattr(column, "values", ()) if v not in rare.get(name, ())]
        if not isinstance(column, Categorical) or name == found.schema.label or name in told:
            continue
        if 0 < len(kept) < len(column.values):
            columns[name] = dataclasses.replace(column, values=tuple(kept), other=True)
            rare[name] = tuple(fact for fact in rare[name] if fact in column.missing)
    schema: Schema = dataclasses.replace(found.schema, columns=columns)
    return dataclasses.replace(found, schema=schema, rare=rare)
