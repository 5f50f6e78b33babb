"""What is said of how two columns go together."""

from collections.abc import Iterator, Sequence

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import more
from nacre.evaluate.scores.score import Score
from nacre.evaluate.tables.pairs import Pair, PairMatrices

# Of the strength of a link, from 0 to 1, in excess of what held-out real rows give.
AVOID_LINK, CARE_LINK = 0.20, 0.10


def pair_findings(scores: Sequence[Score], pairs: PairMatrices) -> Iterator[Finding]:
    """Links between columns that are lost or made up, from the scores of their association."""
    gaps = sorted(
        (
            (score.value - (score.reference or 0.0), *pairs.place(score.part))
            for score in scores
            if isinstance(score.part, Pair)
        ),
        reverse=True,
    )
    bad = [g for g in gaps if g[0] > AVOID_LINK]
    doubtful = [g for g in gaps if CARE_LINK < g[0] <= AVOID_LINK]

    def shown(some: Sequence[tuple[float, int, int]]) -> str:
        return ", ".join(
            f"{pairs.names[i]} with {pairs.names[j]} ({pairs.real[i, j]:.2f} in the real table, "
            f"{pairs.synthetic[i, j]:.2f} here: off by {max(excess, 0.0):.2f} beyond chance)"
            for excess, i, j in some
        )

    if bad:
        yield Finding(
            "avoid",
            "Pairs",
            f"Do not study how these go together: {shown(bad[:3])}{more(bad, 3)}.",
            10 * bad[0][0] + len(bad) / 10,
        )
    if doubtful:
        yield Finding(
            "care",
            "Pairs",
            f"Some links between columns are weaker or stronger than they should be: "
            f"{shown(doubtful[:3])}{more(doubtful, 3)}.",
            float(len(doubtful)),
        )
    if gaps and not bad and not doubtful:
        yield Finding(
            "good",
            "Pairs",
            f"Links between pairs of columns are kept; the largest change is {shown(gaps[:1])}.",
        )
