"""What a column may be instead of what it is drafted as: a line for its reviewer to choose."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pyarrow as pa

from nacre.schema.columns.category import Categorical, Ordinal
from nacre.schema.columns.column import Column
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.draft.coded import Coded
from nacre.schema.draft.guess import FEW, Note, finite_numbers
from nacre.schema.draft.outward import has_round, outward_real
from nacre.schema.draft.scales import letters_in_a_row, ordered_words
from nacre.schema.draft.strays import strays


def order(name: str, column: Column, held: Mapping[str, int]) -> Note | None:
    """The order that the words or letters of a list have.  It names no value that few rows hold."""
    if not isinstance(column, Categorical) or column.other:
        return None
    short = "words that have an order: offered as ordinal"
    said = "in an order, by its words? Then `type: ordinal`, values from lowest to highest"
    ordered = ordered_words(name, list(held))
    if ordered is None and (ordered := letters_in_a_row(name, list(held))) is not None:
        short = "letters in a row: offered as ordinal"
        said = "grades, from one end to the other? Then `type: ordinal`"
    if ordered is None:
        return None
    if min(held.values()) < FEW:
        return Note(short, f"{said}.")
    offer = Ordinal(values=ordered, nullable=column.nullable, missing=column.missing)
    return Note(short, f"{said}:", offer=offer, names=tuple(ordered))


def few_codes(few: Coded, *, nullable: bool, missing: tuple[str, ...]) -> Note | None:
    """Numbers beside a few others that may be codes for missing ones: -1 below 0, 9 above 5."""
    codes = tuple(map(str, few.perhaps))
    if not codes:
        return None
    offer = Integer(low=few.low, high=few.high, nullable=nullable, missing=(*missing, *codes))
    are = "a code for a missing one" if len(codes) == 1 else "codes for missing ones"
    return Note(
        f"beside a few numbers: offered as {are}",
        f"{', '.join(codes)} beside {few.low} to {few.high}: {are}? Then:",
        offer=offer,
        names=codes,
    )


def missing_codes(column: Integer | Real, sampled: pa.Array) -> Note | None:
    """Values far from all others, as codes for missing ones.

    The bounds of the others are rounded outward where they are not the column's own: few rows may
    hold them.  Where they cannot be, nothing is offered.
    """
    found = strays(finite_numbers(sampled))
    if found is None:
        return None
    inner = [end for end in ("low", "high") if getattr(found, end) != getattr(column, end)]
    if inner and not has_round(found.low, found.high):
        return None
    low, high = outward_real(found.low, found.high, inner)
    codes = tuple(f"{code:.15g}" for code in found.codes)
    kept = tuple(spike for spike in column.spikes if low < spike < high)
    missing = (*column.missing, *codes)
    offer: Column
    if isinstance(column, Integer):
        whole = tuple(map(int, kept))
        offer = dataclasses.replace(
            column, low=int(low), high=int(high), spikes=whole, missing=missing
        )
    else:
        offer = dataclasses.replace(column, low=low, high=high, spikes=kept, missing=missing)
    if offer.problems():
        return None
    are = "a code for a missing one" if len(codes) == 1 else "codes for missing ones"
    return Note(
        f"far from all others: offered as {are}",
        f"{', '.join(codes)}: far from all other values. {are.capitalize()}? Then:",
        offer=offer,
        names=(*codes, *map(str, kept)),
    )
