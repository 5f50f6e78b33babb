"""Everything worth saying about one table, worst first."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nacre.evaluate.findings.alarms import alarms
from nacre.evaluate.findings.clocks import clock_findings
from nacre.evaluate.findings.columns import column_findings
from nacre.evaluate.findings.detection import detection_findings
from nacre.evaluate.findings.finding import ORDER, Finding
from nacre.evaluate.findings.gaps import column_gaps
from nacre.evaluate.findings.groups import count_findings
from nacre.evaluate.findings.identities import identity_findings
from nacre.evaluate.findings.impossible import impossible_findings
from nacre.evaluate.findings.labels import label_findings
from nacre.evaluate.findings.models import model_findings
from nacre.evaluate.findings.numbers import group_findings, shift_findings
from nacre.evaluate.findings.pairs import pair_findings
from nacre.evaluate.findings.rare import rare_findings
from nacre.evaluate.findings.spikes import spike_findings
from nacre.evaluate.findings.values import value_findings
from nacre.evaluate.scores.score import Score
from nacre.evaluate.tables.comparison import TableComparison

FEW_ROWS = 100


def find(
    table: str,
    scores: Iterable[Score],
    comparison: TableComparison,
    guarantee: Mapping[str, Any] | None,
    also: Iterable[Finding] = (),
) -> tuple[Finding, ...]:
    """Everything worth saying about one table, `also` what was found elsewhere, worst first."""
    mine: dict[str, list[Score]] = {}
    for score in scores:
        if score.table == table:
            mine.setdefault(score.metric, []).append(score)
    schema = comparison.real.schema
    gaps = column_gaps(itertools.chain.from_iterable(mine.values()), table)
    found = [
        *alarms(mine, guarantee),
        *_few(comparison),
        *column_findings(gaps, {name for name in schema.names if comparison.real.is_number(name)}),
        *(clock_findings(comparison.clocks) if "tv1" in mine else ()),
        *(shift_findings(comparison.shifts, schema) if "shifts" in mine else ()),
        *(group_findings(comparison.group_shifts, schema) if "group-medians" in mine else ()),
        *(_labels(comparison) if "label-groups" in mine else ()),
        *(pair_findings(mine["association"], comparison.pairs) if "association" in mine else ()),
        *count_findings(mine.get("small-groups", ())),
        *model_findings(mine, comparison.label),
        *value_findings(comparison),
        *rare_findings(comparison),
        *(spike_findings(comparison) if "shifts" in mine else ()),
        *(identity_findings(comparison) if "tv2" in mine else ()),
        *(impossible_findings(comparison) if "tv2" in mine else ()),
        *detection_findings(mine.get("detection", ())),
        *also,
    ]
    return tuple(sorted(found, key=lambda f: (ORDER[f.level], -f.weight)))


def _labels(comparison: TableComparison) -> Iterator[Finding]:
    if comparison.label is not None:
        schema = comparison.real.schema
        yield from label_findings(comparison.label_groups, comparison.label, schema)


def _few(comparison: TableComparison) -> Iterator[Finding]:
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
