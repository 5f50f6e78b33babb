"""Numbers that are the sum of others in every sampled row, each taken once or so many times."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import final

import numpy as np

from nacre.schema.constraints.statement import Word
from nacre.schema.draft.guess import ENOUGH, FEW
from nacre.schema.draft.seen import Matrix, Numbers
from nacre.schema.facts.formula import rounded
from nacre.schema.facts.statement import Formula, Term

MOST_COLUMNS = 300  # of which pairs are tried
MOST_LONG = 60  # columns among which longer sums are looked for
LONGEST = 8  # terms
DIGITS = 4  # of a factor: a price has as many, what merely correlates has more
FINE = 40  # steps that the rows typically lie apart, where factors are looked for
SLACK = 1e-6  # of half a step
EXACT = 1e-9  # of the size of the numbers, which float64 loses
ROUNDING = 0.7  # of half a step: what rounded numbers are typically off by, and a little more


def sums(numbers: Numbers) -> Iterator[Formula]:
    """Facts such as `total = a + b`, and then `cost = fee + 1.75 * minutes + lab`."""
    numbers = numbers.without(numbers.dates)
    if len(numbers.values) < ENOUGH or not 2 < len(numbers.names) <= MOST_COLUMNS:
        return
    told: set[str] = set()
    for total, parts in _pairs(numbers):
        if numbers.names[total] not in told:
            told.add(numbers.names[total])
            yield _Sum(total, tuple((part, 1.0) for part in parts)).formula(numbers)
    numbers = numbers.without(told)
    if 2 < len(numbers.names) <= MOST_LONG:
        for found in _longer(numbers):
            yield found.formula(numbers)


@final
@dataclasses.dataclass(frozen=True)
class _Sum:
    """Which column is the sum of which others, each with its factor, and a constant."""

    total: int
    parts: tuple[tuple[int, float], ...]
    constant: float = 0.0

    @property
    def columns(self) -> frozenset[int]:
        return frozenset((self.total, *(part for part, _ in self.parts)))

    @property
    def plainness(self) -> tuple[int, int, int]:
        """Of several ways to say the same, the least of these is how people say it."""
        factors = [*(factor for _, factor in self.parts), self.constant]
        digits = sum(len(f"{abs(factor):g}") for factor in factors)
        return digits, sum(factor < 0 for factor in factors), -self.total

    def formula(self, numbers: Numbers) -> Formula:
        terms = []
        for part, factor in sorted(self.parts, key=lambda each: (each[1] < 0, each[0])):
            times = () if abs(factor) == 1 else (Word(f"{abs(factor):g}"),)
            terms.append(Term((*times, Word.of_column(numbers.names[part])), factor < 0))
        if self.constant:
            terms.append(Term((Word(f"{abs(self.constant):g}"),), self.constant < 0))
        return rounded(numbers.names[self.total], terms, numbers.columns)


# ----- sums of two, each taken once


def _pairs(numbers: Numbers) -> Iterator[tuple[int, tuple[int, int]]]:
    """Columns that are the sum of two others, found by one random sum over the rows of each."""
    weights = np.random.default_rng(0).standard_normal(len(numbers.values))
    for totals, parts, rows in _groups(numbers):
        values = numbers.values[rows]
        marks = weights[rows] @ values[:, parts]
        order = np.argsort(marks)
        near = np.abs(marks).max() * 1e-9
        for place, one in enumerate(parts):
            meant = marks[place] + marks[place + 1 :]
            starts, ends = (np.searchsorted(marks[order], meant + side) for side in (-near, near))
            for after in np.flatnonzero(starts < ends).tolist():
                other = parts[place + 1 + after]
                both = values[:, [one, other]]
                if (both != 0).all(axis=1).sum() < FEW:
                    continue
                for total in (parts[each] for each in order[starts[after] : ends[after]]):
                    same = np.allclose(both.sum(axis=1), values[:, total], rtol=1e-9, atol=1e-7)
                    if total in totals and total not in (one, other) and same:
                        yield total, (one, other)


def _groups(numbers: Numbers) -> Iterator[tuple[list[int], list[int], np.ndarray]]:
    """Columns that are missing in the same rows, what may add up to them, and the other rows.

    A sum is missing exactly where one of its parts is: so no part is missing where it is there.
    """
    gone = np.isnan(numbers.values)
    _, group = np.unique(np.packbits(gone, axis=0), axis=1, return_inverse=True)
    for each in range(group.max() + 1):
        members = np.flatnonzero(group == each)
        totals = [place for place in members.tolist() if numbers.computable(place)]
        rows = ~gone[:, members[0]]
        if rows.sum() < ENOUGH or not totals:
            continue
        parts = np.flatnonzero(~gone[rows].any(axis=0)).tolist()
        yield totals, parts, rows


# ----- longer ones, and factors


def _longer(numbers: Numbers) -> list[_Sum]:
    """Each relation between columns once, said as people would."""
    found: dict[frozenset[int], _Sum] = {}
    for totals, parts, rows in _groups(numbers):
        values = numbers.values[rows]
        for total in totals:
            others = [part for part in parts if part != total]
            sum_ = _weighted(values, total, others, float(numbers.halves[total]))
            if sum_ is not None:
                known = found.get(sum_.columns, sum_)
                found[sum_.columns] = min(known, sum_, key=lambda each: each.plainness)
    return sorted(found.values(), key=lambda each: each.plainness)


def _weighted(values: Matrix, total: int, others: Sequence[int], half: float) -> _Sum | None:
    """The fewest of the others of which `total` is a sum, up to rounding; None if it is none."""
    target = values[:, total]
    spread = float(np.median(np.abs(target - np.median(target))))
    if len(target) < 2 * (len(others) + 1) or len(np.unique(target)) < 3:
        return None
    left = _fewest(values[:, others], target, half)
    parts = [others[place] for place in left]
    if not 0 < len(parts) <= LONGEST or not all(_tells(values[:, part]) for part in parts):
        return None
    matrix = np.column_stack([values[:, parts], np.ones(len(target))])
    exact = np.linalg.lstsq(matrix, target, rcond=None)[0]
    reach = half * (1 + SLACK) + 1e-9 * float(np.abs(target).max())
    factors = [_short(f, reach / np.abs(matrix[:, i]).max()) for i, f in enumerate(exact.tolist())]
    once = all(factor in (1, -1) for factor in factors[:-1]) and not factors[-1]
    if None in factors or not all(factors[:-1]) or (not once and spread < FINE * half):
        return None
    if len(parts) == 1 and not factors[-1]:
        return None  # a multiple, which `products` finds
    short = np.array(factors, float)
    if (np.abs(matrix @ short - target) > reach).any():
        return None
    pairs = tuple((part, float(f)) for part, f in zip(parts, short[:-1], strict=True))
    return _Sum(total, pairs, float(short[-1]))


def _fewest(others: Matrix, target: Matrix, half: float) -> list[int]:
    """Columns without any of which the target would no longer be their sum; none if it is not.

    One triangular system stands for all rows: what it leaves over has the same length.  Where all
    columns leave nothing over, the fewest are to leave nothing; else no more than rounding does.
    """
    scale = np.maximum(np.abs(others).max(axis=0), 1e-300)
    joined = np.column_stack([others / scale, np.ones(len(target)), target])
    system: Matrix = np.linalg.qr(joined, mode="r")  # type: ignore[assignment]
    nothing = EXACT * float(np.linalg.norm(target))
    rounding = ROUNDING * half * np.sqrt(len(target))

    def left_over(columns: Sequence[int]) -> tuple[float, np.ndarray]:
        matrix = system[:, [*columns, others.shape[1]]]
        factors = np.linalg.lstsq(matrix, system[:, -1], rcond=None)[0]
        return float(np.linalg.norm(matrix @ factors - system[:, -1])), factors[:-1]

    kept = list(range(others.shape[1]))
    over, factors = left_over(kept)
    if over > max(nothing, rounding):
        return []
    enough = nothing if over <= nothing else rounding
    for place in np.argsort(np.abs(factors)).tolist():
        fewer = [each for each in kept if each != place]
        if left_over(fewer)[0] <= enough:
            kept = fewer
    return kept


def _tells(part: Matrix) -> bool:
    """Whether enough rows differ from the commonest value, so that its factor is no accident."""
    return len(part) - int(np.unique(part, return_counts=True)[1].max()) >= FEW


def _short(factor: float, near: float) -> float | None:
    """The shortest number so near to a factor; None if it has too many digits."""
    if abs(factor) <= near:
        return 0.0
    for digits in range(1, DIGITS + 1):
        short = float(f"{factor:.{digits}g}")
        if abs(short - factor) <= near:
            return short
    return None
