"""Rows as the numbers that classifiers and distances see."""

import dataclasses
from collections.abc import Collection

import numpy as np

from nacre.evaluate.tables.rows import Coded, Rows

MOST_VALUES = 100
"""A category's most frequent values that get a column of their own; the others share one."""


@dataclasses.dataclass(frozen=True, eq=False)
class Features:
    """Numbers scaled to [0, 1] by the declared bounds, categories one-hot, missing an indicator.

    Nothing is fitted to the rows except, for a category with more than `MOST_VALUES` values, which
    of them are frequent in a given table: a table of ten thousand one-hot columns would not fit.

    Attributes:
        numbers: names of the number columns.
        categories: names of the category columns, with the one-hot slot of each code.
    """

    numbers: tuple[str, ...]
    categories: tuple[tuple[str, np.ndarray], ...]

    @classmethod
    def of(
        cls, rows: Rows, without: str | None = None, only: Collection[str] | None = None
    ) -> "Features":
        """Features of every column but `without`, or of `only` some; laid out by these rows."""
        names = [name for name in rows.names if name != without and (only is None or name in only)]
        return cls(
            tuple(name for name in names if rows.is_number(name)),
            tuple((n, _slots(rows.bin(n))) for n in names if not rows.is_number(n)),
        )

    @property
    def width(self) -> int:
        """How many columns the matrix has, not counting the indicators of missing numbers."""
        return len(self.numbers) + sum(int(slots.max()) + 1 for _, slots in self.categories)

    def matrix(self, rows: Rows, one: float = 1.0) -> np.ndarray:
        """The features of each row, float32.

        Args:
            rows: the rows.
            one: what a one-hot column holds. 1/√2 makes two different values lie at distance 1.
        """
        blocks: list[np.ndarray] = []
        for name in self.numbers:
            unit = rows.unit(name)
            missing = rows.missing(name)
            blocks.append(np.nan_to_num(unit)[:, None])
            if missing is not None:
                blocks.append(missing.astype(np.float32)[:, None])
        for name, slots in self.categories:
            block = np.zeros((len(rows), int(slots.max()) + 1), np.float32)
            block[np.arange(len(rows)), slots[rows.bin(name).codes]] = one
            blocks.append(block)
        return np.concatenate(blocks, axis=1) if blocks else np.zeros((len(rows), 1), np.float32)

    def largest_distance(self, rows: Rows) -> float:
        """The squared distance of the two rows farthest apart that the schema allows."""
        indicators = sum(rows.missing(name) is not None for name in self.numbers)
        several = sum(int(slots.max()) > 0 for _, slots in self.categories)
        return float(len(self.numbers) + indicators + 2 * several)


def _slots(column: Coded) -> np.ndarray:
    if column.size <= MOST_VALUES:
        return np.arange(column.size)
    counts = np.bincount(column.codes, minlength=column.size)
    slots = np.full(column.size, MOST_VALUES)
    slots[np.argsort(-counts, kind="stable")[:MOST_VALUES]] = np.arange(MOST_VALUES)
    return slots
