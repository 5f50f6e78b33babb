"""Numbers that are the product of two others, or so many times another, in every sampled row."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from nacre.schema.constraints.statement import Word
from nacre.schema.draft.guess import ENOUGH, FEW
from nacre.schema.draft.seen import Matrix, Numbers
from nacre.schema.facts.formula import rounded
from nacre.schema.facts.statement import Formula, Term

MOST_COLUMNS = 60  # among which they are looked for
DIGITS = 4  # of a factor: a tax rate has as many, what merely correlates has more
SLACK = 1e-6  # of half a step


def products(numbers: Numbers) -> Iterator[Formula]:
    """Facts such as `vat = 0.19 * price within 0.005` and `charges = nights * price`.

    Each is within half a step of its column, which is what rounding leaves.
    """
    numbers = numbers.without(numbers.dates).complete
    names, values, columns = numbers.names, numbers.values, numbers.columns
    if len(values) < ENOUGH or not 1 < len(names) <= MOST_COLUMNS:
        return
    lists = {place for place in range(len(names)) if not numbers.computable(place)}
    found: set[int] = set(lists)
    for one, total in itertools.permutations(range(len(names)), 2):
        if total in found or one in found - lists:
            continue
        factor = common_factor(values[:, total], values[:, one], float(numbers.halves[total]))
        if factor is not None:
            found.add(total)
            times = () if factor == 1 else (Word(f"{factor:g}"),)
            term = Term((*times, Word.of_column(names[one])))
            yield rounded(names[total], [term], columns)
    for total, (one, other) in _pairs(values, numbers.halves, found, lists):
        term = Term((Word.of_column(names[one]), Word.of_column(names[other])))
        yield rounded(names[total], [term], columns)


def common_factor(total: Matrix, one: Matrix, half: float) -> float | None:
    """The shortest factor k with total = k * one in every row, up to rounding; None for none."""
    there, half = one != 0, half * (1 + SLACK)
    if there.sum() < FEW or (np.abs(total[~there]) > half).any():
        return None
    ends = (total[there, None] + [-half, half]) / one[there, None]
    low, high = ends.min(axis=1).max(), ends.max(axis=1).min()
    if not low <= high or not math.isfinite(high - low) or low <= 0 <= high:
        return None
    for digits in range(1, DIGITS + 1):
        for near in ((low + high) / 2, low, high):
            factor = float(f"{near:.{digits}g}")
            if low <= factor <= high:
                return factor
    return None


def _pairs(
    values: Matrix, halves: Matrix, known: set[int], lists: set[int]
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Columns that are the product of two others, each found once."""
    found = set(known)
    widest = halves * (1 + SLACK) + 1e-9 * np.abs(values).max(axis=0)
    first = values[: min(len(values), ENOUGH)]
    for one, other in itertools.combinations(range(values.shape[1]), 2):
        # Some rows rule out nearly all columns; the rest are held against every row.
        apart = np.abs(first - (first[:, one] * first[:, other])[:, None])
        for total in np.flatnonzero((apart <= widest).all(axis=0)).tolist():
            parts = values[:, [one, other]]
            if total in found or total in (one, other) or {one, other} & (found - lists):
                continue
            if ((parts != 0) & (parts != 1)).all(axis=1).sum() < FEW:
                continue
            if (np.abs(values[:, total] - parts.prod(axis=1)) <= widest[total]).all():
                found.add(total)
                yield total, (one, other)
