"""What the scores mean for a person who wants to use the table, in words, worst first."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nacre.evaluate.findings.alarms import alarms
from nacre.evaluate.findings.finding import ORDER, Finding, Level
from nacre.evaluate.findings.gaps import Gap, column_gaps
from nacre.evaluate.findings.numbers import group_findings, shift_findings
from nacre.evaluate.findings.values import value_findings
from nacre.evaluate.findings.words import more, percent
from nacre.evaluate.tables.comparison import Comparison
from nacre.evaluate.tables.pairs import pair_name

__all__ = ["AVOID_AUC", "AVOID_TV", "CARE_AUC", "CARE_TV", "Finding", "find"]

# Shares of rows in excess of what held-out real rows give. A tenth of the rows in the wrong place
# changes a table's message; a twentieth is seen by a careful reader.
AVOID_TV, CARE_TV = 0.10, 0.05
AVOID_LINK, CARE_LINK = 0.20, 0.10
AVOID_AUC, CARE_AUC = 0.05, 0.02
RIGHT_COUNT = 0.10
FEW_ROWS = 100


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
        *alarms(mine, guarantee),
        *_few(comparison),
        *_columns(column_gaps(itertools.chain.from_iterable(mine.values()), table)),
        *shift_findings(comparison.shifts if "shifts" in mine else ()),
        *group_findings(comparison.group_shifts if "group-medians" in mine else ()),
        *_links(mine, comparison),
        *_groups(mine.get("small-groups", ())),
        *_models(mine, comparison.label),
        *value_findings(comparison),
    ]
    return tuple(sorted(found, key=lambda f: (ORDER[f.level], -f.weight)))


def _few(comparison: Comparison) -> Iterator[Finding]:
    tables = {"real": len(comparison.real), "synthetic": len(comparison.synthetic)}
    few = [f"{rows:,} {name}" for name, rows in tables.items() if rows < FEW_ROWS]
    if few:
        yield Finding(
            "avoid",
            "Too few rows",
            f"Do not judge by this: with {' and '.join(few)} rows most of what it says may be "
            f"chance. Compare {FEW_ROWS} or more of each.",
            99,
        )


def _columns(gaps: Mapping[str, Gap]) -> Iterator[Finding]:
    # The verdict rests on what chance does not explain, so that is what is printed.
    wrong = [(gap.excess, name) for name, gap in gaps.items()]
    bad = [(gap, name) for gap, name in wrong if gap > AVOID_TV]
    doubtful = [(gap, name) for gap, name in wrong if CARE_TV < gap <= AVOID_TV]

    def shown(some: Sequence[tuple[float, str]]) -> str:
        return ", ".join(f"{name} ({percent(gap)})" for gap, name in some)

    if bad:
        yield Finding(
            "avoid",
            "Columns",
            f"Do not use it for counts, averages or shares of {shown(bad[:5])}{more(bad, 5)}: this "
            f"share of the rows has the wrong value, beyond what chance explains.",
            10 * bad[0][0] + len(bad),
        )
    if doubtful:
        yield Finding(
            "care",
            "Columns",
            f"Take care with single columns such as {shown(doubtful[:6])}{more(doubtful, 6)}: more "
            f"than 1 row in 20 has the wrong value, beyond what chance explains.",
            float(len(doubtful)),
        )
    if wrong and not bad and not doubtful:
        gap, worst = wrong[0]
        yield Finding(
            "good",
            "Columns",
            f"Single columns are about as right as fresh real rows would be: at worst "
            f"{percent(max(gap, 0.0))} more of the rows have the wrong value ({worst}).",
        )


def _links(mine: Mapping[str, Sequence[Any]], comparison: Comparison) -> Iterator[Finding]:
    if "association" not in mine:
        return
    pairs = comparison.pairs
    places = {pair_name(pairs.names[i], pairs.names[j]): (i, j) for i, j in pairs.list()}
    gaps = sorted(
        ((s.value - (s.reference or 0.0), *places[s.part]) for s in mine["association"] if s.part),
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
    here, there = max(each, key=lambda s: s.value), max(each, key=lambda s: s.reference)
    gap = there.reference - here.value
    if len(each) == 1:
        numbers = (
            f"{title} {here.value:.3f} for {here.part}, {there.reference:.3f} when trained on real "
            f"rows"
        )
    else:
        numbers = (
            f"the best of {len(each)} has {title} {here.value:.3f} ({here.part}); trained on real "
            f"rows the best has {there.reference:.3f} ({there.part})"
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
