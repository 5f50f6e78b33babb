"""What is one and the same in all rows with a certain value: a season ticket costs 89."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nacre.schema.columns.category import Boolean, Categorical, Ordinal
from nacre.schema.columns.column import Column
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.statement import Clause, Comparison, Membership, Word
from nacre.schema.draft.guess import ENOUGH
from nacre.schema.draft.limits import Limits
from nacre.schema.draft.seen import Seen, name_of

MOST_LISTS, MOST_NUMBERS = 40, 60  # columns that are looked at
MOST_VALUES = 50  # of a list
BY_CHANCE = 20.0  # that all these rows have the value by luck has a chance of e^-20 or less
OTHERS = 0.8  # of the other rows at most have a list's value: else it is merely the usual one


class Constant(NamedTuple):
    """All rows with a value of one column, or one of several, have one value of another.

    Attributes:
        said: the constraint: `fare = 89 if kind = season`.
        name: the column that is always the same.
        by: the column whose value says so.
        rows: which rows have that value.
        place: the tick or code that they all have.
        values: the codes, or the tick, of `by`.
        parts: where there are several values, what is said of each.
    """

    said: str
    name: str
    by: str
    rows: NDArray[np.bool_]
    place: int
    values: tuple[int, ...]
    parts: tuple[Constant, ...] = ()

    @property
    def single(self) -> tuple[Constant, ...]:
        """What is said of each value."""
        return self.parts or (self,)


def constants(
    columns: Mapping[str, Column], seen: Mapping[str, Seen], limits: Limits
) -> tuple[list[Constant], int]:
    """Constants of numbers, then of lists, those of most rows first, and how many are left out.

    Values of a list that say the same are one rule: `fare = 0 if kind in [child, staff]`.
    Of a number that no other rows have, what follows from it is said, too: `kind = season if
    fare = 89`.  Not where the one column determines the other altogether: a look-up table says
    that.  Nor what follows from another: of the ticket's kind where its group says it.
    """
    lists = [name for name, column in columns.items() if is_list(column)][:MOST_LISTS]
    numbers = [name for name, column in columns.items() if _is_number(column)][:MOST_NUMBERS]
    tables = {(by, name) for by in lists for name in lists if _determines(seen, by, name)}

    def found(names: list[str]) -> list[Constant]:
        pairs = [(by, name) for by in lists for name in names if by != name]
        every = [
            c
            for by, name in pairs
            if (by, name) not in tables
            for c in _of(columns, seen, by, name)
        ]
        joined = [merged(columns, each) for each in _alike(every)]
        return sorted(joined, key=lambda each: (-int(each.rows.sum()), len(each.values)))

    of_lists, left = _chosen(found(lists), tables, (), limits)
    of_numbers, more = _chosen(found(numbers), tables, of_lists, limits)
    offered: list[Constant] = []
    for each in of_numbers:
        back = _converse(columns, seen, each)
        offered += [each] if back is None else [each, back]
    return [*offered, *of_lists], left + more


def _alike(found: Sequence[Constant]) -> list[list[Constant]]:
    """Those that say the same by values of the same list, together."""
    groups: dict[tuple[str, str, int], list[Constant]] = {}
    for each in found:
        groups.setdefault((each.name, each.by, each.place), []).append(each)
    return list(groups.values())


def merged(columns: Mapping[str, Column], parts: Sequence[Constant]) -> Constant:
    """One rule that says what all parts say, each by one value of the same list."""
    first = parts[0]
    if len(parts) == 1:
        return first
    values = tuple(value for part in parts for value in part.values)
    rows = np.any([part.rows for part in parts], axis=0)
    said = _said(columns, first.name, first.place, first.by, values)
    return Constant(said, first.name, first.by, rows, first.place, values, tuple(parts))


def _determines(seen: Mapping[str, Seen], by: str, name: str) -> bool:
    """Whether each value of a list that rows hold goes with one value of another."""
    there = ~seen[by].missing
    places, other = seen[by].places[there], seen[name]
    if by == name or not there.any() or other.missing[there].any():
        return False
    pairs = np.unique(np.stack([places, other.places[there]]), axis=1)
    return pairs.shape[1] == len(np.unique(places))


def _converse(
    columns: Mapping[str, Column], seen: Mapping[str, Seen], each: Constant
) -> Constant | None:
    """That all rows with the number have the value of the list; None if others have it, too."""
    if each.parts:
        return None
    other, mine = seen[each.name], seen[each.by]
    place = int(mine.places[each.rows][0])
    if ((other.places == each.place) & ~other.missing & ~each.rows).any():
        return None
    if not _telling(columns[each.by], mine, each.rows, place):
        return None
    said = _said(columns, each.by, place, each.name, (each.place,))
    return Constant(said, each.by, each.name, each.rows, place, (each.place,))


def _chosen(
    found: list[Constant],
    tables: Set[tuple[str, str]],
    others: Sequence[Constant],
    limits: Limits,
) -> tuple[list[Constant], int]:
    """The first few of each column that no earlier one implies, with `tables` and `others`.

    And how many more there are.

    That all rows with the one value have the other implies nothing: of synthetic rows it must be
    said, or follow from a table.
    """
    chosen: list[Constant] = []
    left = 0

    def leads(each: Constant, o: Constant) -> bool:
        said = (c for c in (*others, *chosen) if (c.by, c.name) == (each.by, o.by))
        same = (bool((c.rows | ~each.rows).all()) for c in said)
        return each.by == o.by or (each.by, o.by) in tables or any(same)

    for each in found:
        own = [other for other in chosen if other.name == each.name]
        implied = any(
            o.place == each.place and (o.rows | ~each.rows).all() and leads(each, o) for o in own
        )
        if implied:
            continue
        if len(chosen) < limits.constants and len(own) < limits.constants_of_one:
            chosen.append(each)
        else:
            left += 1
    return chosen, left


def is_list(column: Column) -> bool:
    """Whether it lists few enough values to look at each."""
    return isinstance(column, Categorical | Ordinal | Boolean) and column.size <= MOST_VALUES


def has_name(column: Column, place: int) -> bool:
    """Whether a place has a name of its own: what was gathered as `other` has none."""
    return not isinstance(column, Categorical) or place < len(column.values)


def _is_number(column: Column) -> bool:
    return isinstance(column, Integer | Real) and not Scale(column).dense


def _of(
    columns: Mapping[str, Column], seen: Mapping[str, Seen], by: str, name: str
) -> Iterator[Constant]:
    """The values of a list in all of whose rows another column is the same."""
    places, other = seen[by].places, seen[name]
    there = ~seen[by].missing
    values = np.unique(places[there])
    constant: dict[int, NDArray[np.bool_]] = {}
    for value in values.tolist():
        rows = there & (places == value)
        if rows.sum() >= ENOUGH and not other.missing[rows].any():
            held = other.places[rows]
            if (held == held[0]).all():
                constant[value] = rows
    if len(constant) == len(values):
        return  # a look-up table says that, or nothing differs
    for value, rows in constant.items():
        place = int(other.places[rows][0])
        if not (has_name(columns[by], value) and has_name(columns[name], place)):
            continue
        if _telling(columns[name], other, rows, place):
            said = _said(columns, name, place, by, (value,))
            yield Constant(said, name, by, rows, place, (value,))


def _telling(column: Column, other: Seen, rows: NDArray[np.bool_], place: int) -> bool:
    """Whether it is no luck that all these rows have the value, nor what rows have anyway."""
    known = ~other.missing
    here = other.places == place
    share = float(here[known].mean())
    if share >= 1 or -float(rows.sum()) * math.log(share) < BY_CHANCE:
        return False
    return not is_list(column) or float(here[known & ~rows].mean()) <= OTHERS


def _said(
    columns: Mapping[str, Column], name: str, place: int, by: str, values: Sequence[int]
) -> str:
    """The constraint that a column has one value where another has one of some."""
    demand, given = _clause(columns, name, (place,)), _clause(columns, by, values)
    return f"{demand} if {given}"


def _clause(columns: Mapping[str, Column], name: str, places: Sequence[int]) -> Clause:
    """That a column has one of some values."""
    words = tuple(_word(columns, name, place) for place in places)
    column = Word.of_column(name)
    return Comparison(column, "=", words[0]) if len(words) == 1 else Membership(column, words)


def _word(columns: Mapping[str, Column], name: str, place: int) -> Word:
    """A value as a constraint writes it."""
    if is_list(columns[name]):
        return Word.of_value(name_of(columns[name], place), tuple(columns))
    amount = Scale(columns[name]).values(np.array([place]))[0].item()
    return Word.of_value(int(amount) if amount == int(amount) else amount, tuple(columns))
