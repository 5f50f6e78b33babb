"""Sums, products and multiples that hold in nearly all of some rows: candidates, to be counted."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from nacre.evaluate.tables.rows import Rows
from nacre.schema.columns.clock import Time
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime
from nacre.schema.constraints.statement import Word
from nacre.schema.draft.products import common_factor
from nacre.schema.facts.amounts import adds_up, amounts, half_step, line
from nacre.schema.facts.formula import rounded
from nacre.schema.facts.statement import Formula, Term

MOST_NUMBERS = 30  # columns
NEARLY = 0.99  # of the rows
ENOUGH = 20  # rows that tell something: parts that are not 0
SLACK = 1e-6  # of half a step, which is what rounding leaves


def nearly_formulas(some: Rows) -> Iterator[Formula]:
    """Formulas of the first numbers and dates, a date plus days included."""
    columns = some.schema.columns
    names = [name for name in some.names if adds_up(columns[name]) and line(columns[name])]
    names = [name for name in names if not isinstance(columns[name], Time)]  # days lead out of it
    values = {name: amounts(columns[name], some.values(name)) for name in names[:MOST_NUMBERS]}
    names = [name for name, each in values.items() if len(np.unique(each[~np.isnan(each)])) > 2]
    if len(names) > 1:
        for total, terms in _candidates(names, values, columns):
            yield rounded(total, terms, columns)


def _candidates(
    names: Sequence[str], values: dict[str, np.ndarray], columns: Mapping[str, Column]
) -> Iterator[tuple[str, list[Term]]]:
    """Totals and terms that hold in nearly all of some rows."""
    table = np.stack([values[name] for name in names], axis=1)
    reach = np.array([float(half_step(columns[name])) * (1 + SLACK) for name in names])
    dates = np.array([isinstance(columns[name], Datetime) for name in names])
    word = [Word.of_column(name) for name in names]
    for one, other in itertools.combinations(range(len(names)), 2):
        parts = table[:, [one, other]]
        if not dates[[one, other]].all() and _tell(parts[:, ~dates[[one, other]]], (0,)):
            terms = [
                Term((word[place],)) for place in sorted((one, other), key=lambda i: ~dates[i])
            ]
            alike = dates == dates[[one, other]].any()
            for total in _near(table, parts.sum(axis=1), reach, alike, (one, other)):
                yield names[total], terms
        if not dates[[one, other]].any() and _tell(parts, (0, 1)):
            for total in _near(table, parts.prod(axis=1), reach, ~dates, (one, other)):
                yield names[total], [Term((word[one], word[other]))]
    for one, total in itertools.permutations(np.flatnonzero(~dates).tolist(), 2):
        there = ~np.isnan(table[:, [one, total]]).any(axis=1)
        factor = common_factor(table[there, total], table[there, one], float(reach[total]))
        if factor is not None:
            times = () if factor == 1 else (Word(f"{factor:g}"),)
            yield names[total], [Term((*times, word[one]))]


def _tell(parts: np.ndarray, nothing: Sequence[float]) -> bool:
    """Whether in enough rows no part is one that leaves the other as it is."""
    return int((~np.isin(parts, nothing) & ~np.isnan(parts)).all(axis=1).sum()) >= ENOUGH


def _near(
    table: np.ndarray, meant: np.ndarray, reach: np.ndarray, able: np.ndarray, parts: Sequence[int]
) -> list[int]:
    """Other columns that are what is meant in nearly all rows that have both."""
    apart = np.abs(table - meant[:, None])
    there = ~np.isnan(apart)
    holds = ((apart <= reach) & there).sum(axis=0)
    enough = (there.sum(axis=0) >= ENOUGH) & (holds >= NEARLY * there.sum(axis=0)) & able
    return [place for place in np.flatnonzero(enough).tolist() if place not in parts]
