"""What an evaluation found: scores, findings, and their forms for people and programs."""

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nacre.evaluate.findings.finding import Finding, told
from nacre.evaluate.guarantees import in_words
from nacre.evaluate.lmdp.report import LmdpReport
from nacre.evaluate.scores.metric import Metric
from nacre.evaluate.scores.part import Part
from nacre.evaluate.scores.score import CONFIDENTIAL, Score, frame
from nacre.evaluate.tables.comparison import TableComparison
from nacre.report.written import written
from nacre.schema import Schema


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """A synthetic table, or several, compared with the real one. Confidential to the data holder.

    Attributes:
        schema: of the tables.
        label: the column that models predict, if any.
        metrics: what was measured.
        results: every score.
        findings: what they mean in words, worst first, for each table.
        notes: what a reader has to know about how the numbers came about.
        guarantees: for each table, what is guaranteed about it, as its method declared it.
        comparisons: the tables themselves, from which the report draws its figures.
        lmdp: for each table, the α-LMDP tests that were asked for.
        spent: what the ledger says of the data set, if one was given.
        seconds: how long it took.
        silent: what was not measured, as nobody asked for it; empty if nothing.
    """

    schema: Schema
    label: str | None
    metrics: tuple[Metric, ...]
    results: tuple[Score, ...]
    findings: Mapping[str, tuple[Finding, ...]]
    notes: tuple[str, ...]
    guarantees: Mapping[str, Mapping[str, Any]]
    comparisons: Mapping[str, TableComparison]
    seconds: float
    lmdp: Mapping[str, LmdpReport] = dataclasses.field(default_factory=dict)
    spent: Mapping[str, Any] | None = None
    silent: str = ""

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the synthetic tables."""
        return tuple(self.comparisons)

    @property
    def scores(self) -> Any:
        """All scores as a tidy frame: pandas if it is installed, else Arrow."""
        return frame(self.results)

    def score(self, metric: str, table: str | None = None, part: Part = "") -> Score | None:
        """One score, or None if it was not computed; of the first table if none is named.

        A part may be named as people read it: "age × sex".
        """
        table = self.tables[0] if table is None else table
        for score in self.results:
            if (score.metric, score.table, str(score.part)) == (metric, table, str(part)):
                return score
        return None

    def parts(self, metric: str, table: str) -> list[Score]:
        """The scores of a metric's parts, worst first."""
        found = [s for s in self.results if s.metric == metric and s.table == table and s.part]
        return sorted(found, key=lambda s: s.value if s.goal == "higher" else -s.value)

    def summary(self) -> str:
        """The overall picture in words and a few numbers, worst things first."""
        lines = [CONFIDENTIAL, "", *([self.silent, ""] if self.silent else [])]
        for table in self.tables:
            if len(self.tables) > 1:
                lines += [f"{table}:"]
            lines += told(self.findings[table])
            lines += [""]
        titles = {metric.name: self._title(metric) for metric in self.metrics}
        width = max(map(len, titles.values()))
        heads = "".join(f"{table[:14]:>15}" for table in self.tables)
        lines += [f"  {'':{width}}{heads}{'real data':>12}"]
        for metric in self.metrics:
            row = [self.score(metric.name, table) for table in self.tables]
            if not any(row):
                continue
            cells = "".join(f"{'' if s is None else format(s.value, '.3f'):>15}" for s in row)
            first = next(s for s in row if s is not None)
            real = "" if first.reference is None else format(first.reference, ".3f")
            title = titles[metric.name]
            lines += [f"  {title:{width}}{cells}{real:>12}  {metric.goal} is better"]
        for table, found in self.lmdp.items():
            lines += ["", f"  {table}", *(f"  {line}" for line in str(found).splitlines())]
        lines += ["", *(f"  {line}" for line in in_words(self.guarantees))]
        return "\n".join([*lines, *(f"  Note: {note}" for note in self.notes)])

    def _title(self, metric: Metric) -> str:
        """The metric's title, saying of how many models the overall score is the mean."""
        models = {s.part for s in self.results if s.metric == metric.name and s.part}
        several = metric.group == "usefulness" and len(models) > 1
        return f"{metric.title}, mean of {len(models)}" if several else metric.title

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"Evaluation(tables={list(self.tables)}, scores={len(self.results)})"

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything but the figures, as JSON; written to `path` too if one is given.

        Infinite and undefined numbers are null.
        """
        content = {
            "nacre": 1,
            "confidential": CONFIDENTIAL,
            "label": self.label,
            "schema": self.schema.digest,
            "notes": list(self.notes),
            "silent": self.silent,
            "guarantees": dict(self.guarantees),
            "findings": {
                table: [dataclasses.asdict(f) for f in found]
                for table, found in self.findings.items()
            },
            "metrics": [
                {
                    "name": m.name,
                    "title": m.title,
                    "group": m.group,
                    "goal": m.goal,
                    "low": m.low,
                    "high": m.high,
                    "meaning": m.meaning,
                }
                for m in self.metrics
            ],
            "scores": [score.to_dict() for score in self.results],
            "lmdp": {table: found.to_dict() for table, found in self.lmdp.items()},
            "ledger": self.spent,
            "seconds": self.seconds,
        }
        text = json.dumps(finite(content), indent=1, ensure_ascii=False, allow_nan=False)
        return written(text, path, end="\n")

    def to_html(self, path: str | Path | None = None) -> str:
        """The report: one page that needs nothing else; written to `path` if one is given."""
        from nacre.evaluate.report import render

        return written(render(self), path)

    def _repr_html_(self) -> str:
        from nacre.evaluate.report import render_card

        return render_card(self)


def finite(value: Any) -> Any:
    """JSON has no infinity: null in its place."""
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | type(None)) else str(value)
