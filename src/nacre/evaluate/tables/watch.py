"""Which pairs of columns of a wide table get a score of their own: those that are farthest off.

A thousand columns have half a million pairs.  Means are taken over all of them, but nobody reads
half a million scores.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.pairs import Place
from nacre.evaluate.tables.rows import Rows

MOST_PAIRS = 5_000
"""Up to this many pairs, as of a hundred columns, each has its score."""
WORST = 250
"""Pairs of a wide table that are watched for their counts, and as many for their association."""
FEWEST_ROWS = 50
"""Rows outside a column's most frequent value. With fewer, two rows that happen to coincide make
an association."""


def is_wide(columns: int) -> bool:
    """Whether a table has too many pairs of columns for a score each.

    Examples:
        >>> is_wide(100), is_wide(101)
        (False, True)
    """
    return columns * (columns - 1) // 2 > MOST_PAIRS


def watch(comparisons: Mapping[str, TableComparison]) -> dict[str, TableComparison]:
    """The comparisons, each watching the pairs that are worst in any of them."""
    if not is_wide(len(next(iter(comparisons.values())).real.names)):
        return dict(comparisons)
    worst = {place for comparison in comparisons.values() for place in _worst(comparison)}
    watched = tuple(sorted(worst))
    return {name: comparison.watching(watched) for name, comparison in comparisons.items()}


def links(comparison: TableComparison) -> np.ndarray:
    """How much each association changes, 0 where a column varies too little to tell."""
    gaps = np.abs(comparison.pairs.real - comparison.pairs.synthetic)
    varied = varies(comparison.real)
    return np.where(varied[:, None] & varied, gaps, 0.0)


def varies(rows: Rows) -> np.ndarray:
    """Which columns have rows enough outside their most frequent value."""
    most = [np.bincount(column.codes).max() for column in rows.binned]
    return len(rows) - np.array(most) >= FEWEST_ROWS


def _worst(comparison: TableComparison) -> Iterable[Place]:
    first, second = np.triu_indices(len(comparison.pairs.names), 1)
    for matrix in (comparison.pairs.total_variation, links(comparison)):
        values = comparison.pairs.each(matrix)
        for place in np.argsort(-values, kind="stable")[:WORST]:
            yield int(first[place]), int(second[place])
