"""What a metric of images is: a function of a comparison that says what its number means."""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Literal

from nacre.evaluate.images.comparison import ImageComparison
from nacre.evaluate.scores.metric import Goal, Value

Group = Literal["likeness", "usefulness", "privacy"]
Compute = Callable[[ImageComparison], Iterable[Value]]


def as_real(compute: Compute) -> Compute:
    """The same metric of real images in the place of synthetic ones."""
    return lambda comparison: compute(comparison.of_real())


@dataclasses.dataclass(frozen=True, kw_only=True)
class ImageMetric:
    """A measure of how synthetic images compare with real ones.

    Attributes:
        name: how people ask for it, e.g. "fid".
        title: how the report calls it.
        group: what it is about.
        goal: whether lower or higher is better.
        low: the smallest value it can have.
        high: the largest.
        meaning: one sentence for people.
        compute: the values, the one of the whole set first.
        reference: what to compute beside it: the same of real images, or a baseline. It needs
            test images.
        needs: "test" images, "labels" of the synthetic ones; left out where these are lacking.
        quick: whether `metrics="quick"` includes it.
    """

    name: str
    title: str
    group: Group
    goal: Goal
    low: float
    high: float
    meaning: str
    compute: Compute
    reference: Compute
    needs: frozenset[Literal["test", "labels"]] = frozenset()
    quick: bool = True
