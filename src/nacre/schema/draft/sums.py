"""Numbers that are the sum of others in every sampled row, and dates that are some days later."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.schema.columns import cells
from nacre.schema.columns.moment import DAY, Datetime
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.statement import Word
from nacre.schema.draft.guess import ENOUGH, FEW
from nacre.schema.draft.sample import Sample
from nacre.schema.facts.statement import Formula, Term
from nacre.schema.schema import Schema

MOST_COLUMNS = 300  # of which pairs are tried
MOST_LONG = 60  # columns among which sums of more than two are looked for
LONGEST = 8  # terms
NEAR_MOST_DATES = 946_684_800 * 10**6  # 2000-01-01; less is lost of small numbers
ROWS = 2_000  # looked at; what they agree on is then held against every row
Matrix = NDArray[np.float64]


def sums(schema: Schema, sample: Sample) -> Iterator[Formula]:
    """Facts such as `total = a + b`, of two terms and then of more; dates count in days."""
    names, values = numbers(schema, sample, dates=True)
    if len(values) < ENOUGH or len(names) > MOST_COLUMNS:
        return
    free = list(range(len(names)))
    for total, parts in _pairs(values):
        if total in free:
            free.remove(total)
            yield _formula(names, total, parts)
    if not 3 < len(free) <= MOST_LONG:
        return
    for total in list(free):
        others = [place for place in free if place != total]
        parts = _long(values[:, total], values[:, others])
        if parts:
            free.remove(total)
            yield _formula(names, total, [others[part] for part in parts])


def _formula(names: Sequence[str], total: int, parts: Sequence[int]) -> Formula:
    terms = tuple(Term((Word.of_column(names[part]),)) for part in sorted(parts))
    return Formula(Word.of_column(names[total]), terms)


def numbers(schema: Schema, sample: Sample, *, dates: bool) -> tuple[list[str], Matrix]:
    """Numbers that have a last decimal and vary, in rows where none of them is missing."""
    columns = {}
    for name, column in schema.columns.items():
        if name == schema.label:
            continue
        if isinstance(column, Integer | Real) and column.grid is not None:
            columns[name] = cells.numbers(column.present(sample.column(name)))[0]
        elif isinstance(column, Datetime) and dates:
            columns[name] = _days(column, sample.column(name))
    names = [name for name, column in columns.items() if np.isfinite(column).mean() > 0.5]
    if len(names) < 2:
        return [], np.zeros((0, 0))
    values = np.stack([columns[name] for name in names], axis=1)
    values = values[np.isfinite(values).all(axis=1)][:: max(1, len(values) // ROWS)]
    several = [place for place in range(len(names)) if len(np.unique(values[:, place])) > 2]
    return [names[place] for place in several], values[:, several]


def _days(column: Datetime, cells: pa.Array) -> Matrix:
    """Days since a common one, not a number where there is none."""
    reading = column.read(cells)
    gone = reading.missing.copy()
    for where in reading.refused.values():
        gone |= where
    moments = Scale(column).values(reading.values)
    return np.where(gone, np.nan, (moments - NEAR_MOST_DATES) / DAY)


def _pairs(values: Matrix) -> Iterator[tuple[int, list[int]]]:
    """Columns that are the sum of two others, found by one random sum over the rows of each."""
    marks = np.random.default_rng(0).standard_normal(len(values)) @ values
    order = np.argsort(marks)
    scale = np.abs(marks).max() * 1e-9
    count = values.shape[1]
    for first, second in itertools.combinations(range(count), 2):
        meant = marks[first] + marks[second]
        near = np.searchsorted(marks[order], [meant - scale, meant + scale])
        for total in order[near[0] : near[1]]:
            parts = values[:, [first, second]]
            if total in (first, second) or (parts != 0).all(axis=1).sum() < FEW:
                continue
            if _equal(parts.sum(axis=1), values[:, total]):
                yield int(total), [first, second]


def _long(total: Matrix, others: Matrix) -> list[int]:
    """The columns, each taken once, of which `total` is the sum; none if there are no such."""
    if len(total) < 2 * others.shape[1]:
        return []
    factors = np.linalg.lstsq(others, total, rcond=None)[0]
    whole = np.rint(factors)
    parts = np.flatnonzero(whole)
    if not 2 < len(parts) <= LONGEST or (whole[parts] != 1).any():
        return []
    return parts.tolist() if _equal(others @ whole, total) else []


def _equal(one: Matrix, other: Matrix) -> bool:
    return bool(np.allclose(one, other, rtol=1e-9, atol=1e-7))
