"""Columns that are missing in the same rows, or exactly where another has a certain value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from nacre.schema.columns.column import Column
from nacre.schema.constraints.statement import Comparison, Word
from nacre.schema.draft.guess import FEW
from nacre.schema.draft.seen import Seen, name_of
from nacre.schema.facts.statement import Fact, Gap, Together


def common_gaps(seen: Mapping[str, Seen]) -> Iterator[Fact]:
    """Columns that are missing in the same rows."""
    groups: dict[bytes, list[str]] = {}
    for name, column in seen.items():
        if FEW <= column.missing.sum() <= len(column.missing) - FEW:
            groups.setdefault(np.packbits(column.missing).tobytes(), []).append(name)
    for names in groups.values():
        if len(names) > 1:
            yield Together(tuple(map(Word.of_column, names)))


def told_gaps(columns: Mapping[str, Column], seen: Mapping[str, Seen]) -> Iterator[Fact]:
    """Columns that are missing exactly where another one has a certain value."""
    done: set[bytes] = set()
    for name, column in seen.items():
        mark = np.packbits(column.missing).tobytes()
        if mark in done or not FEW <= column.missing.sum() <= len(column.missing) - FEW:
            continue
        for by, other in seen.items():
            if by == name or not other.size:
                continue
            values = np.unique(other.places[column.missing])
            if len(values) == 1 and values[0] < other.size - 1:
                place = int(values[0])
                if ((other.places == place) == column.missing).all():
                    value = Word.of_value(name_of(columns[by], place), tuple(columns))
                    clause = Comparison(Word.of_column(by), "=", value)
                    yield Gap(Word.of_column(name), (clause,))
                    done.add(mark)
                    break
