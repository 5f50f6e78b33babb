"""What a fit would release, with what error, before anything is spent: from public facts only."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from nacre.methods import choose
from nacre.methods.method import Method
from nacre.schema import Schema
from nacre.vault.accountant import Release
from nacre.vault.bound import Adjacency
from nacre.vault.planning import check_budget, plan_sum, remaining_mu


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlannedRelease:
    """One release to come: its noise and share, and what error to expect from it."""

    release: Release
    share: float
    meaning: str
    error: float | None
    count_error: float | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """All releases of a fit that has not happened; reads the schema only."""

    method: str
    reason: str
    epsilon: float
    delta: float
    adjacency: Adjacency
    rows: int | None
    releases: tuple[PlannedRelease, ...]

    def __str__(self) -> str:
        lines = [
            f"{self.method} at (ε = {self.epsilon:g}, δ = {self.delta:g}), "
            f"{self.adjacency.value}, per row. {self.reason}",
        ]
        for planned in self.releases:
            release = planned.release
            lines.append(
                f"  {release.name}: {release.size:,} numbers, {planned.share:.0%} of the budget, "
                f"noise {release.noise / release.sensitivity:.3g} x sensitivity"
            )
            lines.append(f"    {planned.meaning}")
            if planned.count_error is not None:
                lines.append(
                    f"    a count of rows will be off by about {planned.count_error:.1f} "
                    "(one standard error)"
                )
            if planned.error is not None:
                lines.append(
                    f"    a share (or mean) of {self.rows:,} rows will be off by about "
                    f"{planned.error:.2g}"
                )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "method": self.method,
            "reason": self.reason,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "adjacency": self.adjacency.value,
            "rows": self.rows,
            "releases": [
                {
                    **planned.release.to_dict(),
                    "share": planned.share,
                    "meaning": planned.meaning,
                    "error": planned.error,
                    "count_error": planned.count_error,
                }
                for planned in self.releases
            ],
        }


def plan(
    schema: Schema,
    *,
    epsilon: float,
    delta: float,
    method: str | Method = "auto",
    label: str | None = None,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    rows: int | None = None,
) -> Plan:
    """Show what `fit` would release and how noisy it would be; no row is read, nothing spent.

    >>> from nacre.schema import Boolean, Integer
    >>> schema = Schema({"age": Integer(low=17, high=90), "member": Boolean()}, label="member")
    >>> print(plan(schema, epsilon=1.0, delta=1e-6).adjacency)
    add-remove
    """
    check_budget(epsilon, delta)
    adjacency = Adjacency(adjacency)
    if label is not None:
        schema = schema.with_label(label)
    chosen, reason = choose(method, schema, epsilon)
    prior = tuple(Release.from_dict(release) for release in schema.releases)
    mu = remaining_mu(prior, epsilon, delta, adjacency)
    planned = []
    for question in chosen.questions(schema, adjacency):
        bound = question.bound
        classes = 1 if bound.by is None else schema.layout.codes[schema.layout.code(bound.by)].size
        release = plan_sum(bound, classes, question.share, mu, adjacency, question.name)
        weights = [segment.weight for segment in bound.segments]
        per_unit = release.noise / max(weights, default=math.inf) / question.unit
        planned.append(
            PlannedRelease(
                release=release,
                share=question.share,
                meaning=question.meaning,
                error=per_unit / rows if rows and weights else None,
                count_error=release.noise / bound.count if bound.count else None,
            )
        )
    return Plan(
        method=chosen.title,
        reason=reason,
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        rows=rows,
        releases=tuple(planned),
    )
