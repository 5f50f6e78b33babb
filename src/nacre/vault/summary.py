"""A plan in words: what will be asked, with what noise, and how far answers will be off."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

from nacre.schema import Unit
from nacre.vault.guarantee import NOT_PRIVATE, per, unit_name, upwards
from nacre.vault.release import SHARED

if TYPE_CHECKING:
    from nacre.vault.plan import Plan, Planned


def summary(plan: Plan) -> str:
    """What `print(plan)` and `nacre plan` show."""
    claim = (
        f"(ε = {plan.epsilon:g}, δ = {plan.delta:g}), {plan.adjacency.value}, "
        f"{per(unit_name(plan.unit), plan.most_rows)}"
    )
    each = f"{unit_name(plan.unit)}s"
    head = f"{plan.method} at {claim}." if plan.private else f"{plan.method}, {NOT_PRIVATE}."
    lines = [f"{head} {plan.reason}".strip()]
    if plan.unit is not None:
        lines.append(f"  {_counting(plan.unit)}")
    for _, alike in itertools.groupby(plan.asked, key=_alike):
        planned, *others = alike
        lines += [f"  {_headline(planned)}", f"    {planned.question.meaning}"]
        if others:
            lines.append(f"    and {len(others)} more like it, to '{others[-1].release.name}'")
        expected = planned.expected
        if expected.count_error is not None:
            lines.append(
                f"    a count of {each} will be off by about {expected.count_error:.1f} "
                "(one standard error)"
            )
        if expected.error is not None:
            lines.append(
                f"    a share (or mean) of {plan.rows:,} {each} will be off by about "
                f"{expected.error:.2g}"
            )
        if expected.words:
            lines.append(f"    {expected.words}")
    if plan.outlook:
        lines.append(f"  Among {plan.rows:,} {each} {plan.outlook}.")
    return "\n".join(lines)


def _counting(unit: Unit) -> str:
    """What rows mean in a plan for persons."""
    if unit.rows == 1:
        return f"Of each person ('{unit.column}') one row, drawn at random, counts."
    return (
        f"Of each person ('{unit.column}') up to {unit.rows} rows, drawn at random, count as one "
        "row together; how many there are is a column of its own."
    )


def _alike(planned: Planned) -> tuple[Any, ...]:
    """What questions that are asked time and again have in common: all but their names."""
    release = dataclasses.replace(planned.release, name="")
    return release, planned.question.meaning, planned.question.share


def _headline(planned: Planned) -> str:
    release, share = planned.release, planned.question.share
    if not release.private:
        return f"{release.name}: no noise"
    if release.mechanism == "approximate":
        epsilon, delta = upwards(release.epsilon, 4), upwards(release.delta, 3)
        return f"{release.name}: at most (ε = {epsilon:g}, δ = {delta:g})"
    what = {
        "gaussian": f"{release.size:,} number{'' if release.size == 1 else 's'}",
        SHARED: f"{release.size:,} numbers, noise of {release.sites} sites",
        "exponential": f"{release.steps:,} choices among {release.size:,}",
        "subsampled-gaussian": f"{release.steps:,} steps, each on {release.rate:.2g} of the rows",
    }[release.mechanism]
    return (
        f"{release.name}: {what}, {share:.0%} of the budget, "
        f"noise {release.noise / release.sensitivity:.3g} x sensitivity"
    )
