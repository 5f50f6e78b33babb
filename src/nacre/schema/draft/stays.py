"""Dates that are a number of days, hours or minutes after others in every sampled row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from nacre.schema.constraints.statement import Word
from nacre.schema.draft.guess import ENOUGH, FEW
from nacre.schema.draft.seen import Matrix, Numbers
from nacre.schema.facts.formula import rounded
from nacre.schema.facts.statement import Formula, Term
from nacre.schema.facts.units import days

MOST_DATES, MOST_NUMBERS = 12, 60  # columns that are tried
UNITS = ("", "minutes", "hours", "seconds", "weeks")  # days need not be said
EXACT = 1e-9  # days that are lost to rounding: less than a hundredth of a second
SLACK = 1e-6  # of half a step


def stays(numbers: Numbers) -> Iterator[Formula]:
    """Facts such as `discharge = arrival + stay minutes`, or a number that rounds the time between.

    The rounded ones, such as `stay hours = discharge - arrival within 0.05`, come last.
    """
    place = {name: each for each, name in enumerate(numbers.names)}
    dates = [name for name in numbers.names if name in numbers.dates][:MOST_DATES]
    counts = [name for name in numbers.names if name not in numbers.dates][:MOST_NUMBERS]
    about: list[Formula] = []
    for start, end in itertools.permutations(dates, 2):
        if type(numbers.columns[start]) is not type(numbers.columns[end]):
            continue
        between = numbers.values[:, place[end]] - numbers.values[:, place[start]]
        if (between > 0).sum() < ENOUGH or (between < 0).sum() > (between > 0).sum():
            continue
        for name in counts:
            count, half = numbers.values[:, place[name]], float(numbers.halves[place[name]])
            for unit in UNITS:
                words = [Word.of_column(each) for each in (start, end, name)]
                if _same(between, count, unit, EXACT / float(days(unit))):
                    terms = [Term((words[0],)), Term((words[2],), unit=unit)]
                    yield rounded(end, terms, numbers.columns)
                elif numbers.computable(place[name]) and _same(between, count, unit, half):
                    terms = [Term((words[1],)), Term((words[0],), negative=True)]
                    about.append(rounded(name, terms, numbers.columns, unit))
    yield from about


def _same(between: Matrix, count: Matrix, unit: str, reach: float) -> bool:
    """Whether a number counts the time between two dates, in enough rows with more than none."""
    there = ~np.isnan(between) & ~np.isnan(count)
    meant = between[there] / float(days(unit))
    near = np.abs(count[there] - meant) <= reach * (1 + SLACK) + EXACT / float(days(unit))
    telling = (count[there] != 0) & (np.abs(meant) > reach)
    varied = len(np.unique(count[there][telling])) > 2
    return there.sum() >= ENOUGH and bool(near.all()) and telling.sum() >= FEW and varied
