"""What the scores say about privacy, in words: smoke alarms, which prove nothing when silent."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import percent
from nacre.evaluate.scores.score import Score

RISKS = {
    "singling-out": "Synthetic rows single out training rows",
    "linkability": "Synthetic rows tie two halves of a training row together",
    "inference": "Values of training rows can be guessed from synthetic rows",
}


def alarms(
    mine: Mapping[str, Sequence[Score]], guarantee: Mapping[str, Any] | None
) -> Iterator[Finding]:
    """What speaks against publishing the table: no guarantee, copies, attacks that succeed."""
    if guarantee is not None and guarantee["epsilon"] is None:
        yield Finding(
            "avoid",
            "Privacy",
            "Do not publish this table. It is NOT PRIVATE: no noise was added; rows may be "
            "recognizable.",
            100,
        )
    for score in mine.get("copies", ()):
        strangers = score.reference or 0.0
        if score.value > 2 * strangers + 0.005:
            yield Finding(
                "care",
                "Privacy",
                f"{percent(score.value)} of the synthetic rows are exact copies of real ones, "
                f"against {percent(strangers)} of held-out real rows: look at what made them.",
                90,
            )
    yield from _attacks(mine, guarantee)
    for metric, words in RISKS.items():
        for score in mine.get(metric, ()):
            if not score.part and score.error is not None and score.value - 4 * score.error > 0.02:
                yield Finding(
                    "care",
                    "Privacy",
                    f"{words}: {percent(score.value)} beyond what the same attack does to rows "
                    "that were never in the table.",
                    94,
                )
    for score in mine.get("closer-to-training", ()):
        if score.error is not None and score.value - 3 * score.error > 0.55:
            yield Finding(
                "care",
                "Privacy",
                f"{percent(score.value)} of the synthetic rows are closer to a training row than "
                f"to any unseen one (50% would be chance): rows may have been memorized.",
                95,
            )


def _attacks(
    mine: Mapping[str, Sequence[Score]], guarantee: Mapping[str, Any] | None
) -> Iterator[Finding]:
    claimed = None if guarantee is None else guarantee["epsilon"]
    for score in mine.get("membership-epsilon", ()):
        if claimed is not None and score.value > claimed:
            yield Finding(
                "avoid",
                "Privacy",
                f"Do not publish this table: an attack shows that ε is at least {score.value:.2f}, "
                f"where {claimed:.4g} is guaranteed. The guarantee does not hold, or it is not "
                f"this table's.",
                110,
            )
    for score in mine.get("membership", ()):
        if not score.part and score.error is not None and score.value - 4 * score.error > 0.52:
            yield Finding(
                "care",
                "Privacy",
                f"Training rows can be told from other real rows: an attack has AUC "
                f"{score.value:.2f}, where 0.50 is guessing. (If the test rows are no random part "
                f"of the same table, that alone may be why.)",
                96,
            )
