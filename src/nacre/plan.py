"""What a fit would release, with what error, before anything is spent: from public facts only."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nacre.errors import NacreError
from nacre.methods import choose
from nacre.methods.method import Method, Question
from nacre.rows.differences import Differences
from nacre.schema import Schema
from nacre.vault.accountant import Release
from nacre.vault.bound import Adjacency
from nacre.vault.planning import check_budget, plan_choice, plan_sum, remaining_mu

FEW = 0.1  # a share that is off by more than this tells next to nothing


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
            what = f"{release.size:,} numbers"
            if release.mechanism == "exponential":
                what = f"{release.steps:,} choices among {release.size:,}"
            lines.append(
                f"  {release.name}: {what}, {planned.share:.0%} of the budget, "
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
    schema: Schema | str | Path,
    *,
    epsilon: float,
    delta: float,
    method: str | Method = "auto",
    label: str | None = None,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    rows: int | None = None,
) -> Plan:
    """Show what `fit` would release and how noisy it would be; no row is read, nothing spent.

    Warns if `rows`, a public number, is small for this budget.

    >>> from nacre.schema import Boolean, Integer
    >>> schema = Schema({"age": Integer(low=17, high=90), "member": Boolean()}, label="member")
    >>> print(plan(schema, epsilon=1.0, delta=1e-6).adjacency)
    add-remove
    """
    schema = as_schema(schema)
    check_budget(epsilon, delta)
    adjacency = Adjacency(adjacency)
    rows = as_rows(rows)
    if label is not None:
        schema = schema.with_label(label)
    schema = Differences.of(schema).modeled
    chosen, reason = choose(method, schema, epsilon)
    prior = tuple(Release.from_dict(release) for release in schema.releases)
    mu = remaining_mu(prior, epsilon, delta, adjacency)
    releases = planned_releases(chosen.questions(schema, adjacency), schema, mu, adjacency, rows)
    if rows is not None:
        warn_about_rows(releases, delta, rows, "as given", stacklevel=3)
    return Plan(
        method=chosen.title,
        reason=reason,
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        rows=rows,
        releases=releases,
    )


def planned_releases(
    questions: Sequence[Question],
    schema: Schema,
    mu: float,
    adjacency: Adjacency,
    rows: int | None,
) -> tuple[PlannedRelease, ...]:
    """What the vault will answer to these questions, and how far off it will be."""
    planned = []
    for question in questions:
        bound, share, name = question.bound, question.share, question.name
        classes = 1 if bound.by is None else schema.layout.codes[schema.layout.code(bound.by)].size
        if question.choices:
            release = plan_choice(bound, classes, question.choices, share, mu, adjacency, name)
        else:
            release = plan_sum(bound, classes, share, mu, adjacency, name)
        weights = [segment.weight for segment in bound.segments]
        per_unit = release.noise / max(weights, default=math.inf) / question.unit
        counted = rows and weights and not question.choices
        planned.append(
            PlannedRelease(
                release=release,
                share=share,
                meaning=question.meaning,
                error=per_unit / rows if rows and counted else None,
                count_error=release.noise / bound.count if bound.count else None,
            )
        )
    return tuple(planned)


def warn_about_rows(
    releases: Sequence[PlannedRelease], delta: float, rows: int, source: str, *, stacklevel: int
) -> None:
    """Warn of a delta that is not small for `rows` rows, and of rows too few for the noise.

    `source` says where the number comes from: public, or the holder's own check.
    """
    if delta >= 1 / rows:
        warnings.warn(
            f"delta={delta:g} is not below 1/{rows} (rows {source}): such a guarantee permits "
            f"publishing a whole row. Choose delta well below {1 / rows:.1g}, for example "
            f"{0.1 / rows:.0e}.",
            stacklevel=stacklevel,
        )
    # Where a release counts rows, its count tells; a mean feature among thousands would not.
    errors = [
        planned.error if planned.count_error is None else planned.count_error / rows
        for planned in releases
    ]
    known = [error for error in errors if error is not None]
    if known and min(known) > FEW:
        off = min(1.0, min(known))
        warnings.warn(
            f"{rows:,} rows ({source}) are few for this budget: even a share of all rows will be "
            f"off by about {off:.0%}, so the synthetic rows will be mostly noise. Gather more "
            "rows, or choose a larger epsilon.",
            stacklevel=stacklevel,
        )


def as_schema(given: Any) -> Schema:
    """A schema, read if it is the path of one."""
    if isinstance(given, Schema):
        return given
    if isinstance(given, str | Path):
        return Schema.read(given)
    raise NacreError(
        f"schema must be a nacre.Schema or the path of its YAML file, got a {type(given).__name__}."
    )


def as_rows(given: Any) -> int | None:
    """A public number of rows, if there is one."""
    if given is None:
        return None
    whole = isinstance(given, int | float) and not isinstance(given, bool) and given == given // 1
    if not whole or not given >= 1:
        raise NacreError(f"rows must be a positive whole number, got {given!r}.")
    return int(given)
