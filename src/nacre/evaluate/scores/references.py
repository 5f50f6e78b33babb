"""What real data would score in the place of a synthetic table: what a perfect one would reach."""

import dataclasses
import math
from collections.abc import Iterable, Mapping

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.scores.part import Part
from nacre.evaluate.tables.comparison import TableComparison

MOST_ROWS = 250_000
"""Two samples of real rows are compared on at most this many rows, enough to know chance."""
FEWEST_ROWS = 20
"""With fewer rows in a sample its halves tell nothing about how chance falls with the size."""


@dataclasses.dataclass(frozen=True, eq=False)
class _Fresh:
    """Two disjoint samples of real rows in the places of the two tables, and two pairs half as big.

    Attributes:
        whole: one sample against the other.
        parts: their halves against each other; empty if there are too few rows.
        sizes: how many rows `whole` has in either place.
    """

    whole: TableComparison
    parts: tuple[TableComparison, ...]
    sizes: tuple[int, int]


class References:
    """The reference of each metric, computed once for all tables that share it."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], dict[Part, float]] = {}
        self._fresh: dict[int, _Fresh] = {}
        self._held_out: dict[int, TableComparison] = {}
        self._trained: dict[str, dict[Part, float]] = {}

    def of(self, metric: Metric, comparison: TableComparison) -> Mapping[Part, float]:
        """For each part of the metric, what real data scores; empty if it has no reference."""
        if metric.reference is None:
            return {}
        if metric.reference == "real-trained":
            if metric.name not in self._trained and comparison.real_trained is not None:
                self._trained[metric.name] = _values(metric.compute(comparison.real_trained))
            return self._trained.get(metric.name, {})
        key = (metric.name, len(comparison.synthetic))
        if key not in self._found:
            compute = self._expected if metric.reference == "fresh" else self._of_held_out
            self._found[key] = compute(metric, comparison)
        return self._found[key]

    def _of_held_out(self, metric: Metric, comparison: TableComparison) -> dict[Part, float]:
        """Held-out rows, no more than the synthetic table has, against the rows of the fit."""
        size = len(comparison.synthetic)
        if size not in self._held_out:
            self._held_out[size] = dataclasses.replace(
                comparison,
                name="held-out",
                real=comparison.train,
                synthetic=comparison.test.sample(size, comparison.rng("held-out rows")),
                real_trained=None,
            )
        return _values(metric.compute(self._held_out[size]))

    def _expected(self, metric: Metric, comparison: TableComparison) -> dict[Part, float]:
        """What as many fresh real rows as the synthetic table has would score, on average.

        There are no such rows, so two disjoint samples of the real table are compared, which are
        smaller, and the distance from a perfect score is scaled to the right sizes. It falls like
        a power of the effective size 1/(1/n + 1/m): the power is 1/2 where every count is large,
        less where counts are small, and is read off from samples half as big.
        """
        size = len(comparison.synthetic)
        if size not in self._fresh:
            self._fresh[size] = _samples(comparison)
        fresh = self._fresh[size]
        best = metric.low if metric.goal == "lower" else metric.high
        found = _values(metric.compute(fresh.whole))
        halves = [_values(metric.compute(part)).get("", math.nan) for part in fresh.parts]
        power = _power(abs(found.get("", math.nan) - best), [abs(v - best) for v in halves])
        most = metric.rows or max(len(comparison.real), size)
        here, there = (
            _effective(*(min(n, most) for n in sizes))
            for sizes in (fresh.sizes, (len(comparison.real), size))
        )
        factor = (here / there) ** power
        return {part: best + (value - best) * factor for part, value in found.items()}


def _samples(comparison: TableComparison) -> _Fresh:
    real = comparison.real
    rng = comparison.rng("fresh rows")
    order = rng.permutation(len(real))[:MOST_ROWS]
    second = min(len(comparison.synthetic), len(order) // 2)
    places = order[second:], order[:second]

    def compare(first: np.ndarray, other: np.ndarray) -> TableComparison:
        return dataclasses.replace(
            comparison,
            name="fresh",
            real=real.take(np.sort(first)),
            synthetic=real.take(np.sort(other)),
            real_trained=None,
        )

    parts: tuple[TableComparison, ...] = ()
    if second >= FEWEST_ROWS:
        parts = tuple(compare(places[0][half::2], places[1][half::2]) for half in (0, 1))
    return _Fresh(compare(*places), parts, (len(places[0]), len(places[1])))


def _power(whole: float, halves: list[float]) -> float:
    """By which power of the size a distance falls, from it and those at half the size."""
    mean = float(np.mean(halves)) if halves else math.nan
    if not (whole > 0 and mean > 0):
        return 0.5
    return min(max(math.log2(mean / whole), 0.0), 0.5)


def _effective(first: int, second: int) -> float:
    return 1 / (1 / first + 1 / second)


def _values(found: Iterable[Value]) -> dict[Part, float]:
    return {value.part: value.value for value in found}
