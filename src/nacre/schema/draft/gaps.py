"""Columns that are missing in the same rows, where another has certain values, or where it is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nacre.schema.columns.column import Column
from nacre.schema.constraints.statement import Clause, Comparison, Membership, Presence, Word
from nacre.schema.draft.constants import BY_CHANCE, OTHERS, has_name, is_list
from nacre.schema.draft.guess import FEW
from nacre.schema.draft.limits import Limits
from nacre.schema.draft.seen import Places, Seen, name_of
from nacre.schema.facts.statement import Fact, Gap, Together

MOST_NAMED = 8  # values of a list; more are not confirmed one by one
MOST_PATTERNS = 80  # of gaps that are compared with each other
Mask = NDArray[np.bool_]


def common_gaps(seen: Mapping[str, Seen]) -> Iterator[Fact]:
    """Columns that are missing in the same rows."""
    groups: dict[bytes, list[str]] = {}
    for name, column in seen.items():
        if _has_gaps(column):
            groups.setdefault(_mark(column), []).append(name)
    for names in groups.values():
        if len(names) > 1:
            yield Together(tuple(map(Word.of_column, names)))


def told_gaps(columns: Mapping[str, Column], seen: Mapping[str, Seen]) -> Iterator[Fact]:
    """Columns that are missing exactly where another one has certain values, or has not.

    Said with as few values as will do: `status = open`, `sector != social`, `ward in [a, b]`.
    """
    held = {
        by: np.bincount(each.places, minlength=each.size) for by, each in seen.items() if each.size
    }
    done: set[bytes] = set()
    for name, column in seen.items():
        if not _has_gaps(column) or (mark := _mark(column)) in done:
            continue
        found = [
            clause
            for by, rows in held.items()
            if by != name
            and (clause := _clause(columns, by, rows, seen[by].places[column.missing])) is not None
        ]
        if found:
            yield Gap(Word.of_column(name), (min(found, key=_named),))
            done.add(mark)


def _clause(columns: Mapping[str, Column], by: str, rows: Places, gone: Places) -> Clause | None:
    """What a column with so many rows of each value says of the rows with a gap; None if nothing.

    Every value that is named has to be held by `FEW` rows or more.
    """
    lost = np.bincount(gone, minlength=len(rows))
    if lost[-1] or ((lost > 0) & (lost < rows)).any():
        return None
    with_gap = np.flatnonzero(lost).tolist()
    without = np.flatnonzero((rows > 0) & (lost == 0))
    without = without[without < len(rows) - 1].tolist()
    word = Word.of_column(by)
    if not without:
        return Presence(word, missing=False)

    def values(places: list[int]) -> tuple[Word, ...]:
        """The words for some values; nothing where one cannot be named."""
        most = MOST_NAMED if is_list(columns[by]) else 1
        named = all(has_name(columns[by], each) and rows[each] >= FEW for each in places)
        if not named or not 0 < len(places) <= most:
            return ()
        return tuple(Word.of_value(name_of(columns[by], each), tuple(columns)) for each in places)

    inside, outside = values(with_gap), values(without)
    if inside and (len(inside) <= len(outside) or not outside):
        return Comparison(word, "=", inside[0]) if len(inside) == 1 else Membership(word, inside)
    if len(outside) == 1:
        return Comparison(word, "!=", outside[0])
    return Membership(word, outside, negated=True) if outside else None


def _named(clause: Clause) -> int:
    """How many values a clause names."""
    return len(clause.values) if isinstance(clause, Membership) else 1


class Nested(NamedTuple):
    """A column that is missing wherever another one is, and elsewhere too.

    Attributes:
        said: the constraint: `energy is missing if built is missing`.
        name: the column with more gaps.
        by: the one with fewer.
    """

    said: str
    name: str
    by: str


def nested_gaps(seen: Mapping[str, Seen], most: int = Limits.gaps) -> list[Nested]:
    """Gaps within gaps, those of most rows first; not those that follow from two others.

    All rows without `by` lack the other by luck with a chance of e^-20 at most, and of the rows
    with `by` some have it: else it is merely missing as usual.
    """
    firsts: dict[bytes, str] = {}
    for name, each in seen.items():
        if _has_gaps(each):
            firsts.setdefault(_mark(each), name)
    names = list(firsts.values())[:MOST_PATTERNS]
    gaps = {name: seen[name].missing for name in names}
    pairs = {
        (name, by) for name, by in itertools.permutations(names, 2) if _within(gaps[by], gaps[name])
    }
    direct = [
        (name, by)
        for name, by in pairs
        if not any((name, other) in pairs and (other, by) in pairs for other in names)
    ]
    order = {name: place for place, name in enumerate(names)}
    direct.sort(key=lambda pair: (-int(gaps[pair[1]].sum()), order[pair[0]], order[pair[1]]))
    return [Nested(_nested(name, by), name, by) for name, by in direct[:most]]


def _within(inner: Mask, outer: Mask) -> bool:
    if (inner & ~outer).any():
        return False
    luck = -float(inner.sum()) * math.log(float(outer.mean()))
    return luck >= BY_CHANCE and float(outer[~inner].mean()) <= OTHERS


def _nested(name: str, by: str) -> str:
    gap, reason = (Presence(Word.of_column(each), missing=True) for each in (name, by))
    return f"{gap} if {reason}"


def _has_gaps(column: Seen) -> bool:
    """Whether enough rows have a gap, and enough have none."""
    return FEW <= int(column.missing.sum()) <= len(column.missing) - FEW


def _mark(column: Seen) -> bytes:
    return np.packbits(column.missing).tobytes()
