"""Counting joint cells of coded columns, and how far two such counts are apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nacre.evaluate.tables.links import corrected_v
from nacre.evaluate.tables.rows import Coded

DENSE = 1 << 20
"""Up to this many cells are counted in an array; more, by sorting, so memory follows the rows."""


def joint(columns: Sequence[Coded]) -> Coded:
    """One code for each combination of values of several columns.

    Examples:
        >>> a = Coded(np.array([0, 1, 1]), 2)
        >>> b = Coded(np.array([2, 0, 1]), 3)
        >>> joint([a, b]).codes.tolist()
        [2, 3, 4]
    """
    size = 1
    for column in columns:
        size *= column.size
    kind = np.uint16 if size <= 1 << 16 else np.int32 if size < 1 << 31 else np.int64
    codes: Any = columns[0].codes.astype(kind)
    for column in columns[1:]:
        codes *= kind(column.size)
        codes += column.codes.astype(kind)
    return Coded(codes, size)


def shares(real: Coded, synthetic: Coded) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cells, and the share of the rows in each, for both tables.

    Returns:
        Codes of the cells, real shares, synthetic shares. All cells if there are few; otherwise
        only those that occur in either table.
    """
    if real.size <= DENSE:
        return (
            np.arange(real.size),
            np.bincount(real.codes, minlength=real.size) / len(real.codes),
            np.bincount(synthetic.codes, minlength=real.size) / len(synthetic.codes),
        )
    both, place = np.unique(np.concatenate([real.codes, synthetic.codes]), return_inverse=True)
    split = len(real.codes)
    return (
        both,
        np.bincount(place[:split], minlength=len(both)) / split,
        np.bincount(place[split:], minlength=len(both)) / len(synthetic.codes),
    )


def total_variation(real: Coded, synthetic: Coded) -> float:
    """Half the summed difference of shares: the share of rows that would have to move.

    Examples:
        >>> total_variation(Coded(np.array([0, 0, 1, 1]), 2), Coded(np.array([0, 1, 1, 1]), 2))
        0.25
    """
    _, p, q = shares(real, synthetic)
    return float(np.abs(p - q).sum() / 2)


def cramers_v(cells: np.ndarray, share: np.ndarray, sizes: tuple[int, int], rows: int) -> float:
    """Cramér's V of a two-way table: 0 for independent columns, 1 if one decides the other.

    V² = φ²/min(r-1, c-1), φ² = Σ p_ij²/(p_i· p_·j) - 1, where r and c count the rows and columns
    of the table that occur at all; without what chance adds in so many `rows`, see `corrected_v`.
    A table with a single row or column has V = 0.
    """
    first, second = np.divmod(cells, sizes[1])
    upper = np.bincount(first, weights=share, minlength=sizes[0])
    left = np.bincount(second, weights=share, minlength=sizes[1])
    used = share > 0
    phi = np.sum(share[used] ** 2 / (upper[first[used]] * left[second[used]])) - 1
    return float(corrected_v(phi, np.count_nonzero(upper), np.count_nonzero(left), rows))
