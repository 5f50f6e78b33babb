"""What a public report says, and its forms for people and programs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.evaluate.findings.finding import Finding, told
from nacre.evaluate.findings.words import percent
from nacre.publish.bands import CONFIDENCE, Band
from nacre.publish.findings import drowned
from nacre.publish.predictor import Predictor
from nacre.publish.scores import PaidScore
from nacre.publish.table import Table
from nacre.report.written import written
from nacre.schema import Schema
from nacre.vault.guarantee import Guarantee

LISTED = 20  # columns in the summary
SAFE = "Safe to publish"
RESTS = (
    "it rests on the model and a synthetic table. Nothing in it was computed from private rows "
    "other than the releases that it lists, which are covered by the guarantee."
)
READ = (
    "it rests on the model and a synthetic table. Two things in it were computed from private "
    "rows: the releases that it lists, which are covered by the guarantee, and the schema’s bounds "
    "and values, which are not."
)
PROVIDED = "the synthetic table was drawn from this model, as the publisher says"
PUBLIC = "the schema, read from the rows, is public, as a person said"


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class PublicReport:
    """A report on a model that is safe to publish: post-processing, and what was paid for.

    Attributes:
        schema: what the columns are.
        method: that made the model.
        versions: of the software that the model was made with.
        table: the synthetic rows that it describes.
        guarantee: the model's.
        bought: of what was bought for this report; None if nothing was.
        together: of both; epsilon and delta added up.
        bands: every column, and where the private table's histogram lies.
        scores: of a classifier, released through the vault.
        outcomes: the noisy counts behind these scores, by class and step.
        outcome_noise: their standard deviation.
        predictor: the classifier, trained on synthetic rows.
        findings: what all this means in words, worst first.
    """

    schema: Schema
    method: str
    versions: Mapping[str, str]
    table: Table
    guarantee: Guarantee
    bought: Guarantee | None
    together: Guarantee
    bands: tuple[Band, ...]
    scores: tuple[PaidScore, ...]
    outcomes: NDArray[np.float64] | None
    outcome_noise: float
    predictor: Predictor | None
    findings: tuple[Finding, ...]

    @property
    def first_line(self) -> str:
        """What the page begins with."""
        read = self.schema.from_rows
        provisos = [PROVIDED] * (self.table.seed is None) + [PUBLIC] * read
        given = f" if {' and if '.join(provisos)}" if provisos else ""
        return f"{SAFE}{given}: {READ if read else RESTS}"

    def summary(self) -> str:
        """The overall picture in words and a few numbers."""
        lines = [self.first_line, ""]
        lines += told(self.findings)
        lines += ["", f"  model      {self.guarantee}"]
        if self.bought is not None:
            lines += [f"  this page  {self.bought}", f"  together   {self.together}"]
        known = [b for b in self.bands if b.at_least is not None and b.at_most is not None]
        if known:
            width = max(len(band.column) for band in known)
            lines += ["", "  How much of each column may be in the wrong bin (95% confidence)"]
            for band in sorted(known, key=lambda b: -(b.at_most or 0))[:LISTED]:
                reach = f"{percent(band.at_least or 0):>6} to {percent(band.at_most or 0):>6}"
                reach += f"  {band.told_in}" if band.told_in else ""
                reach = "not known: all noise" if drowned(band) else reach
                lines += [f"    {band.column:{width}}  {reach}"]
            if len(known) > LISTED:
                lines += [f"    and {len(known) - LISTED} columns that are more certain"]
        for score in self.scores:
            value = "unknown" if score.value is None else f"{score.value:.3f} ± {score.error:.1g}"
            lines += [
                f"  {score.name} on private rows: {value}; on synthetic {score.synthetic:.3f}"
            ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<public report on a {self.method} model, {self.together}>"

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything but the figures, as JSON; written to `path` too if one is given."""
        content = {
            "nacre": 1,
            "public": self.first_line,
            "method": self.method,
            "versions": dict(self.versions),
            "guarantee": self.guarantee.to_dict(),
            "bought": None if self.bought is None else self.bought.to_dict(),
            "together": self.together.to_dict(),
            "schema": self.schema.to_dict(),
            "synthetic": {
                "rows": len(self.table.rows),
                **({} if self.table.persons is None else {"persons": self.table.persons}),
                "seed": self.table.seed,
            },
            "confidence": CONFIDENCE,
            "findings": [dataclasses.asdict(finding) for finding in self.findings],
            "columns": [_column(band) for band in self.bands],
            "scores": [dataclasses.asdict(score) for score in self.scores],
            "outcomes": None if self.outcomes is None else self.outcomes.tolist(),
            "outcome_noise": self.outcome_noise,
        }
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        return written(text, path, end="\n")

    def to_html(self, path: str | Path | None = None) -> str:
        """The report: one page that needs nothing else; written to `path` if one is given."""
        from nacre.publish.page import render

        return written(render(self), path)

    def to_registry(self, path: str | Path | None = None) -> str:
        """An entry for OpenDP's registry of deployments; blanks are for the publisher."""
        from nacre.publish.registry import to_yaml

        return written(to_yaml(self), path)

    def to_checklist(self, path: str | Path | None = None) -> str:
        """A checklist by NIST SP 800-226, in Markdown; open points are for the data holder."""
        from nacre.publish.checklist import to_markdown

        return written(to_markdown(self), path)

    def _repr_html_(self) -> str:
        from nacre.publish.page import render_card

        return render_card(self)


def _column(band: Band) -> dict[str, Any]:
    """A band as plain data."""
    numbers = {name: getattr(band, name) for name in ("synthetic", "measured", "lower", "upper")}
    return {
        "name": band.column,
        "bins": list(band.bins.names),
        **{name: None if v is None else v.tolist() for name, v in numbers.items()},
        "at_least": band.at_least,
        "at_most": band.at_most,
        "stretches": None if band.stretches is None else int(band.stretches.max()) + 1,
        "cells": band.cells,
        "source": band.source or None,
    }
