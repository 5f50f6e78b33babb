"""What an evaluation of images found, and its forms for people and programs."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nacre.evaluate.evaluation import finite
from nacre.evaluate.findings.finding import Finding, told
from nacre.evaluate.guarantees import in_words
from nacre.evaluate.images.metric import ImageMetric
from nacre.evaluate.scores.score import CONFIDENTIAL, Score, frame
from nacre.report.written import written
from nacre.rows import Images
from nacre.schema import ImageSchema


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ImageEvaluation:
    """Synthetic images, one set or several, compared with real ones. Confidential to the holder.

    Attributes:
        schema: of the images.
        metrics: what was measured.
        results: every score.
        findings: what they mean in words, worst first, for each set.
        notes: what a reader has to know about how the numbers came about.
        guarantees: for each set, what is guaranteed about it.
        shown: a few images of each class, of the real ones ("real") and of each set.
        counts: how many images there are of each, and of test images.
        spent: what the ledger says of the data set, if one was given.
        seconds: how long it took.
        silent: what was not measured, as nobody asked for it; empty if nothing.
    """

    schema: ImageSchema
    metrics: tuple[ImageMetric, ...]
    results: tuple[Score, ...]
    findings: Mapping[str, tuple[Finding, ...]]
    notes: tuple[str, ...]
    guarantees: Mapping[str, Mapping[str, Any]]
    shown: Mapping[str, Images]
    counts: Mapping[str, int]
    seconds: float
    spent: Mapping[str, Any] | None = None
    silent: str = ""

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the synthetic sets."""
        return tuple(self.findings)

    @property
    def scores(self) -> Any:
        """All scores as a tidy frame: pandas if it is installed, else Arrow."""
        return frame(self.results)

    def score(self, metric: str, table: str | None = None, part: str = "") -> Score | None:
        """One score, or None if it was not computed; of the first set if none is named."""
        table = self.tables[0] if table is None else table
        for score in self.results:
            if (score.metric, score.table, str(score.part)) == (metric, table, part):
                return score
        return None

    def summary(self) -> str:
        """The overall picture in words and a few numbers, worst things first."""
        lines = [CONFIDENTIAL, "", *([self.silent, ""] if self.silent else [])]
        for table in self.tables:
            lines += [f"{table}:"] * (len(self.tables) > 1)
            lines += [*told(self.findings[table]), ""]
        width = max((len(metric.title) for metric in self.metrics), default=0)
        heads = "".join(f"{table[:16]:>18}" for table in self.tables)
        lines += [f"  {'':{width}}{heads}{'real images':>13}"]
        for metric in self.metrics:
            row = [self.score(metric.name, table) for table in self.tables]
            first = next((score for score in row if score is not None), None)
            if first is None:
                continue
            cells = "".join(f"{_written(score):>18}" for score in row)
            real = "" if first.reference is None else f"{first.reference:.4g}"
            lines += [f"  {metric.title:{width}}{cells}{real:>13}  {metric.goal} is better"]
        lines += ["", *(f"  {line}" for line in in_words(self.guarantees))]
        return "\n".join([*lines, *(f"  Note: {note}" for note in self.notes)])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"ImageEvaluation(tables={list(self.tables)}, scores={len(self.results)})"

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything but the images, as JSON; written to `path` too if one is given."""
        fields = ("name", "title", "group", "goal", "low", "high", "meaning")
        content = {
            "nacre": 1,
            "confidential": CONFIDENTIAL,
            "schema": self.schema.digest,
            "images": dict(self.counts),
            "notes": list(self.notes),
            "silent": self.silent,
            "guarantees": dict(self.guarantees),
            "findings": {
                table: [dataclasses.asdict(f) for f in found]
                for table, found in self.findings.items()
            },
            "metrics": [{name: getattr(m, name) for name in fields} for m in self.metrics],
            "scores": [score.to_dict() for score in self.results],
            "ledger": self.spent,
            "seconds": self.seconds,
        }
        text = json.dumps(finite(content), indent=1, ensure_ascii=False, allow_nan=False)
        return written(text, path, end="\n")

    def to_html(self, path: str | Path | None = None) -> str:
        """The report: one page that needs nothing else; written to `path` if one is given."""
        from nacre.evaluate.images.page import render

        return written(render(self), path)

    def _repr_html_(self) -> str:
        from nacre.evaluate.report import render_card

        return render_card(self)


def _written(score: Score | None) -> str:
    if score is None:
        return ""
    return f"{score.value:.4g}" + ("" if score.error is None else f" ± {score.error:.1g}")
