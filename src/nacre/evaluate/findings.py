"""What the scores mean for a person who wants to use the table, in words, worst first."""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from nacre.evaluate.comparison import Comparison
from nacre.evaluate.words import more, percent

Level = Literal["avoid", "care", "good", "note"]
_ORDER = {"avoid": 0, "care": 1, "note": 2, "good": 3}
_MARKS = {"avoid": "✗", "care": "!", "note": "·", "good": "✓"}

# Shares of rows in excess of what held-out real rows give. A tenth of the rows in the wrong place
# changes a table's message; a twentieth is seen by a careful reader.
AVOID_TV, CARE_TV = 0.10, 0.05
AVOID_LINK, CARE_LINK = 0.20, 0.10
AVOID_AUC, CARE_AUC = 0.05, 0.02
RIGHT_COUNT = 0.10


@dataclasses.dataclass(frozen=True)
class Finding:
    """One sentence about the table.

    Attributes:
        level: "avoid" (do not use the table for this), "care", "note", or "good".
        topic: what it is about, in a word or two.
        text: the sentence, plain text.
        weight: how bad it is, for the order within a level.
    """

    level: Level
    topic: str
    text: str
    weight: float = 0.0

    @property
    def mark(self) -> str:
        """A sign for terminals."""
        return _MARKS[self.level]


def find(
    table: str,
    scores: Iterable[Any],
    comparison: Comparison,
    guarantee: Mapping[str, Any] | None,
) -> tuple[Finding, ...]:
    """Everything worth saying about one table, worst first."""
    mine: dict[str, list[Any]] = {}
    for score in scores:
        if score.table == table:
            mine.setdefault(score.metric, []).append(score)
    found = [
        *_privacy(mine, guarantee),
        *_columns(mine.get("tv1", ())),
        *_links(mine, comparison),
        *_groups(mine.get("small-groups", ())),
        *_models(mine, comparison.label),
        *_values(comparison),
    ]
    return tuple(sorted(found, key=lambda f: (_ORDER[f.level], -f.weight)))


def _privacy(
    mine: Mapping[str, Sequence[Any]], guarantee: Mapping[str, Any] | None
) -> Iterator[Finding]:
    if guarantee is not None and guarantee["epsilon"] is None:
        yield Finding(
            "avoid",
            "Privacy",
            "Do not publish this table: it was made without privacy (ε = ∞).",
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
    for score in mine.get("closer-to-training", ()):
        if score.error is not None and score.value - 3 * score.error > 0.55:
            yield Finding(
                "care",
                "Privacy",
                f"{percent(score.value)} of the synthetic rows are closer to a training row than "
                f"to any unseen one (50% would be chance): rows may have been memorized.",
                95,
            )


def _columns(scores: Sequence[Any]) -> Iterator[Finding]:
    wrong = sorted(
        ((s.value - (s.reference or 0.0), s) for s in scores if s.part),
        key=lambda pair: -pair[0],
    )
    bad = [(gap, s) for gap, s in wrong if gap > AVOID_TV]
    doubtful = [s for gap, s in wrong if CARE_TV < gap <= AVOID_TV]
    if bad:
        shown = ", ".join(f"{s.part} ({percent(s.value)})" for _, s in bad[:5])
        yield Finding(
            "avoid",
            "Columns",
            f"Do not use it for counts, averages or shares of {shown}{more(bad, 5)}: this share "
            f"of the rows has the wrong value.",
            10 * bad[0][0] + len(bad),
        )
    if doubtful:
        shown = ", ".join(f"{s.part} ({percent(s.value)})" for s in doubtful[:6])
        yield Finding(
            "care",
            "Columns",
            f"Take care with single columns such as {shown}{more(doubtful, 6)}: more than 1 row "
            f"in 20 has the wrong value.",
            float(len(doubtful)),
        )
    if wrong and not bad and not doubtful:
        gap, worst = wrong[0]
        yield Finding(
            "good",
            "Columns",
            f"Single columns are about as right as fresh real rows would be: at worst "
            f"{percent(max(gap, 0.0))} more of the rows have the wrong value ({worst.part}).",
        )


def _links(mine: Mapping[str, Sequence[Any]], comparison: Comparison) -> Iterator[Finding]:
    if "association" not in mine:
        return
    pairs = comparison.pairs
    floor = {s.part: s.reference or 0.0 for s in mine["association"] if s.part}
    gaps = []
    for i, j in pairs.list():
        gap = abs(pairs.real[i, j] - pairs.synthetic[i, j])
        excess = gap - floor.get(f"{pairs.names[i]} × {pairs.names[j]}", 0.0)
        gaps.append((excess, i, j))
    gaps.sort(reverse=True)
    bad = [g for g in gaps if g[0] > AVOID_LINK]
    doubtful = [g for g in gaps if CARE_LINK < g[0] <= AVOID_LINK]

    def shown(some: list[tuple[float, int, int]]) -> str:
        return ", ".join(
            f"{pairs.names[i]} with {pairs.names[j]} "
            f"({pairs.real[i, j]:.2f} in the real table, {pairs.synthetic[i, j]:.2f} here)"
            for _, i, j in some
        )

    if bad:
        yield Finding(
            "avoid",
            "Pairs",
            f"Do not study how these go together: {shown(bad[:3])}{more(bad, 3)}.",
            10 * bad[0][0] + len(bad) / 10,
        )
    elif doubtful:
        yield Finding(
            "care",
            "Pairs",
            f"Some links between columns are weaker or stronger than they should be: "
            f"{shown(doubtful[:3])}{more(doubtful, 3)}.",
            float(len(doubtful)),
        )
    elif gaps:
        _, i, j = gaps[0]
        yield Finding(
            "good",
            "Pairs",
            "Links between pairs of columns are kept; the largest change is "
            f"{shown([(0.0, i, j)])}.",
        )


def _groups(scores: Sequence[Any]) -> Iterator[Finding]:
    bands = [s for s in scores if s.part]
    if not bands:
        return
    right = list(itertools.takewhile(lambda s: s.value <= RIGHT_COUNT, reversed(bands)))
    smallest = f"groups of {bands[0].part} are typically off by {percent(bands[0].value)}"
    if not right:
        yield Finding(
            "avoid",
            "Groups",
            f"Do not count groups: even those of {bands[-1].part} are typically off by "
            f"{percent(bands[-1].value)}.",
            bands[-1].value,
        )
        return
    edge = right[-1].part.split(" to ")[0]
    if right[-1] is bands[0]:
        yield Finding(
            "good", "Groups", f"Counts of groups are right: even {smallest}.", bands[0].value
        )
        return
    first = float(edge.rstrip("%"))
    level: Level = "avoid" if first >= 10 else "care" if first > 0.3 else "good"
    yield Finding(
        level,
        "Groups",
        f"{'Do not count' if level == 'avoid' else 'Take care with'} groups smaller than about "
        f"{edge} of the rows: {smallest}. Larger ones are typically right "
        f"within {RIGHT_COUNT:.0%}.",
        bands[0].value,
    )


def _models(mine: Mapping[str, Sequence[Any]], label: str | None) -> Iterator[Finding]:
    name = "auc" if "auc" in mine else "r2"
    title = "AUC" if name == "auc" else "R²"
    each = [s for s in mine.get(name, ()) if s.part and s.reference is not None]
    if not each:
        return
    best = max(each, key=lambda s: s.reference)
    gap = best.reference - best.value
    numbers = (
        f"{title} {best.value:.3f} for {best.part}, {best.reference:.3f} when trained on real rows"
    )
    if gap > AVOID_AUC:
        yield Finding(
            "avoid", "Models", f"Do not train models of {label} on it: {numbers}.", 10 * gap
        )
    elif gap > CARE_AUC:
        yield Finding(
            "care",
            "Models",
            f"Models of {label} trained on it are somewhat worse: {numbers}.",
            10 * gap,
        )
    else:
        yield Finding(
            "good", "Models", f"Models of {label} trained on it are nearly as good: {numbers}."
        )


def _values(comparison: Comparison) -> Iterator[Finding]:
    lost: list[str] = []
    for name, real, synthetic in zip(
        comparison.real.names, comparison.real.binned, comparison.synthetic.binned, strict=True
    ):
        if comparison.real.is_number(name):
            continue
        p = np.bincount(real.codes, minlength=real.size) / len(real.codes)
        q = np.bincount(synthetic.codes, minlength=real.size)
        # Three expected rows or fewer may well be missing by chance.
        gone = (q == 0) & (p * len(synthetic.codes) > 3)
        if gone.any():
            lost.append(f"{name} ({int(gone.sum())})")
    if lost:
        yield Finding(
            "care",
            "Rare values",
            f"Some values of the real table never occur here: {', '.join(lost[:6])}"
            f"{more(lost, 6)}. Do not conclude that such rows do not exist.",
            2.0,
        )
