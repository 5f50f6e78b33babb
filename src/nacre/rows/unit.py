"""Several rows a person: whose each row is, which rows of a person count, and what each weighs.

Sensitivity:
    a person weighs at most one, whatever rows the person has: of r rows that count each weighs
    1 / r, rounded down to whole multiples of 1 / `WHOLE`.  So a person's contribution to a sum is
    a mean of contributions of single rows (and zeros), and no farther from another person's than
    one of those is from one of these: every bound for one row holds for one person, under both
    adjacencies (docs/privacy.md, section 3).

Independence:
    which rows of a person count, and how many, follow from that person's rows and from random bits
    of the operating system that no other row shares; other persons, the order of rows and the
    batches that they come in do not matter.  Persons are told apart by a keyed 128-bit hash of
    their ids with a fresh key: a person is mistaken for another of n with a chance below n / 2^127.

Gaps:
    a row without an id is a person of its own.  So is one whose id may be that of somebody else
    (`id_names`), and it does not count: else to add a person could change what another one counts.
"""

from __future__ import annotations

import dataclasses
import hashlib
import secrets
from collections.abc import Iterable, Sequence
from typing import Any, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.schema import SchemaError, Unit
from nacre.schema.columns import cells
from nacre.schema.columns.names import cell_names

WHOLE = 27_720  # what a person weighs, in integers; 1 to 12 rows divide it without a rest
MOST = 1 << 26  # rows whose persons are told apart at once: some 3 GiB of hashes while it is done
HASH = 16  # bytes
# Numbers that float64 has rounded, bytes that were no text, and what has no text at all.
UNCLEAR = r"^-?\d(\.\d+)?e\+?\d+$|\x{FFFD}|^<cannot be read>$|^<out of range>$"


@final
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Persons:
    """Whose each of some rows is.  NOT private.

    Attributes:
        person: int32, the number of the person in its table.
        place: int16, the row's place among those of the person that count, in random order; -1 for
            rows that do not count.
        rows: int16, how many rows of the person count.
    """

    person: NDArray[np.int32]
    place: NDArray[np.int16]
    rows: NDArray[np.int16]

    def __repr__(self) -> str:
        return f"Persons(of {len(self)} rows)"

    def __len__(self) -> int:
        return len(self.person)

    def __getitem__(self, rows: Any) -> Persons:
        return Persons(self.person[rows], self.place[rows], self.rows[rows])

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which rows count."""
        return self.place >= 0

    @property
    def weight(self) -> NDArray[np.int32]:
        """What each row weighs, of `WHOLE`; those of one person add up to no more than that."""
        return np.where(self.kept, WHOLE // np.maximum(self.rows, 1).astype(np.int32), 0)

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.person.nbytes + self.place.nbytes + self.rows.nbytes

    @staticmethod
    def nobody(rows: int) -> Persons:
        """Rows that do not count."""
        return Persons(
            np.zeros(rows, np.int32), np.full(rows, -1, np.int16), np.zeros(rows, np.int16)
        )

    @staticmethod
    def concat(parts: Sequence[Persons]) -> Persons:
        """One after the other."""
        every = [Persons.nobody(0), *parts]
        return Persons(
            np.concatenate([part.person for part in every]),
            np.concatenate([part.place for part in every]),
            np.concatenate([part.rows for part in every]),
        )

    def groups(
        self, valid: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.int32]]:
        """The places of valid rows, person by person; where each begins, and how many it has."""
        good = np.flatnonzero(valid & self.kept)
        order = good[np.argsort(self.person[good], kind="stable")]
        _, first, many = np.unique(self.person[order], return_index=True, return_counts=True)
        return order, first.astype(np.int32), many.astype(np.int32)


@final
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Roster:
    """Whose each row of a whole table is, in the table's order.  NOT private.

    Attributes:
        persons: of all rows.
        count: how many persons there are.
        beyond: how many of them have more rows than count.
        unclear: how many rows have an id that may be somebody else's, too, and do not count.
    """

    persons: Persons
    count: int
    beyond: int
    unclear: int = 0

    @classmethod
    def of(cls, unit: Unit, batches: Iterable[pa.RecordBatch], *, declared: bool = False) -> Roster:
        """Read the ids of a table; memory grows with its rows, by some 50 bytes each.

        `declared` says that the ids' type does not depend on rows, as in a Parquet file.
        """
        key, parts, masks, total = secrets.token_bytes(32), [], [np.zeros(0, bool)], 0
        for batch in batches:
            total += batch.num_rows
            if total > MOST:
                raise NacreError(
                    f"The table has more than {MOST:,} rows, and whose each is has to be held in "
                    "memory. Bring it to one row a person first, and leave `unit` out; or fit a "
                    "random part of the persons."
                )
            ids = batch.column(unit.column)
            _require_text(unit, ids.type)
            named, unclear = id_names(ids, declared=declared)
            parts.append(_hashes(named, key))
            masks.append(unclear)
        hashes, unclear = (
            np.concatenate([np.zeros((0, 2), np.uint64), *parts]),
            np.concatenate(masks),
        )
        found = cls._drawn(hashes, unit.rows)
        found.persons.place[unclear] = -1
        return dataclasses.replace(found, unclear=int(unclear.sum()))

    @classmethod
    def _drawn(cls, hashes: NDArray[np.uint64], most: int) -> Roster:
        """Group rows by hash, each person's in random order, and count the first `most`."""
        rows = len(hashes)
        chance = np.frombuffer(secrets.token_bytes(8 * rows), np.uint64)
        order = np.lexsort((chance, hashes[:, 0], hashes[:, 1]))
        new = np.ones(rows, bool)
        new[1:] = (hashes[order[1:]] != hashes[order[:-1]]).any(1)
        first = np.flatnonzero(new)
        number = np.cumsum(new) - 1
        many = np.diff(first, append=rows)
        place = np.arange(rows) - first[number]
        person, places = np.empty(rows, np.int32), np.empty(rows, np.int16)
        counted = np.empty(rows, np.int16)
        person[order] = number
        places[order] = np.where(place < most, place, -1)
        counted[order] = np.minimum(many, most)[number]
        return cls(Persons(person, places, counted), len(first), int((many > most).sum()))

    def describe(self, unit: Unit) -> str:
        """How many persons there are and how many have too many rows; the holder's own view."""
        said = f"{len(self.persons):,} rows of {self.count:,} persons ('{unit.column}')."
        if not self.beyond:
            return f"{said} Nobody has more than {unit.rows} rows, so all of them count."
        lost = int(np.count_nonzero(~self.persons.kept))
        one = self.beyond == 1
        return (
            f"{said} {self.beyond:,} of them {'has' if one else 'have'} more than {unit.rows}, and "
            f"{lost:,} of their rows will not count."
        )


def _hashes(ids: pa.Array, key: bytes) -> NDArray[np.uint64]:
    """128 bits for each text: a keyed hash of it, or random ones where there is none."""
    named = ids.dictionary_encode()
    texts = named.dictionary.to_pylist()
    digests = b"".join(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH, key=key).digest()
        for text in texts
    )
    known = np.frombuffer(digests, np.uint64).reshape(-1, 2)
    gaps = np.asarray(named.indices.is_null())
    found = np.empty((len(named), 2), np.uint64)
    found[~gaps] = known[np.asarray(named.indices.drop_null(), np.int64)]
    nobody = int(gaps.sum())
    found[gaps] = np.frombuffer(secrets.token_bytes(HASH * nobody), np.uint64).reshape(-1, 2)
    return found


def id_names(ids: pa.Array, *, declared: bool) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Ids as text, each by itself, and which of them may be somebody else's, too.

    Null where there is none, an empty text included, and where it is unclear.  Of a type that rows
    do not decide (`declared`) whole numbers keep all digits, and bytes are taken as they are.  In a
    frame one gap makes float64 of a column of whole numbers, so that beyond 2^53 they may be each
    other's; and a cell without a text of its own (bytes that are no text, a list) may be any.

    Examples:
        >>> id_names(pa.array([2**60 + 1, None]), declared=True)[0].to_pylist()
        ['1152921504606846977', None]
        >>> id_names(pa.array([2**60 + 1, 7]), declared=False)[0].to_pylist()
        [None, '7']
        >>> id_names(pa.array([" a", "", "a"]), declared=False)[0].to_pylist()
        ['a', None, 'a']
    """
    ids = cells.plain(ids)
    kind = ids.type
    if declared and pa.types.is_integer(kind):
        named = pc.cast(ids, pa.string())
    elif declared and pa.types.is_decimal(kind):
        named = pc.replace_substring_regex(pc.cast(ids, pa.string()), r"\.0+$", "")
    elif declared and (pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
        named = pa.array([c if c is None else c.hex() for c in ids.to_pylist()], pa.string())
    elif pa.types.is_null(kind):
        named = pc.cast(ids, pa.string())
    else:
        named = cell_names(ids)
    nothing = pa.scalar(None, pa.string())
    named = pc.if_else(pc.equal(named, ""), nothing, named)
    unclear = pc.fill_null(pc.match_substring_regex(named, UNCLEAR), False)
    return pc.if_else(unclear, nothing, named), np.asarray(unclear)


def _require_text(unit: Unit, kind: pa.DataType) -> None:
    """Refuse a column whose type has no text, so that it can tell nobody apart."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    told = cells.has_text(kind)
    if not told and not pa.types.is_null(kind) and not pa.types.is_boolean(kind):
        raise SchemaError(
            f"unit: '{unit.column}' has the type {kind}, which cannot tell persons apart. Convert "
            "it to text or whole numbers."
        )
