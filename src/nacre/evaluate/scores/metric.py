"""What a metric is: a function of a comparison that says what its number means."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, Protocol

from nacre.evaluate.scores.part import Part
from nacre.evaluate.scores.score import Score
from nacre.evaluate.tables.comparison import TableComparison

Goal = Literal["lower", "higher"]
Need = Literal["label", "classes", "number", "binary", "test", "amount"]
Reference = Literal["fresh", "held-out", "real-trained"]


class Value(NamedTuple):
    """One number: of the whole table if `part` is empty, else of a column, pair, model, ..."""

    part: Part
    value: float
    error: float | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Metric:
    """A measure of how a synthetic table compares with the real one.

    Attributes:
        name: how people ask for it, e.g. "tv2".
        title: how the report calls it.
        group: the chapter of the report it belongs to.
        goal: whether lower or higher is better.
        low: the smallest value it can have.
        high: the largest.
        meaning: one sentence for people.
        compute: the values, the one of the whole table first.
        needs: what it cannot do without: a label; a label with classes; a label that is a number;
            a label with two values; real rows that the synthetic table was not made from; a column
            that is a number or a date. It is left out, with a note, where this is lacking.
        reference: what to compute beside it. "fresh" is what as many fresh real rows as the
            synthetic table has would score, found from two samples of the real table; "held-out"
            takes the test rows for the synthetic table; "real-trained" trains on the real table.
            Either of the first two is what a perfect table would reach.
        quick: whether `metrics="quick"` includes it.
        rows: how many rows of each table it looks at, at most; None for all.
    """

    name: str
    title: str
    group: Literal["columns", "pairs", "structure", "usefulness", "privacy"]
    goal: Goal
    low: float
    high: float
    meaning: str
    compute: Callable[[TableComparison], Iterable[Value]]
    needs: frozenset[Need] = frozenset()
    reference: Reference | None = None
    quick: bool = False
    rows: int | None = None


class Scored(Protocol):
    """What a score keeps of its metric, of tables or of images."""

    @property
    def name(self) -> str:
        """The metric's name."""

    @property
    def goal(self) -> Goal:
        """Whether lower or higher is better."""


def scores_of(
    metric: Scored, table: str, values: Iterable[Value], reference: Mapping[Part, float]
) -> Iterator[Score]:
    """What a metric found, each number beside its reference."""
    for value in values:
        yield Score(
            table=table,
            metric=metric.name,
            part=value.part,
            value=value.value,
            error=value.error,
            reference=reference.get(value.part),
            goal=metric.goal,
        )
