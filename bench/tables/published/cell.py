"""One number of a paper, and a table of them."""

import dataclasses
from collections.abc import Mapping

from nacre.evaluate.tables.classifiers import PUBLISHED

AVERAGE = "average"
STATISTICS = "statistics"
SCORES = ("roc", "prc")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
    """One number to compare with.

    Attributes:
        dataset: which table, by the name of its plan.
        row: a classifier, or `AVERAGE` over those in `over`, or `STATISTICS`.
        score: "roc", "prc", "f1", "accuracy", or the name of a statistic.
        theirs: the paper's numbers in the row, by method.
        epsilon: at which they were measured; infinite without privacy.
        real: the same with real data to learn from, if the paper says.
        over: the classifiers that an average is over.
        best: whether the paper shows the best of its runs instead of their mean.
        lower: whether lower is better.
    """

    dataset: str
    row: str
    score: str
    theirs: Mapping[str, float]
    epsilon: float = 1.0
    real: float | None = None
    over: tuple[str, ...] = PUBLISHED
    best: bool = False
    lower: bool = False

    @property
    def to_beat(self) -> float:
        """The paper's best number in the row."""
        return min(self.theirs.values()) if self.lower else max(self.theirs.values())


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of a paper.

    Attributes:
        title: its number there, and what of it is shown.
        remark: what a reader has to know before comparing.
        cells: its numbers.
        counted: whether its rows are counted in the summary.
    """

    title: str
    remark: str
    cells: tuple[Cell, ...]
    counted: bool = False
