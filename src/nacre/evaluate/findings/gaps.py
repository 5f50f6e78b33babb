"""How wrong each column is beyond chance: the number that verdicts and captions rest on."""

from collections.abc import Iterable
from typing import NamedTuple

from nacre.evaluate.scores.score import Score

MEASURES = ("tv1", "tv1-quantiles")


class Gap(NamedTuple):
    """The share of a column's rows with the wrong value, in all and beyond what chance explains."""

    excess: float
    share: float


def column_gaps(scores: Iterable[Score], table: str) -> dict[str, Gap]:
    """Of each column of a table, by the bins in which it looks worse, worst first.

    Equal bins over declared bounds see what is far out, bins by quantiles what is wrong where most
    rows are.
    """
    found: dict[str, Gap] = {}
    for score in scores:
        if score.table == table and score.metric in MEASURES and score.part:
            gap = Gap(score.value - (score.reference or 0.0), score.value)
            name = str(score.part)
            found[name] = max(gap, found.get(name, gap))
    return dict(sorted(found.items(), key=lambda item: -item[1].excess))
