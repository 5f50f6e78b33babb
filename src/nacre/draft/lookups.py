"""buy_lookups(): the tables of facts `group determined by code`, from one noisy count of pairs."""

from __future__ import annotations

import dataclasses
import secrets
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nacre.draft.crossing import MOST_CELLS, Crossing, bound, features
from nacre.draft.likeliest import likeliest
from nacre.draft.recorded import recorded
from nacre.engines import on_engine
from nacre.ledger import Ledger, charged, reserve_in
from nacre.rows import Stream, TableEncoder
from nacre.schema import ImageSchema, Schema, SchemaError, Unit, read_any
from nacre.schema.constraints.statement import NotUnderstood
from nacre.schema.document import facts_yaml
from nacre.schema.facts.narrowing import narrow_all
from nacre.schema.facts.statement import Determined, parse_head
from nacre.schema.facts.understand import understand_facts
from nacre.schema.problems import fingerprint, purchase_name
from nacre.vault import Adjacency, Plan, Release, Sum, Sums, Vault
from nacre.vault.budget import check_budget
from nacre.vault.guarantee import unit_column

SURE = 0.95  # the chance from which on a code's group is said to stand out from the noise


def buy_lookups(
    data: Any,
    schema: Schema | str | Path,
    facts: Sequence[str] | str,
    *,
    epsilon: float,
    delta: float,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    engine: Any = None,
    on_progress: Callable[[str, float | None], None] | None = None,
) -> Schema:
    """The same schema with look-up tables that are (epsilon, delta)-differentially private.

    That a code determines its group must be public; which group it is, is bought.

    Args:
        data: a pandas, polars or Arrow table, a Dask or Spark frame, or the path of a CSV or
            Parquet file, a folder or a pattern of files.
        schema: of the table, or the path of its YAML file.  The code is categorical, ordinal,
            boolean, or an integer of at most 1,000 values; the group one of the first three.
        facts: statements such as "group determined by code", without their tables.
        epsilon: the privacy parameter of the tables alone; `fit` adds its own.
        delta: of the tables alone; that of the fit should not be smaller.
        adjacency: "add-remove" or "replace-one"; that of the fit to come.
        ledger: where the data set's budget is kept; needs `dataset`, its name there.
        dataset: the name under which the budget was opened.
        engine: who reads the files, as for `fit`.
        on_progress: called with a stage's name and the part done (None if unknown).

    Releases:
        for each of M facts, how many rows have each value of the code with each of the group, gaps
        included; each code's group is then the likeliest (`likeliest`), as post-processing.

    Adjacency:
        `adjacency`, for one row, or for one person of any number of rows with a `unit`.

    Sensitivity:
        a row is a one in one cell of each of M tables: adding it moves the counts by sqrt(M),
        replacing it by sqrt(2 M).  A row with a value that does not fit one of these columns
        counts as nothing.  Of a person one row counts, drawn at random.

    Guarantee:
        (epsilon, delta), by one discrete Gaussian sum.  The release is recorded in the schema, and
        `fit` composes it with its own.

    Public:
        the schema, all arguments, and so the noise; and a random id of the purchase.
    """
    check_budget(epsilon, delta)
    adjacency = Adjacency(adjacency)
    schema = _usable(schema, adjacency)
    crossings = _crossings(schema, facts)
    encoder = TableEncoder(_counted(schema, crossings))
    purchase = secrets.token_hex(6)
    question = _question(crossings, purchase)
    plan = _plan(question, encoder.unit, adjacency, epsilon=epsilon, delta=delta)
    with on_engine(data, engine) as where:
        stream = Stream(encoder, where)
        reservation = reserve_in(ledger, dataset, plan)
        with charged(reservation):
            vault = Vault(stream, plan, charge=reservation, on_progress=on_progress)
            sums = vault.sum(question, features(crossings, encoder.layout))
    tables, doubts = _tables(schema, crossings, sums)
    found = _with_tables(schema, tables, vault.releases)
    for doubt in doubts:
        warnings.warn(doubt, stacklevel=2)
    return found


def _usable(schema: Any, adjacency: Adjacency) -> Schema:
    """A schema of a table that a fit under `adjacency` would take, and that protects nothing."""
    if isinstance(schema, str | Path):
        schema = read_any(schema)
    if isinstance(schema, ImageSchema) or not isinstance(schema, Schema):
        raise SchemaError("Look-up tables belong to the schema of a table: give a nacre.Schema.")
    schema.require_usable()
    if schema.protect:
        raise SchemaError(
            f"The schema protects the distribution of {', '.join(map(str, schema.protect))}, and "
            "counts with noise would publish that of codes and groups. State the tables if they "
            "are public, or take `protect` out of the schema."
        )
    _require_composable(schema, adjacency)
    return schema


def _require_composable(schema: Schema, adjacency: Adjacency) -> None:
    """Refuse a release that no fit could compose with what the schema was bought with before."""
    for release in map(Release.from_dict, schema.releases):
        if release.adjacency is not adjacency:
            raise SchemaError(
                f"The schema has '{release.name}', bought under {release.adjacency.value}; a fit "
                f"composes releases of one adjacency only. Say adjacency='{release.adjacency}' "
                f"(--adjacency {release.adjacency}) here and for the fit."
            )
        if release.by != unit_column(schema.unit):
            raise SchemaError(
                f"The schema has '{release.name}', bought for another unit than its own; a fit "
                "cannot compose them. Draft again with the unit that the schema has."
            )


def _crossings(schema: Schema, facts: Sequence[str] | str) -> tuple[Crossing, ...]:
    """What is to be counted; refuses, before a row is read, whatever could not be a fact."""
    said = [facts] if isinstance(facts, str) else list(facts)
    if not said:
        raise SchemaError("No fact is given. Name at least one, as `group determined by code`.")
    found: list[Crossing] = []
    problems = []
    for each in said:
        try:
            if not isinstance(each, str):
                raise NotUnderstood(
                    "a table that is known costs nothing: put it into the schema's `facts`. What "
                    "is bought is named as text, such as `group determined by code`."
                )
            found.append(Crossing.of(parse_head(each), schema.columns))
        except NotUnderstood as error:
            problems.append(f"`{each}`: {error}")
    cells = sum(crossing.size for crossing in found)
    if cells > MOST_CELLS:
        sizes = ", ".join(f"`{c.fact}` {c.codes:,} x {c.groups:,}" for c in found)
        problems.append(
            f"the tables have {cells:,} cells ({sizes}), and at most {MOST_CELLS:,} can be bought "
            "at once. Gather rare codes in `other`, or buy fewer tables."
        )
    if not problems:
        problems = _fact_problems(schema, found) or _forbidden(schema, found)
    if problems:
        raise SchemaError(problems, subject="What is to be bought")
    return tuple(found)


def _fact_problems(schema: Schema, crossings: Sequence[Crossing]) -> list[str]:
    """What the schema would say of such facts: of its label, of circles, of two for one column.

    Tables that name every group in turn stand for those to come.
    """
    turns = max(-(-crossing.groups // crossing.codes) for crossing in crossings)
    for turn in range(turns):
        tables = []
        for crossing in crossings:
            named = np.flatnonzero(crossing.allowed(None))
            places = (turn * crossing.codes + np.arange(crossing.codes)) % len(named)
            tables.append(crossing.table(named[places].tolist()))
        known, label = schema.columns, schema.label
        *_, problems = understand_facts([*schema.facts, *tables], known, label, known=True)
        if problems:
            return problems
    return []


def _forbidden(schema: Schema, crossings: Sequence[Crossing]) -> list[str]:
    """Columns of which constraints leave no group that a table could name."""
    domains = narrow_all(schema.columns, schema.rules, schema.bound_facts)
    return [
        f"`{crossing.fact}`: the constraints leave '{name}' no value that a table could name."
        for crossing in crossings
        if not crossing.allowed(domains.get(name := crossing.fact.column.text)).any()
    ]


def _counted(schema: Schema, crossings: Sequence[Crossing]) -> Schema:
    """The columns of codes and groups alone; of a person one row counts."""
    names = {word.text for c in crossings for word in (c.fact.by, c.fact.column)}
    columns = {name: column for name, column in schema.columns.items() if name in names}
    unit = schema.unit
    some = None if unit is None else dataclasses.replace(unit, rows=1, constant=())
    return Schema(columns, unit=some)


def _question(crossings: Sequence[Crossing], purchase: str) -> Sum:
    return Sum(
        name=purchase_name([crossing.fact for crossing in crossings], purchase),
        meaning="how many rows have each value of a code with each value of its group",
        bound=bound(crossings),
        share=1.0,
    )


def _plan(
    question: Sum, unit: Unit | None, adjacency: Adjacency, *, epsilon: float, delta: float
) -> Plan:
    return Plan.of(
        [question],
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        unit=unit,
        method="look-up tables",
    )


def _tables(
    schema: Schema, crossings: Sequence[Crossing], sums: Sums
) -> tuple[list[Determined], list[str]]:
    """The likeliest tables, and what to say of those that noise hides; post-processing."""
    domains = narrow_all(schema.columns, schema.rules, schema.bound_facts)
    ends = np.cumsum([crossing.size for crossing in crossings])[:-1]
    counts = np.split(sums.values[0], ends)
    found, doubts = [], []
    for crossing, cells, spread in zip(crossings, counts, sums.noise, strict=True):
        allowed = crossing.allowed(domains.get(crossing.fact.column.text))
        table = cells.reshape(crossing.codes, crossing.groups)
        groups, sure = likeliest(table, spread, allowed)
        found.append(crossing.table(groups.tolist()))
        if hidden := int((sure < SURE).sum()):
            doubts.append(
                f"Of the {crossing.codes:,} values of '{crossing.fact.by.text}', {hidden:,} did "
                f"not stand out from the noise (a standard deviation of {spread:,.0f} rows): "
                f"their '{crossing.fact.column.text}' is a guess. Correct what is public. To buy "
                "the table again, with a larger epsilon, take it out of `facts` and leave "
                "`releases` as they are: both purchases count."
            )
    return found, doubts


def _with_tables(
    schema: Schema, tables: Sequence[Determined], releases: Sequence[Release]
) -> Schema:
    """The schema with its new facts and what they cost: the one cannot be had without the other.

    Where its columns come from stays as it was, and with it whether a person has to review them.
    """
    bought, place = recorded(releases), len(schema.releases) + 1
    own = fingerprint(bought[0])
    tables = [dataclasses.replace(table, bought=place, purchase=own) for table in tables]
    try:
        return dataclasses.replace(
            schema,
            facts=(*schema.facts, *tables),
            releases=(*schema.releases, *bought),
        )
    except SchemaError as error:
        plain = facts_yaml([table.plain() for table in tables], bought)
        raise SchemaError(
            "The tables that were bought contradict the schema's constraints:\n"
            + "\n".join(f"  {problem}" for problem in error.problems)
            + "\nThey are paid for. Loosen or leave out the constraint, and add what follows to "
            f"the end of the schema's `facts` and `releases`:\n{plain}"
        ) from None
