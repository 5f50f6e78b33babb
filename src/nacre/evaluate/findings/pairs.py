"""What is said of how two columns go together."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import Listed, listed
from nacre.evaluate.scores.score import Score
from nacre.evaluate.tables.pairs import Pair, PairMatrices

# Of the strength of a link, from 0 to 1, in excess of what held-out real rows give.
AVOID_LINK, CARE_LINK = 0.20, 0.10
# A link that is fainter than this is none; one that is stronger by this much was made up.
NO_LINK, MADE_UP = 0.03, 0.05
SHOWN = 3


class _Link(NamedTuple):
    """How much the link of two columns changes, and how much of it beyond what fresh rows do."""

    excess: float
    change: float
    first: int
    second: int


def pair_findings(scores: Sequence[Score], pairs: PairMatrices) -> Iterator[Finding]:
    """Links between columns that are lost or made up, from the scores of their association."""
    gaps = sorted(
        (
            _Link(score.value - (score.reference or 0.0), score.value, *pairs.place(score.part))
            for score in scores
            if isinstance(score.part, Pair)
        ),
        reverse=True,
    )
    bad = [g for g in gaps if g.excess > AVOID_LINK and _change(pairs, g) > 0.5]
    doubtful = [g for g in gaps if CARE_LINK < g.excess <= AVOID_LINK and _change(pairs, g) > 1]
    made_up = [g for g in gaps if g.excess <= CARE_LINK and _is_made_up(pairs, g)]

    def shown(some: Sequence[_Link], *, excess: bool = True) -> Listed:
        said = []
        for link in some:
            i, j = link.first, link.second
            kind = "made up: " if _is_made_up(pairs, link) else ""
            off = f": off by {max(link.excess, 0.0):.2f} beyond chance" if excess else ""
            said.append(
                f"{pairs.names[i]} with {pairs.names[j]} ({kind}{pairs.real[i, j]:.2f} in the real "
                f"table, {pairs.synthetic[i, j]:.2f} here{off})"
            )
        return listed(said, SHOWN)

    if bad:
        links = shown(bad)
        yield Finding(
            "avoid",
            "Pairs",
            f"Do not study how these go together: {links.text}.",
            10 * bad[0].excess + len(bad) / 10,
            links.rest,
        )
    if doubtful:
        links = shown(doubtful)
        yield Finding(
            "care",
            "Pairs",
            f"Some links between columns are weaker or stronger than they should be: {links.text}.",
            float(len(doubtful)),
            links.rest,
        )
    if made_up:
        made_up.sort(key=lambda g: -g.change)
        links = shown(made_up)
        yield Finding(
            "care",
            "Made-up links",
            f"Some columns that have nothing to do with each other seem linked here: {links.text}.",
            float(len(made_up)),
            links.rest,
        )
    if gaps and not bad and not doubtful and not made_up:
        yield Finding(
            "good",
            "Pairs",
            f"Links between pairs of columns are kept; the largest change is "
            f"{shown(gaps[:1], excess=False).text}.",
        )


def _is_made_up(pairs: PairMatrices, link: _Link) -> bool:
    """Whether two columns are linked here, surely, that are not in the real table."""
    real, synthetic = (abs(m[link.first, link.second]) for m in (pairs.real, pairs.synthetic))
    return bool(real < NO_LINK and synthetic - real > MADE_UP and _change(pairs, link) > 1)


def _change(pairs: PairMatrices, link: _Link) -> float:
    """How much a link changes, by what chance would do to the farthest off of all pairs.

    Chance moves a strong link less than none: a correlation r by 1 - r² of what it moves 0.
    """
    place = link.first, link.second
    weaker = min(abs(pairs.real[place]), abs(pairs.synthetic[place]))
    return float(link.change / max(pairs.chance[place] * (1 - weaker**2), 1e-9))
