"""What is said of numbers whose mean, tails or distance from another column are off."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from nacre.evaluate.findings.amounts import amount_of
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import Listed, listed
from nacre.evaluate.tables.shift import MEAN, Difference, Shift
from nacre.schema import Schema

# Relative to how widely the real values spread. An average that is off by a tenth of a typical
# deviation is seen by a careful reader; by a quarter, it tells another story.
AVOID_SHIFT, CARE_SHIFT = 0.25, 0.10
# A group is a part of the table, so it may be off by twice as much.
AVOID_GROUP, CARE_GROUP = 0.50, 0.25
_SAID = {
    MEAN: "mean {} instead of {}",
    0.01: "lowest 1% up to {} instead of {}",
    0.5: "median {} instead of {}",
    0.9: "9 in 10 up to {} instead of {}",
    0.99: "highest 1% from {} instead of {}",
}


def shift_findings(shifts: Sequence[Shift], schema: Schema) -> Iterator[Finding]:
    """Sentences about single numbers, then about differences of two columns."""
    between = [shift for shift in shifts if isinstance(shift.of, Difference)]
    single = [shift for shift in shifts if not isinstance(shift.of, Difference)]
    yield from _findings(
        single,
        schema,
        "Numbers",
        "Do not use averages or extremes of",
        "Take care with averages or extremes of",
        "Averages and extremes of numbers are about right.",
    )
    yield from _findings(
        between,
        schema,
        "Differences",
        "Do not study how far these are apart:",
        "Take care with how far these are apart:",
        "Columns that a constraint orders are about as far apart as they should be.",
    )


def group_findings(shifts: Sequence[Shift], schema: Schema) -> Iterator[Finding]:
    """One sentence about the groups whose medians are farthest off."""
    worst = sorted(shifts, key=lambda shift: -shift.gap)
    bad = [shift for shift in worst if shift.gap > AVOID_GROUP]
    doubtful = [shift for shift in worst if CARE_GROUP < shift.gap <= AVOID_GROUP]

    def shown(some: Sequence[Shift]) -> Listed:
        return listed([f"{s.of} ({fact(s, schema)})" for s in some], 3)

    if bad:
        weight = 5 * min(bad[0].gap, 1.0) + min(len(bad), 10) / 10
        groups = shown(bad)
        text = f"Do not compare averages of groups: {groups.text}."
        yield Finding("avoid", "Averages by group", text, weight, groups.rest)
    if doubtful:
        groups = shown(doubtful)
        text, weight = f"Take care with averages of groups: {groups.text}.", len(doubtful) / 10
        yield Finding("care", "Averages by group", text, min(weight, 1.0), groups.rest)
    if worst and not bad and not doubtful:
        text = "Averages of numbers within groups of 200 rows or more are about right."
        yield Finding("good", "Averages by group", text)


def _findings(
    shifts: Sequence[Shift], schema: Schema, topic: str, avoid: str, care: str, good: str
) -> Iterator[Finding]:
    grouped = [list(own) for _, own in itertools.groupby(shifts, lambda shift: shift.of)]
    grouped.sort(key=_worst, reverse=True)
    bad = [own for own in grouped if _worst(own) > AVOID_SHIFT]
    doubtful = [own for own in grouped if CARE_SHIFT < _worst(own) <= AVOID_SHIFT]
    if bad:
        weight = 10 * min(_worst(bad[0]), 1.0) + len(bad)
        columns = _listed(bad, schema)
        yield Finding("avoid", topic, f"{avoid} {columns.text}.", weight, columns.rest)
    if doubtful:
        columns, weight = _listed(doubtful, schema), float(len(doubtful))
        yield Finding("care", topic, f"{care} {columns.text}.", weight, columns.rest)
    if grouped and not bad and not doubtful:
        yield Finding("good", topic, good)


def _worst(shifts: Iterable[Shift]) -> float:
    return max(shift.gap for shift in shifts)


def _listed(columns: Sequence[Sequence[Shift]], schema: Schema) -> Listed:
    """Each column with the facts that are off, real values last."""
    said = [
        f"{own[0].of} ({'; '.join(fact(s, schema) for s in own if s.gap > CARE_SHIFT)})"
        for own in columns
    ]
    return listed(said, 4)


def fact(shift: Shift, schema: Schema) -> str:
    """What is off, the synthetic value first."""
    amount = amount_of(shift.of, schema)
    said = _SAID[shift.statistic.share]
    return said.format(amount.text(shift.synthetic), amount.text(shift.real))
