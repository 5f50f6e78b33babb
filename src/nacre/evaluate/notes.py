"""What a reader of an evaluation has to know: what was left out, and what was sampled."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from nacre.evaluate.scores.metric import Metric
from nacre.evaluate.tables.comparison import CLASSIFIER_ROWS, DISTANCE_ROWS, TableComparison


class Measure(Protocol):
    """What a note says of a metric, of tables or of images."""

    @property
    def title(self) -> str:
        """How the report calls it."""

    @property
    def quick(self) -> bool:
        """Whether `metrics="quick"` includes it."""


def silence(left: Iterable[Measure]) -> str:
    """What the findings do not speak of, as nobody asked for these metrics; nothing if none."""
    left = list(left)
    quick = [metric.title for metric in left if metric.quick]
    others = [metric.title for metric in left if not metric.quick]
    if quick:
        more = f', and {len(others)} more that `metrics="all"` has' if others else ""
        return (
            "Not everything was measured. Nothing is said here, good or bad, of what these would "
            f'show (`metrics="quick"`): {"; ".join(quick)}{more}.'
        )
    if others:
        rest = "; and others" if len(others) > 3 else ""
        return (
            f'Only the quick metrics were measured; `metrics="all"` measures {len(others)} more: '
            f"{'; '.join(others[:3])}{rest}."
        )
    return ""


def left_out(chosen: Sequence[Metric], usable: Sequence[Metric]) -> Iterable[str]:
    """The metrics that could not be computed, and why."""
    gone = [metric for metric in chosen if metric not in usable]
    if not any(m.group == "usefulness" for m in usable) and any(
        m.group == "usefulness" for m in gone
    ):
        yield "No label was given, so no model was trained to predict one."
    unseen = [metric.title for metric in gone if "test" in metric.needs]
    if unseen:
        yield (
            "Needs real rows that the synthetic table was not made from, and was left out without "
            f"a test table: {'; '.join(unseen)}."
        )


def sampled(comparisons: Mapping[str, TableComparison], metrics: Sequence[Metric]) -> Iterable[str]:
    """Which rows and columns stand for all of them, and models that could not be trained."""
    largest = max(max(len(c.synthetic), len(c.train), len(c.test)) for c in comparisons.values())
    groups = {metric.group for metric in metrics}
    if "usefulness" in groups and largest > CLASSIFIER_ROWS:
        yield f"Models were trained and tested on random samples of {CLASSIFIER_ROWS:,} rows."
    if "privacy" in groups and largest > DISTANCE_ROWS:
        yield f"Distances were measured to a random sample of {DISTANCE_ROWS:,} real rows."
    first = next(iter(comparisons.values()))
    if first.watched is not None:
        pairs = math.comb(len(first.real.names), 2)
        yield (
            f"Of {pairs:,} pairs of columns the {len(first.watched):,} that are farthest off have "
            f"a score of their own, and are those that are counted in words; means are over all."
        )
    for comparison in comparisons.values():
        for prediction in comparison.__dict__.get("predictions", ()):
            if prediction.problem:
                yield (
                    f"The {prediction.model} could not be trained on '{comparison.name}' "
                    f"({prediction.problem}); it counts as guessing."
                )
