"""What a score is of: a column or model by its name, a pair, a band of sizes, a statistic."""

import dataclasses

from nacre.evaluate.tables.pairs import Pair
from nacre.evaluate.tables.shift import Statistic, Subject


@dataclasses.dataclass(frozen=True)
class SizeBand:
    """Groups by their size: those with `low` up to `high` of the rows.

    Examples:
        >>> print(SizeBand(0.001, 0.003), SizeBand(0.1, 1), sep="; ")
        0.1% to 0.3% of rows; 10% to 100% of rows
    """

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.smallest} to {self.high * 100:g}% of rows"

    @property
    def smallest(self) -> str:
        """The size at which the band begins, as people write it."""
        return f"{self.low * 100:g}%"


Part = Subject | Pair | SizeBand | Statistic
"""Its `str` is how people read it; the empty one is the whole table."""
