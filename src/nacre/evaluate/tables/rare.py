"""Values that too few rows have for anything to be said of what they go with.

Cramér's V divides by the share of each value.  Of two values that three rows have each, one row
that happens to hold both adds a ninth to phi squared, as much as a strong link of the whole table:
V would follow the luck of single rows.  So rare values are put together before it is computed.
"""

import numpy as np

from nacre.evaluate.tables.rows import Coded

FEWEST, PART = 25, 50
"""A value that fewer rows of the real table have, or fewer than one in so many of them, is rare."""


def put_together(column: Coded) -> np.ndarray | None:
    """Where each value of a column goes: rare ones to the first of them, all others stay.

    If all rare values together are rare still, they go to the most frequent value.  None if nothing
    moves.

    Examples:
        >>> codes = np.repeat(np.arange(4), [900, 3, 600, 24])
        >>> put_together(Coded(codes, 4)).tolist()
        [0, 1, 2, 1]
        >>> put_together(Coded(codes[:-4], 4)).tolist()
        [0, 0, 2, 0]
    """
    counts = np.bincount(column.codes, minlength=column.size)
    fewest = max(min(FEWEST, len(column.codes) / PART), 1)
    rare = np.flatnonzero(counts < fewest)
    enough = counts[rare].sum() >= fewest
    if not len(rare) or (len(rare) == 1 and enough):
        return None
    places = np.arange(column.size)
    places[rare] = rare[0] if enough else counts.argmax()
    return places


def moved(column: Coded, places: np.ndarray | None) -> Coded:
    """The column with its values where `put_together` says."""
    if places is None:
        return column
    return Coded(places.astype(column.codes.dtype)[column.codes], column.size)
