"""Numbers that stand for "not known" beside a few whole numbers: 1 to 8, and -9.

Among many numbers what lies far from all others can be told by distance (`strays`); among a few,
each of which may be a code for something, more has to come together.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from nacre.schema.columns.grid import COMMON
from nacre.schema.draft.guess import ENOUGH, FEW, Note
from nacre.schema.draft.sketch import CLASSES, NEGATIVE, Sketch

MOST = 3  # codes in a row: 97, 98 and 99 for three reasons
NINES = tuple(code for code in COMMON if code >= 99)
APART = 3  # a nine so far from the others may be a code
WHOLE = re.compile(r"-?[0-9]+")
SYMMETRIC = 1  # -1, 0 and 1 are a score


class Coded(NamedTuple):
    """Codes for missing values, and the ends of the others.

    Attributes:
        codes: surely such, those nearest to the others first.
        perhaps: others, for a person to decide.
        low: the least of what is left without all of them.
        high: the largest.
    """

    codes: tuple[int, ...] = ()
    perhaps: tuple[int, ...] = ()
    low: int = 0
    high: int = 0


def coded(held: Mapping[str, int]) -> Coded:
    """The codes among a few whole numbers that many rows hold.

    The others have to be whole numbers next to each other from 0 or 1 on.  Then -1, -9, -99, ...
    are codes if one of them lies apart, and 99, 999, ... are; -1 beside 0 and 9 may be.

    Examples:
        >>> coded(dict.fromkeys(["-9", "1", "2", "3"], 50))
        Coded(codes=(-9,), perhaps=(), low=1, high=3)
        >>> coded(dict.fromkeys(["0", "1", "2", "98", "99"], 50)).codes
        (98, 99)
        >>> coded(dict.fromkeys(["-1", "0", "1", "2"], 50))
        Coded(codes=(), perhaps=(-1,), low=0, high=2)
        >>> coded(dict.fromkeys(["-1", "0", "1"], 50))
        Coded(codes=(), perhaps=(), low=0, high=0)
        >>> coded(dict.fromkeys(["0", "1", "2", "4", "99"], 50)).codes
        ()
        >>> coded(dict.fromkeys(["1", "2", "99", "1e+17"], 50)).codes
        ()
    """
    if not 2 < len(held) <= CLASSES or sum(held.values()) < ENOUGH:
        return Coded()
    if not all(WHOLE.fullmatch(value) for value in held):  # such as 1e+17, or inf
        return Coded()
    values = sorted(map(int, held))
    below, above = [each for each in values if each in NEGATIVE], _last(values)
    inner = [each for each in values if each not in (*below, *above)]
    if len(inner) < 2 or inner[0] not in (0, 1) or not _adjacent(inner):
        return Coded()
    if any(held[str(code)] < FEW for code in (*below, *above)):
        return Coded()
    sure, perhaps = list[int](), list[int]()
    if below:
        (sure if below[0] < inner[0] - 1 else perhaps).extend(reversed(below))
    if above:
        (sure if above[-1] in NINES else perhaps).extend(above)
    if -1 in perhaps and inner[-1] <= SYMMETRIC:
        return Coded()
    return Coded(tuple(sure), tuple(perhaps), inner[0], inner[-1]) if sure or perhaps else Coded()


def without_codes(
    sketch: Sketch, held: Mapping[str, int], few: Coded
) -> tuple[Sketch, dict[str, int]]:
    """What is left of a few numbers without their codes."""
    codes = set(map(str, few.codes))
    left = {value: n for value, n in held.items() if value not in codes}
    low, *_, high = left
    return (
        dataclasses.replace(
            sketch,
            low=float(low),
            low_rows=left[low],
            high=float(high),
            high_rows=left[high],
        ),
        left,
    )


def told_codes(missing: Collection[str], few: Coded) -> Note:
    """What the reviewer is told of codes that lie apart."""
    said = f"{', '.join(missing)}: apart from {few.low} to {few.high}, taken for missing values."
    return Note(
        "codes taken for missing values",
        f"{said} If one is a value like the others, list all of them instead.",
    )


def _last(values: list[int]) -> list[int]:
    """The numbers in a row that end in 9, 99, 999, ... far above all others."""
    top = values[-1]
    if top not in (*NINES, 9):
        return []
    row = [each for place, each in enumerate(reversed(values)) if each == top - place][::-1]
    apart = len(row) < len(values) and row[0] - values[-len(row) - 1] >= APART
    return row if apart and len(row) <= MOST else []


def _adjacent(values: Collection[int]) -> bool:
    return all(one + 1 == other for one, other in itertools.pairwise(values))
