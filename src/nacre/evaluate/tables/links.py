"""Cramér's V without what chance adds to it (Bergsma, 2013), and what chance leaves of it.

Of independent columns V is not 0 but about sqrt((r-1)(c-1)/n/min(r-1, c-1)): a tenth, for two lists
of thirty values in 3,000 rows. Among such numbers a link that was made up is not to be seen.
"""

from typing import Any

import numpy as np
from scipy.stats import chi2, norm

PART = 0.01
"""How seldom chance alone may make any of all pairs of columns look linked."""


def corrected_v(phi: Any, first: Any, second: Any, rows: int) -> Any:
    """V of tables with `first` rows and `second` columns that occur, counted from `rows` rows.

    phi² is lowered by what independent columns make expect, (r-1)(c-1)/(n-1), and r and c by
    (r-1)²/(n-1) and (c-1)²/(n-1), so that V is 1 still if one column decides the other.

    Examples:
        >>> float(corrected_v(0.0, 3, 3, 100)), float(corrected_v(1.0, 2, 2, 100))
        (0.0, 1.0)
        >>> round(float(corrected_v(0.08, 3, 5, 101)), 3)  # of which chance explains all
        0.0
    """
    left = max(rows - 1, 1)
    links = np.maximum(phi - (first - 1) * (second - 1) / left, 0.0)
    sizes = [size - 1 - (size - 1) ** 2 / left for size in (first, second)]
    fewest = np.minimum(*sizes)
    return np.sqrt(np.where(fewest > 0, links / np.where(fewest > 0, fewest, 1.0), 0.0))


def chance_v(sizes: np.ndarray, rows: int) -> np.ndarray:
    """[columns, columns]: the V that independent columns exceed in one table of a hundred.

    `sizes` is how many values of each column occur in `rows` rows.
    """
    apart = (sizes - 1)[:, None] * (sizes - 1)
    known, place = np.unique(np.maximum(apart, 1), return_inverse=True)
    highest = chi2.isf(_each(len(sizes)), known)[place].reshape(apart.shape)
    first, second = sizes[:, None], sizes[None, :]
    return np.asarray(corrected_v(highest / max(rows, 1), first, second, rows))


def chance_correlation(present: np.ndarray, rows: int) -> np.ndarray:
    """[columns, columns]: likewise the correlation of numbers, present in so many rows each."""
    both = np.maximum(present[:, None] * present / max(rows, 1), 1.0)
    return np.asarray(np.minimum(norm.isf(_each(len(present)) / 2) / np.sqrt(both), 1.0))


def _each(columns: int) -> float:
    """How seldom one pair may look linked by chance."""
    return PART / max(columns * (columns - 1) / 2, 1.0)
