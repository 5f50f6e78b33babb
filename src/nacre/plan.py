"""plan(): what a fit would release, with what error, before anything is spent."""

from __future__ import annotations

import dataclasses
import math
import warnings
from pathlib import Path
from typing import Any

from nacre.errors import NacreError
from nacre.methods import AbstractMethod, choose
from nacre.rows import AbstractEncoder, ImageEncoder, TableEncoder
from nacre.schema import KEEP, ImageSchema, Schema, read_any, stated_types
from nacre.vault import Adjacency, Plan, Release
from nacre.vault.budget import as_budget
from nacre.vault.guarantee import unit_name

FEW = 0.1  # a share that is off by more than this tells next to nothing


def plan(
    schema: Schema | ImageSchema | AbstractEncoder | str | Path,
    *,
    epsilon: float,
    delta: float | None = None,
    method: str | AbstractMethod = "auto",
    label: str | None = KEEP,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    rows: int | None = None,
) -> Plan:
    """Show what `fit` would release and how noisy it would be; no row is read, nothing spent.

    Warns if `rows`, a public number, is small for this budget.  Arguments as for `fit`.

    Examples:
        >>> from nacre.schema import Boolean, Integer
        >>> schema = Schema({"age": Integer(low=17, high=90), "member": Boolean()}, label="member")
        >>> print(plan(schema, epsilon=1.0, delta=1e-6).adjacency)
        add-remove
    """
    encoder = as_encoder(schema, label)
    rows = as_rows(rows)
    chosen, reason = choose(method, encoder.kind, encoder.protect)
    found = make_plan(
        chosen,
        reason,
        encoder,
        epsilon=epsilon,
        delta=delta,
        adjacency=Adjacency(adjacency),
        rows=rows,
    )
    if rows is not None and not warn_about_rows(found, rows, "as given", stacklevel=3):
        warn_about_links(chosen, encoder, found, rows, "as given", stacklevel=3)
    return found


def make_plan(
    method: AbstractMethod,
    reason: str,
    encoder: AbstractEncoder,
    *,
    epsilon: float,
    delta: float | None,
    adjacency: Adjacency,
    rows: int | None,
) -> Plan:
    """The plan of a method's questions, after what the schema itself was bought with."""
    budget, _ = as_budget(epsilon, delta)
    if not method.private and math.isfinite(budget):
        raise NacreError(
            f"{method.title} is not private: it has no form with noise, and is here to compare "
            f"with. To fit it all the same, give epsilon=math.inf (on the command line "
            "--not-private) and no delta; or choose a private method."
        )
    method.check(delta=delta, rows=rows)
    found = Plan.of(
        method.questions(encoder, adjacency, rows),
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        rows=rows,
        unit=encoder.unit,
        prior=tuple(Release.from_dict(release) for release in encoder.releases),
        method=method.title,
        reason=reason,
    )
    if not rows or not found.private:  # of a table without rows there is nothing to say
        return found
    outlook = method.outlook(encoder, found, rows)
    words = filter(None, [outlook.words, *outlook.plain])
    return dataclasses.replace(found, outlook="; ".join(words))


def warn_about_links(
    method: AbstractMethod,
    encoder: AbstractEncoder,
    plan: Plan,
    rows: int,
    source: str,
    *,
    stacklevel: int,
) -> None:
    """Warn if noise will hide links that people would expect to find again among so many rows."""
    outlook = method.outlook(encoder, plan, rows)
    if plan.private and outlook.weak:
        words = "; ".join([*outlook.plain, outlook.words])
        warnings.warn(
            f"{rows:,} {_each(plan)} ({source}) are few for this budget and so many columns: "
            f"{words}. Leave out columns that nobody needs, gather more {_each(plan)}, or "
            "choose a larger epsilon.",
            stacklevel=stacklevel,
        )


def warn_about_rows(plan: Plan, rows: int, source: str, *, stacklevel: int) -> bool:
    """Warn of a delta that is not small for `rows` rows, and of rows too few for the noise.

    Where there is a unit, all of it is said of persons.

    `source` says where the number comes from: public, or the holder's own check.  Returns whether
    there are too few.
    """
    if not plan.private:
        return False
    if plan.delta >= 1 / rows:
        warnings.warn(
            f"delta={plan.delta:g} is not below 1/{rows} ({_each(plan)} {source}): such a "
            f"guarantee permits publishing a whole {unit_name(plan.unit)}. Choose delta well below "
            f"{1 / rows:.1g}, for example {0.1 / rows:.0e}.",
            stacklevel=stacklevel,
        )
    # Where a release counts rows, its count tells; a mean feature among thousands would not.
    expected = [p.question.expected(p.release, rows) for p in plan.asked]
    errors = [e.error if e.count_error is None else e.count_error / rows for e in expected]
    known = [error for error in errors if error is not None]
    if known and min(known) > FEW:
        off = min(1.0, min(known))
        warnings.warn(
            f"{rows:,} {_each(plan)} ({source}) are few for this budget: even a share of all "
            f"{_each(plan)} will be off by about {off:.0%}, so the synthetic rows will be mostly "
            f"noise. Gather more {_each(plan)}, or choose a larger epsilon.",
            stacklevel=stacklevel,
        )
        return True
    return False


def _each(plan: Plan) -> str:
    """What is counted: rows, or persons."""
    return f"{unit_name(plan.unit)}s"


def as_encoder(given: Any, label: str | None = KEEP, types: Any = None) -> AbstractEncoder:
    """The encoder of a schema, which is read if it is the path of one; or an encoder."""
    if isinstance(given, AbstractEncoder):
        if label is not KEEP or types is not None:
            raise NacreError("An encoder has its own label and types; leave both out.")
        return given
    if isinstance(given, str | Path):
        given = read_any(given)
    if isinstance(given, ImageSchema):
        if types is not None:
            raise NacreError("Images are bytes: there are no types of columns to state.")
        return ImageEncoder(given if label is KEEP else given.with_label(label))
    if isinstance(given, Schema):
        schema = given if label is KEEP else given.with_label(label)
        return TableEncoder.of(schema, stated_types(types, schema))
    raise NacreError(
        "schema must be a nacre.Schema, a nacre.ImageSchema or the path of a YAML file, got a "
        f"{type(given).__name__}."
    )


def as_rows(given: Any) -> int | None:
    """A public number of rows, if there is one."""
    if given is None:
        return None
    whole = isinstance(given, int | float) and not isinstance(given, bool) and given == given // 1
    if not whole or not given >= 1:
        raise NacreError(f"rows must be a positive whole number, got {given!r}.")
    return int(given)
