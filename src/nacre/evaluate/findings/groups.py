"""What is said of counts of groups, by their size."""

import itertools
from collections.abc import Iterator, Sequence

from nacre.evaluate.findings.finding import Finding, Level
from nacre.evaluate.findings.words import percent
from nacre.evaluate.scores.part import SizeBand
from nacre.evaluate.scores.score import Score

RIGHT_COUNT = 0.10
"""A count that is off by no more than this share of itself is right."""
# Groups of this share of the rows should be countable, or at least of this one.
CARE_SIZE, AVOID_SIZE = 0.003, 0.10


def count_findings(scores: Sequence[Score]) -> Iterator[Finding]:
    """The size of group below which counts are wrong; the scores are smallest groups first."""
    bands = [(score.part, score.value) for score in scores if isinstance(score.part, SizeBand)]
    if not bands:
        return
    right = list(itertools.takewhile(lambda found: found[1] <= RIGHT_COUNT, reversed(bands)))
    (first, error), (last, least) = bands[0], bands[-1]
    smallest = f"groups of {first} are typically off by {percent(error)}"
    if not right:
        yield Finding(
            "avoid",
            "Groups",
            f"Do not count groups: even those of {last} are typically off by {percent(least)}.",
            least,
        )
        return
    edge = right[-1][0]
    if edge == first:
        yield Finding("good", "Groups", f"Counts of groups are right: even {smallest}.", error)
        return
    level: Level = "avoid" if edge.low >= AVOID_SIZE else "care" if edge.low > CARE_SIZE else "good"
    yield Finding(
        level,
        "Groups",
        f"{'Do not count' if level == 'avoid' else 'Take care with'} groups smaller than about "
        f"{edge.smallest} of the rows: {smallest}. Larger ones are typically right "
        f"within {RIGHT_COUNT:.0%}.",
        error,
    )
