"""What changes within a person, and how many persons hold a value: the holder's own view.

Releases:
    nothing for others' eyes.  The counts are exact, so they are outside any privacy guarantee; they
    are shown to the person who holds the table, in a draft or a check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.rows.unit import Persons
from nacre.schema import Column

UNSEEN, MISSING = -2, -1
FIRST_CODE = -10  # the place of the first code for a missing value; the others lie below
Places = NDArray[np.int64]


def places_of(column: Column, cells: pa.Array) -> Places:
    """Ticks or codes of cells, `MISSING` where one is missing or cannot be read."""
    reading = column.read(cells)
    gone = reading.missing.copy()
    for where in reading.refused.values():
        gone |= where
    return np.where(gone, MISSING, reading.values).astype(np.int64)


def code_places(column: Column) -> list[int]:
    """Places for the codes for missing values, which are `MISSING` among all others."""
    return [FIRST_CODE - code for code in range(len(column.missing))]


def _held(column: Column, cells: pa.Array) -> Iterator[Places]:
    """What each cell holds: its place, and that of its code for a missing value."""
    yield places_of(column, cells)
    if column.missing:
        codes = column.missing_codes(cells).astype(np.int64)
        yield np.where(codes >= 0, FIRST_CODE - codes, UNSEEN)


def changes(
    columns: Mapping[str, Column],
    batches: Iterable[pa.RecordBatch],
    persons: Persons,
    *,
    most: int | None = None,
) -> dict[str, int]:
    """How many persons hold more than one value of each column, a gap among them.

    A column that changes within more than `most` persons is left out: of wide tables few columns
    are looked at to the end.
    """
    first = {name: np.full(_count(persons), UNSEEN, np.int64) for name in columns}
    changed = {name: np.zeros(_count(persons), bool) for name in columns}
    for batch, who in _with_persons(batches, persons):
        for name in list(first):
            places, known = places_of(columns[name], batch.column(name)), first[name]
            new = known[who] == UNSEEN
            known[who[new]] = places[new]
            changed[name][who[known[who] != places]] = True
            if most is not None and np.count_nonzero(changed[name]) > most:
                del first[name], changed[name]
    return {name: int(np.count_nonzero(each)) for name, each in changed.items()}


def few_holders(
    columns: Mapping[str, Column],
    wanted: Mapping[str, Collection[int]],
    batches: Iterable[pa.RecordBatch],
    persons: Persons,
    *,
    few: int,
) -> dict[str, set[int]]:
    """Which of the wanted ticks or codes of each column are held by fewer than `few` persons.

    A code for a missing value is wanted by its own place (`code_places`); `MISSING` is any gap.
    """
    holders: dict[str, dict[int, set[int]]] = {
        name: {int(place): set() for place in places} for name, places in wanted.items()
    }
    for batch, who in _with_persons(batches, persons):
        for name, open_ in holders.items():
            if not open_:
                continue
            for places in _held(columns[name], batch.column(name)):
                here = np.isin(places, list(open_))
                pairs = np.unique(np.stack([places[here], who[here]], axis=1), axis=0)
                for place, person in pairs:
                    held = open_.get(int(place))
                    if held is not None:
                        held.add(int(person))
                        if len(held) >= few:
                            del open_[int(place)]
    return {name: set(open_) for name, open_ in holders.items()}


def several(persons: Persons) -> int:
    """How many persons have more than one row, counting or not."""
    return int(np.count_nonzero(np.bincount(persons.person, minlength=1) > 1))


def _count(persons: Persons) -> int:
    return int(persons.person.max(initial=-1)) + 1


def _with_persons(
    batches: Iterable[pa.RecordBatch], persons: Persons
) -> Iterator[tuple[pa.RecordBatch, NDArray[np.int32]]]:
    """Each batch with whose its rows are; the batches are those that `persons` were read from."""
    start = 0
    for batch in batches:
        yield batch, persons.person[start : start + batch.num_rows]
        start += batch.num_rows
