"""Every pair of columns at once: how far off its joint counts are, and how associated it is."""

import dataclasses
import functools
import itertools
from collections.abc import Collection, Iterator, Mapping

import numpy as np

from nacre.evaluate.tables.cells import cramers_v, joint, shares
from nacre.evaluate.tables.few_valued import MOST_VALUES, compare_few
from nacre.evaluate.tables.links import chance_correlation, chance_v
from nacre.evaluate.tables.rare import moved, put_together
from nacre.evaluate.tables.rows import Coded, Rows

BLOCK = 512
"""Rows to a product. Small ones stay on one thread: threads that wait for each other on a busy
machine take twenty times as long as the products themselves."""
HIDDEN = 0.5
"""The share of the rows in one bin, above which bins say little about a number."""
SMALLEST_VARIANCE = 1e-13
"""Of a column scaled to [0, 1]; what single precision leaves of a constant is below this."""


Place = tuple[int, int]
"""Of a pair: the numbers of its columns, the smaller first."""


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two columns of a table.

    Examples:
        >>> print(Pair("age", "sex"))
        age × sex
    """

    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.first} × {self.second}"


@dataclasses.dataclass(frozen=True, eq=False)
class PairMatrices:
    """Symmetric matrices over the columns of the table.

    Attributes:
        names: the columns.
        total_variation: of the two-way marginal of each pair, numbers in 20 bins.
        real: association in the real table.
        synthetic: association in the synthetic table.
        chance: by how much the associations of columns that have nothing to do with each other
            differ by chance, exceeded for any pair in about one comparison of a hundred.
    """

    names: tuple[str, ...]
    total_variation: np.ndarray
    real: np.ndarray
    synthetic: np.ndarray
    chance: np.ndarray

    def each(self, matrix: np.ndarray) -> np.ndarray:
        """The values of all pairs of a matrix, in the order of `places`."""
        values: np.ndarray = matrix[np.triu_indices(len(self.names), 1)]
        return values

    def places(self, some: Collection[Place] | None = None) -> dict[Pair, Place]:
        """Where each pair is in the matrices, row before column; all pairs, or some."""
        every = itertools.combinations(range(len(self.names)), 2) if some is None else some
        return {Pair(self.names[i], self.names[j]): (i, j) for i, j in every}

    def place(self, pair: Pair) -> Place:
        """Where one pair is."""
        return self._index[pair.first], self._index[pair.second]

    @functools.cached_property
    def _index(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}


def compare_pairs(real: Rows, synthetic: Rows) -> PairMatrices:
    """Compare all two-way marginals, and the association within each pair.

    Association is Pearson's correlation (signed) for two numbers, on the rows where neither is
    missing, and Cramér's V (0 to 1, without what chance adds to it) on the binned table if either
    column is a category. There a number that equal bins would hide in one of them is cut by the
    real table's quantiles, and values that hardly any real row has are put together.
    Categories with few values are compared by matrix products, so that a thousand of them take
    seconds; other pairs by one pass of integer counting each: fifty columns of a million rows take
    seconds too.
    """
    names = real.names
    size = len(names)
    distance = np.zeros((size, size))
    associations = [np.eye(size), np.eye(size)]
    few = [i for i in range(size) if _is_few_valued(real, i)]
    if len(few) > 1:
        tables = ([rows.binned[i] for i in few] for rows in (real, synthetic))
        for matrix, found in zip((distance, *associations), compare_few(*tables), strict=True):
            matrix[np.ix_(few, few)] = found
    seen = _seen(real, synthetic)
    for i, j in _other_pairs(size, frozenset(few)):
        cells, p, q = shares(
            joint([real.binned[i], real.binned[j]]),
            joint([synthetic.binned[i], synthetic.binned[j]]),
        )
        distance[i, j] = distance[j, i] = np.abs(p - q).sum() / 2
        if real.is_number(names[i]) and real.is_number(names[j]):
            continue
        if i in seen or j in seen:
            first, second = (seen.get(k, (real.binned[k], synthetic.binned[k])) for k in (i, j))
            cells, p, q = shares(joint([first[0], second[0]]), joint([first[1], second[1]]))
            sizes = (first[0].size, second[0].size)
        else:
            sizes = (real.binned[i].size, real.binned[j].size)
        for association, share, rows in zip(associations, (p, q), (real, synthetic), strict=True):
            association[i, j] = association[j, i] = cramers_v(cells, share, sizes, len(rows))
    numbers = [i for i, name in enumerate(names) if real.is_number(name)]
    for association, rows in zip(associations, (real, synthetic), strict=True):
        if len(numbers) > 1:
            association[np.ix_(numbers, numbers)] = correlation(rows, [names[i] for i in numbers])
    here, there = associations
    return PairMatrices(names, distance, here, there, _chance(real, synthetic, seen))


def _chance(real: Rows, synthetic: Rows, seen: Mapping[int, tuple[Coded, Coded]]) -> np.ndarray:
    """By how much chance alone may change the association of each pair."""
    columns = [seen[i][0] if i in seen else column for i, column in enumerate(real.binned)]
    sizes = np.array([np.count_nonzero(np.bincount(column.codes)) for column in columns])
    # The variance of a difference is the sum of both: as of one table of 1/(1/n + 1/m) rows.
    rows = round(1 / (1 / len(real) + 1 / len(synthetic))) if len(real) and len(synthetic) else 1
    found = chance_v(sizes, rows)
    numbers = [i for i, name in enumerate(real.names) if real.is_number(name)]
    if len(numbers) > 1:
        gaps = [real.missing(real.names[i]) for i in numbers]
        present = np.array([1.0 if gap is None else 1 - gap.mean() for gap in gaps]) * rows
        found[np.ix_(numbers, numbers)] = chance_correlation(present, rows)
    return found


def _is_few_valued(rows: Rows, place: int) -> bool:
    """Whether a column is a category that matrix products can compare."""
    return not rows.is_number(rows.names[place]) and 2 <= rows.binned[place].size <= MOST_VALUES


def _other_pairs(size: int, done: frozenset[int]) -> Iterator[Place]:
    """All pairs of columns but those of two that are done."""
    for i in range(size):
        for j in range(i + 1, size):
            if i not in done or j not in done:
                yield i, j


def _seen(real: Rows, synthetic: Rows) -> dict[int, tuple[Coded, Coded]]:
    """Columns whose links are to be seen in other cells than those in which they are counted.

    Numbers of which one equal bin holds most rows are cut by quantiles if that shows more, and rare
    values are put together.
    """
    found = {}
    for place, name in enumerate(real.names):
        tables = real.binned[place], synthetic.binned[place]
        equal = _largest(tables[0])
        if real.is_number(name) and equal > HIDDEN:
            edges = real.quantile_edges(name)
            cut = real.bin_at(name, edges)
            if _largest(cut) < equal / 2:
                tables = cut, synthetic.bin_at(name, edges)
        places = put_together(tables[0])
        if places is not None or tables[0] is not real.binned[place]:
            found[place] = moved(tables[0], places), moved(tables[1], places)
    return found


def _largest(column: Coded) -> float:
    """The share of the rows in the fullest bin."""
    return float(np.bincount(column.codes).max() / len(column.codes))


def correlation(rows: Rows, names: list[str]) -> np.ndarray:
    """Pearson's correlation of numbers, pairwise over rows where both are present.

    A column that never varies has correlation 0 with every other. The sums are taken in blocks of
    rows, on values centered first so that none of them cancels.
    """
    width = len(names)
    units = [rows.unit(name) for name in names]
    center = np.array(
        [np.nanmean(u, dtype=np.float64) if not np.isnan(u).all() else 0 for u in units]
    )
    count, first, second, cross = (np.zeros((width, width)) for _ in range(4))
    for start in range(0, len(rows), BLOCK):
        block = np.stack([u[start : start + BLOCK] for u in units], axis=1) - center
        present = (~np.isnan(block)).astype(np.float64)
        if present.all():  # then three of the four products are sums of columns
            count += len(block)
            first += block.sum(axis=0)[:, None]
            second += (block**2).sum(axis=0)[:, None]
        else:
            block = np.nan_to_num(block)
            count += present.T @ present
            first += block.T @ present
            second += (block**2).T @ present
        cross += block.T @ block
    count = np.maximum(count, 1)
    variance = second / count - (first / count) ** 2
    covariance = cross / count - first * first.T / count**2
    spread = np.sqrt(np.maximum(variance * variance.T, 0))
    varies = spread > SMALLEST_VARIANCE
    result = np.where(varies, covariance / np.where(varies, spread, 1), 0)
    np.fill_diagonal(result, 1)
    return result
