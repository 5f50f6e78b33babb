"""private_draft(): one noisy histogram of all columns, then the values of each that has some."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nacre.draft.binned import PRESENCE, Binned, settled
from nacre.draft.counted import as_unit, enough_rows, to_choose
from nacre.draft.kinds import column_facts, declared_column
from nacre.draft.recorded import recorded
from nacre.engines import on_engine
from nacre.ledger import Ledger, charged, reserve_in
from nacre.rows import Source, Stream, TableEncoder, open_source
from nacre.schema import (
    Boolean,
    Categorical,
    Column,
    Datetime,
    Integer,
    Real,
    Schema,
    SchemaError,
    Time,
    Unit,
)
from nacre.schema.columns.clock import clock_text
from nacre.schema.columns.column import as_flag, as_values
from nacre.schema.columns.numeric import DIGITS
from nacre.schema.unit import MOST_ROWS
from nacre.vault import Adjacency, Bound, Keys, Plan, Release, Segment, Sum, Vault
from nacre.vault.budget import check_budget

FALSE_BINS = 0.05  # the chance that any empty bin anywhere is taken for an occupied one


def private_draft(
    data: Any,
    *,
    epsilon: float,
    delta: float,
    types: Mapping[str, Any] | None = None,
    label: str | None = None,
    drop: Collection[str] = (),
    unit: Unit | Mapping[str, Any] | None = None,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    engine: Any = None,
    on_progress: Callable[[str, float | None], None] | None = None,
) -> Schema:
    """A schema for `data` that is (epsilon, delta)-differentially private.

    Args:
        data: a pandas, polars or Arrow table, a Dask or Spark frame, or the path of a CSV or
            Parquet file, a folder or a pattern of files.
        epsilon: the privacy parameter of the draft alone; `fit` adds its own.
        delta: of the draft alone; that of the fit should not be smaller.
        types: column types by name; a Parquet file's own where none is stated (they count as
            public), and of every other table for all columns, as its rows may have decided them.
            Facts that a person states here, as in {"age": {"type": "integer", "low": 0, "high":
            120}}, cost nothing.
        label: the column to be predicted.
        drop: columns to leave out.
        unit: whose privacy it is, where a person may have several rows: {"column": "person",
            "rows": 5}. It is part of the schema; for the draft one row of each person counts. With
            "rows": "auto" how many rows of a person count is bought, too: enough for 95% of the
            persons, from noisy counts of persons by their number of rows.
        adjacency: "add-remove" or "replace-one"; that of the fit to come.
        ledger: where the data set's budget is kept; needs `dataset`, its name there.
        dataset: the name under which the budget was opened.
        engine: who reads the files, as for `fit`.
        on_progress: called with a stage's name and the part done (None if unknown).

    Releases:
        one histogram of all drafted columns over public bins, gaps included; for each of C columns
        of values, the values that many rows hold.

    Adjacency:
        `adjacency`, for one row, or for one person of any number of rows with a `unit`.

    Sensitivity:
        a row is in one bin of each of M columns: adding it moves the histogram by sqrt(M),
        replacing it by sqrt(2 M).  Keys: see `Vault.keys`.  Of a person one row counts, drawn at
        random, so that a person moves them as a row does.  Where the number of rows is bought it
        is one more of the M columns, and up to 100 rows of a person count together as one
        (docs/privacy.md, section 3): the rows of one with r of them weigh 1 / r each in cell r.

    Guarantee:
        each column of values gets epsilon / (C + max(1, M - C)) and delta / (2 C); the histogram
        the rest.  The releases are recorded in the schema, and `fit` composes them with its own.

    Public:
        column names, types, all arguments.
    """
    check_budget(epsilon, delta)
    adjacency = Adjacency(adjacency)
    whose, open_ = as_unit(unit), to_choose(unit)
    if whose is not None:
        drop = {*((drop,) if isinstance(drop, str) else drop), whose.column}
    with on_engine(data, engine) as where:
        facts, known = _facts(open_source(where), types, drop, label)
        if whose is not None and (problems := whose.problems(facts)):
            raise SchemaError(problems)
        unknown = {name: said for name, said in facts.items() if known[name] is None}
        rows = MOST_ROWS if open_ else 1
        some = None if whose is None else dataclasses.replace(whose, rows=rows, constant=())
        bins = Schema({name: _bins(said) for name, said in unknown.items()}, unit=some)
        encoder = TableEncoder(bins)
        plan = Plan.of(
            _questions(unknown, encoder, epsilon, delta),
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            unit=bins.unit,
            method="private draft",
        )
        stream = Stream(encoder, where)
        reservation = reserve_in(ledger, dataset, plan)
        with charged(reservation):
            vault = Vault(stream, plan, charge=reservation, on_progress=on_progress)
            found, many = _find(vault, unknown)
    columns = {name: known[name] or found[name] for name in facts}
    if whose is not None and many is not None:
        whose = dataclasses.replace(whose, rows=many)
    return _schema(columns, label, vault.releases, whose)


def _bins(said: Mapping[str, Any]) -> Binned:
    """The public bins of a column, read by the codes and the format that a person states."""
    stated = Binned(kind=said["type"], format=said.get("format"))
    missing = as_values(said.get("missing", ()))
    return dataclasses.replace(stated, missing=missing, nullable=bool(missing))


def _facts(
    source: Source, types: Mapping[str, Any] | None, drop: Collection[str], label: str | None
) -> tuple[dict[str, dict[str, Any]], dict[str, Column | None]]:
    """What is known of each column, and the columns of which all is known already."""
    facts = column_facts(source, types, (drop,) if isinstance(drop, str) else drop)
    known = {name: declared_column(name, said) for name, said in facts.items()}
    if label is not None and label not in facts:
        raise SchemaError(f"The label '{label}' is not a column of the draft.")
    if all(column is not None for column in known.values()):
        raise SchemaError("Every column is described already: there is nothing to draft.")
    return facts, known


def _schema(
    columns: Mapping[str, Column | None],
    label: str | None,
    releases: tuple[Release, ...],
    unit: Unit | None,
) -> Schema:
    kept = {name: column for name, column in columns.items() if column is not None}
    if not kept:
        raise SchemaError("No column has a value that is held by enough rows; the draft is empty.")
    return Schema(
        kept,
        label=label if label in kept else None,
        provenance="private",
        releases=recorded(releases),
        unit=None if unit is None else unit.among(kept),
    )


def _find(
    vault: Vault, unknown: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, Column | None], int | None]:
    """Ask the vault; each column from the answers, and how many rows of a person should count."""
    histogram, *rest = (planned.question for planned in vault.plan.asked)
    keys_of = {question.column: question for question in rest if isinstance(question, Keys)}
    counts, noise = _histogram(vault, histogram)
    threshold = noise * math.sqrt(2 * math.log(sum(map(len, counts.values())) / FALSE_BINS))
    counted = None if vault.encoder.unit is None else vault.encoder.unit.counted
    many = None if counted is None else enough_rows(counts.pop(counted), noise)
    found: dict[str, Column | None] = {}
    for name, said in unknown.items():
        nullable = as_flag(said.get("nullable", bool(counts[name][-1] > threshold)))
        if said["type"] == "categorical":
            found[name] = _values(name, vault.keys(keys_of[name]), nullable)
        elif said["type"] in PRESENCE:
            found[name] = Boolean(nullable=nullable)
        else:
            found[name] = _range(name, said, counts[name][:-1], threshold, nullable)
        found[name] = _as_stated(found[name], said)
    return found, many


def _as_stated(column: Column | None, said: Mapping[str, Any]) -> Column | None:
    """The column with what a person said beside its bounds or values."""
    stated = {name: said[name] for name in ("missing", "format", "clamp") if name in said}
    if column is None or not stated:
        return column
    column = dataclasses.replace(column, **stated)
    if isinstance(column, Categorical):
        kept = [value for value in column.values if value not in column.missing]
        return dataclasses.replace(column, values=kept) if kept else None
    return column


def _questions(
    unknown: Mapping[str, Mapping[str, Any]], encoder: TableEncoder, epsilon: float, delta: float
) -> tuple[Sum | Keys, ...]:
    """One histogram of all columns, and the values of each column that has some.

    Each column of values gets a fixed part of epsilon and delta; the histogram gets what is left.
    """
    sizes = [code.size for code in encoder.layout.codes]
    histogram = Sum(
        name="histogram of all columns",
        meaning="how many rows lie in each public bin of each column",
        bound=Bound(segments=tuple(Segment(size=n, norm=1.0, signed=False) for n in sizes)),
        share=1.0,
    )
    names = [name for name, said in unknown.items() if said["type"] == "categorical"]
    part = epsilon / (len(names) + max(1, len(unknown) - len(names)))
    keys = [
        Keys(
            name=f"values of {name}",
            meaning=f"which values of '{name}' many rows hold",
            column=name,
            epsilon=part,
            delta=delta / (2 * len(names)),
        )
        for name in names
    ]
    return (histogram, *keys)


def _histogram(vault: Vault, question: Any) -> tuple[dict[str, np.ndarray], float]:
    """Noisy counts by column and bin, and their noise."""
    modeled = vault.encoder.modeled  # type: ignore[attr-defined]
    sizes = [code.size for code in modeled.layout.codes]
    starts = np.cumsum([0, *sizes[:-1]]).astype(np.int32)

    def features(row: Any) -> Any:
        import jax.numpy as jnp

        return jnp.asarray(starts) + row.codes, jnp.ones(len(sizes), jnp.int32)

    sums = vault.sum(question, features)
    counts = np.split(sums.values[0], starts[1:])
    return dict(zip(modeled.names, counts, strict=True)), float(sums.noise[0])


def _range(
    name: str, said: Mapping[str, Any], counts: np.ndarray, threshold: float, nullable: bool
) -> Column:
    occupied = np.flatnonzero(counts > threshold)
    if not len(occupied):
        warnings.warn(
            f"No range of '{name}' stood out from the noise: its bounds are a guess. Correct them "
            "if they are public, or draft with a larger epsilon.",
            stacklevel=4,
        )
        occupied = np.array([int(np.argmax(counts))])
    low, high = Binned(kind=said["type"]).bounds(int(occupied[0]), int(occupied[-1]))
    if said["type"] == "datetime":
        return Datetime(low=low, high=high, step=said.get("step", "1d"), nullable=nullable)
    if said["type"] == "time":
        return _clock(low, high, said.get("step", "1min"), nullable)
    if said["type"] == "integer":
        low, high = settled(low, high, whole=True)
        return Integer(low=int(low), high=int(high), nullable=nullable)
    low, high = settled(low, high, whole=False)
    decimals = said.get("decimals")
    if decimals is not None:
        digits = math.ceil(math.log10(max(-low, high, 1.0)))
        decimals = min(int(decimals), DIGITS - digits)
        unit = 10**decimals
        low, high = math.floor(low * unit) / unit, math.ceil(high * unit) / unit
    return Real(low=low, high=high, decimals=decimals, nullable=nullable)


def _clock(low: str, high: str, step: str, nullable: bool) -> Time:
    """Times of day up to the last step within the bounds; all of the day if there is only one."""
    found = Time(low=low, high=high, step=step, nullable=nullable)
    if found.ticks < 1:
        return Time(step=step, nullable=nullable)
    last = int(found.moments(np.array(found.ticks)))
    return dataclasses.replace(found, high=clock_text(last))


def _values(name: str, keys: tuple[str, ...], nullable: bool) -> Column | None:
    values = [key for key in keys if key.strip()]
    if values:
        # Whatever too few rows hold is gathered, not published.
        return Categorical(values=values, other=True, nullable=nullable)
    warnings.warn(
        f"No value of '{name}' is held by enough rows to be published at this epsilon; the column "
        "is left out. List its public values yourself if there are such.",
        stacklevel=4,
    )
    return None
