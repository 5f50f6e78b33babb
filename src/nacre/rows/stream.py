"""Encoded rows as a stream of fixed-size blocks; what was read once is kept while there is room."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any, final

import numpy as np
import pyarrow as pa

from nacre.errors import NacreError
from nacre.rows.csv import Faults
from nacre.rows.encoder import AbstractEncoder, Block
from nacre.rows.parts import AbstractWork
from nacre.rows.source import Source
from nacre.rows.unit import Persons, Roster

KEPT = 1 << 30  # bytes of encoded rows that stay in memory, so that a file is parsed once a fit
CHANGED = "The table has changed since its ids were read. Fit it when it does not change."
PERSONS_APART = (
    "The schema has a `unit`, and rows of one person may be in several parts of {name}. Bring the "
    "table to one row a person first and leave `unit` out; or fit it on one machine, without an "
    "engine. Nothing was spent."
)
WHOLE = 8 << 30  # bytes of encoded rows that step-wise training may hold


@final
class Stream:
    """The private rows of a source as an encoder shows them.  NOT private by itself.

    Only the vault reads from it, and `check` and `count`, which are the holder's own view.
    """

    def __init__(self, encoder: AbstractEncoder, data: Any):
        self.encoder = encoder
        self.source: Source = encoder.open(data)
        self._kept: list[Block] | None = None
        self._known: Roster | None = None
        self._broken = (
            0  # records of the last pass that were no rows; none where the check went well
        )
        if self.apart and encoder.unit is not None:
            raise NacreError(PERSONS_APART.format(name=self.source.name))

    @property
    def apart(self) -> bool:
        """Whether the rows are in parts on other machines, so that only sums can be asked for."""
        return self.source.parts is not None

    def reduce(self, work: AbstractWork, on_pass: Callable[[], None] | None = None) -> Any:
        """What `work` finds in the parts of a table on an engine; `on_pass` is called first."""
        if on_pass is not None:
            on_pass()
        return self.source.reduce(work)

    def check(self) -> int:
        """The holder's own check, before anything is spent; returns the number of persons."""
        found = self.encoder.check(
            self.source, lambda batches: (batch for batch, _ in self._remembered(batches))
        )
        what = "row"
        if (roster := self.roster()) is not None:
            found, what = roster.count, "person"
            if roster.unclear:
                raise NacreError(
                    f"{roster.unclear:,} rows have an id that may be somebody else's: a number "
                    "beyond 2^53, of which float64 does not hold all digits, or something without "
                    "a text of its own. Convert the ids to text. Nothing was spent."
                )
        if found < 2:
            raise NacreError(
                f"{self.source.name} has {found or 'no'} {what}{'s' if found == 0 else ''}; a "
                "private model of so few would be pure noise. Nothing was spent."
            )
        return found

    def roster(self) -> Roster | None:
        """Whose each row is, where a person may have several: read from the ids, once a fit."""
        if self._known is None and self.encoder.unit is not None:
            faults = Faults()
            declared = self.source.types is not None
            unit, batches = self.encoder.unit, self.source.batches(faults)
            self._known = Roster.of(unit, batches, declared=declared)
            self._broken = faults.records
        return self._known

    def count(self) -> int:
        """The number of persons: of rows, bad ones and records that are no rows included.

        Public under replace-one only, where a row may become a bad one or a broken record, which
        is one person's, as nobody can tell whose it is.
        """
        if self.apart:
            return int(self.reduce(Counting(self.encoder)))
        if (roster := self.roster()) is not None:
            return roster.count + self._broken
        return sum(len(part.valid) for part in self._parts()) + self._broken

    def blocks(self, size: int, on_pass: Callable[[], None] | None = None) -> Iterator[Block]:
        """All rows in blocks of exactly `size`; `on_pass` is called first.

        The last block is filled up with rows that do not count; there is always at least one, so
        that an empty table looks like any other.
        """
        if on_pass is not None:
            on_pass()
        empty = tuple(np.zeros((0, *leaf.shape), leaf.dtype) for leaf in self.encoder.shape)
        parts: list[Block] = []  # fewer rows than a block has
        waiting, yielded = 0, False
        for part in self._parts():
            start = 0
            if parts and waiting + len(part.valid) >= size:
                start = size - waiting
                yield _join(self.encoder, [*parts, _slice(part, 0, start)], empty)
                parts, waiting, yielded = [], 0, True
            while not parts and len(part.valid) - start >= size:
                yield _slice(part, start, start + size)
                yielded, start = True, start + size
            if start < len(part.valid):
                parts.append(_slice(part, start, len(part.valid)))
                waiting += len(part.valid) - start
        if waiting or not yielded:
            yield _padded(_join(self.encoder, parts, empty), size)

    def whole(self) -> Block:
        """All rows at once, for step-wise training; never none, so that an empty table trains."""
        empty = tuple(np.zeros((0, *leaf.shape), leaf.dtype) for leaf in self.encoder.shape)
        joined = _join(self.encoder, self._that_fit(), empty)
        return joined if len(joined.valid) else _padded(joined, 1)

    def require_memory(self) -> None:
        """Refuse rows that `whole` could not hold, by a pass over them."""
        for _ in self._that_fit():
            pass

    def one_row_each(self) -> Iterator[pa.RecordBatch]:
        """The table as it is read, with one row of each person, drawn at random."""
        roster, start = self.roster(), 0
        for batch in self.source.batches():
            if roster is not None:
                own = _of_batch(roster, start, batch)
                start += batch.num_rows
                batch = batch.filter(pa.array(own.place == 0))
            yield batch

    def _that_fit(self) -> Iterator[Block]:
        """The parts, as long as memory can hold them all."""
        size = 0
        for part in self._parts():
            size += part.nbytes
            if size > WHOLE:
                raise NacreError(
                    f"Step-wise training needs all encoded rows in memory: more than "
                    f"{WHOLE >> 30} GiB here. Use a one-release method (Mosaic, PEARL, MERF)."
                )
            yield part

    def _parts(self) -> Iterator[Block]:
        if self._kept is not None:
            yield from self._kept
        else:
            faults = Faults()
            for _, part in self._remembered(self.source.batches(faults)):
                yield part
            self._broken = faults.records

    def _remembered(
        self, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[tuple[pa.RecordBatch, Block]]:
        """A pass over the source, kept for the next one if it is complete and not too large."""
        kept: list[Block] | None = []
        size = start = 0
        for batch in batches:
            if not batch.num_rows:
                continue
            part = self._encode(batch, start)
            start += batch.num_rows
            size += part.nbytes
            if kept is not None and size <= KEPT:
                kept.append(part)
            else:
                kept = None
            yield batch, part
        if self._known is not None and start != len(self._known.persons):
            raise NacreError(CHANGED)
        self._kept = kept

    def _encode(self, batch: pa.RecordBatch, start: int) -> Block:
        """The rows of a batch, of which `start` came before it, that count."""
        roster, unit = self.roster(), self.encoder.unit
        if roster is None or unit is None:
            return self.encoder.encode(batch)
        own = _of_batch(roster, start, batch)
        kept = own.kept
        own, batch = own[kept], batch.filter(pa.array(kept))
        if unit.counted is not None:
            batch = batch.append_column(unit.counted, pa.array(own.rows, pa.int16()))
        return dataclasses.replace(self.encoder.encode(batch), persons=own)


@final
@dataclasses.dataclass(frozen=True)
class Counting(AbstractWork):
    """How many rows a part has, as `Stream.count` counts them."""

    encoder: AbstractEncoder

    def __call__(self, source: Source) -> int:
        """See `AbstractWork`."""
        return Stream(self.encoder, source).count()

    def add(self, one: int, other: int) -> int:
        """See `AbstractWork`."""
        return one + other


def _of_batch(roster: Roster, start: int, batch: pa.RecordBatch) -> Persons:
    found = roster.persons[start : start + batch.num_rows]
    if len(found) != batch.num_rows:
        raise NacreError(CHANGED)
    return found


def _join(encoder: AbstractEncoder, parts: Iterable[Block], empty: tuple[Any, ...]) -> Block:
    every = list(parts)
    leaves = [
        np.concatenate([empty[place], *(part.rows[place] for part in every)])
        for place in range(len(empty))
    ]
    valid = np.concatenate([np.zeros(0, np.bool_), *(part.valid for part in every)])
    known = [part.persons for part in every if part.persons is not None]
    persons = None if encoder.unit is None else Persons.concat(known)
    return Block(type(encoder.shape)(*leaves), valid, persons)


def _slice(block: Block, start: int, stop: int) -> Block:
    leaves = (leaf[start:stop] for leaf in block.rows)
    persons = None if block.persons is None else block.persons[start:stop]
    return Block(type(block.rows)(*leaves), block.valid[start:stop], persons)


def _padded(block: Block, size: int) -> Block:
    more = size - len(block.valid)
    leaves = (
        np.concatenate([leaf, np.zeros((more, *leaf.shape[1:]), leaf.dtype)]) for leaf in block.rows
    )
    persons = block.persons
    if persons is not None:
        persons = Persons.concat([persons, Persons.nobody(more)])
    valid = np.concatenate([block.valid, np.zeros(more, np.bool_)])
    return Block(type(block.rows)(*leaves), valid, persons)
