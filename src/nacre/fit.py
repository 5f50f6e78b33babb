"""fit(): the whole road on one screen: check, open the vault, learn, wrap the model."""

from __future__ import annotations

import dataclasses
import numbers
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nacre.errors import NacreError
from nacre.ledger import Ledger, charged, reserve_in
from nacre.methods import Method, Question, choose
from nacre.model import Model
from nacre.plan import as_rows, as_schema, planned_releases, warn_about_rows
from nacre.rows.differences import Differences
from nacre.rows.source import Source, open_source
from nacre.schema import Schema, SchemaError, stated_types
from nacre.vault.bound import Adjacency
from nacre.vault.planning import check_budget
from nacre.vault.vault import Vault

KEEP: Any = object()  # "as the schema says"; None means no label


def fit(
    data: Any,
    schema: Schema | str | Path,
    *,
    epsilon: float,
    delta: float,
    method: str | Method = "auto",
    label: str | None = KEEP,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    rows: int | None = None,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    bad_rows: str = "check",
    types: pa.Schema | Mapping[str, Any] | None = None,
    seed: int | None = None,
    on_progress: Callable[[str, float | None], None] | None = None,
) -> Model:
    """Make an (epsilon, delta)-differentially private model of a table.

    Args:
        data: a pandas, polars or Arrow table, or the path of a CSV or Parquet file or a folder.
        schema: what is public about the table, or the path of its YAML file.
        epsilon: the privacy parameter; no default, as a default would be believed.
        delta: far below one over the number of rows.
        method: "auto", a name, or a method with settings such as `PEARL(frequencies=2000)`.
        label: the column to be predicted, instead of the schema's; None for no label.
        adjacency: "add-remove" (the number of rows is private) or "replace-one".
        rows: a public estimate of the number of rows, if there is one.
        ledger: where the data set's budget is kept; needs `dataset`, its name there.
        dataset: the name under which the budget was opened.
        bad_rows: "check" stops before anything is spent if a row does not fit the schema (that
            message is the holder's view, outside the guarantee); "zero" skips the check, and rows
            that do not fit count as zero.
        types: the Arrow types (or names such as "int32", "category") that sampled columns shall
            have; published with the model, so say only what is public. The others get the type
            that follows from the schema; never that of the table, which its rows may have decided.
        seed: decides public randomness only (frequencies, initial weights), never noise.
        on_progress: called with a stage's name and the part done (None if unknown).

    Guarantee: the model's `guarantee`, for one row, from the releases that it lists.
    """
    schema = as_schema(schema) if label is KEEP else as_schema(schema).with_label(label)
    schema.require_usable()
    check_budget(epsilon, delta)
    adjacency, rows = Adjacency(adjacency), as_rows(rows)
    _check_choices(bad_rows, seed)
    stated = stated_types(types, schema)
    differences = Differences.of(schema)
    chosen, _ = choose(method, differences.modeled, epsilon)
    # Refuses a schema or settings that the method cannot serve, before a row is read.
    questions = chosen.questions(differences.modeled, adjacency)
    source = open_source(data, schema)
    held = _check(source, schema) if bad_rows == "check" else None
    cost: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "adjacency": adjacency}
    reservation = reserve_in(ledger, dataset, **cost, method=chosen.title, releases=len(questions))
    with charged(reservation):
        vault = Vault(
            source,
            schema,
            **cost,
            rows=rows,
            differences=differences.stated,
            charge=reservation,
            on_progress=on_progress,
        )
        if reservation is not None:
            # A draft's releases are charged again: nothing tells that this ledger has them.
            reservation.mu = None if schema.releases else vault.mu
        _warn(vault, questions, rows, held)
        generator = chosen.learn(vault, key=_key(seed))
    return Model(
        schema=schema,
        differences=differences.stated,
        generator=generator,
        guarantee=vault.guarantee(),
        method=chosen.title,
        settings=dataclasses.asdict(chosen),  # type: ignore[call-overload]
        kind=source.kind,
        types=stated,
        ledger=None if reservation is None else {"dataset": dataset, "entry": reservation.entry},
    )


def _warn(vault: Vault, questions: Sequence[Question], rows: int | None, held: int | None) -> None:
    """Warn of few rows: by the public number, else by the check's, which is for the holder only."""
    if (known := rows or held) is None:
        return
    expected = planned_releases(questions, vault.schema, vault.mu, vault.adjacency, known)
    source = "as given" if rows else "by the holder's check"
    warn_about_rows(expected, vault.delta, known, source, stacklevel=4)


def _check_choices(bad_rows: str, seed: int | None) -> None:
    if bad_rows not in ("check", "zero"):
        raise NacreError(f"bad_rows must be 'check' or 'zero', got {bad_rows!r}.")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, numbers.Integral)):
        raise NacreError(f"seed must be a whole number or None, got {seed!r}.")


def _check(source: Source, schema: Schema) -> int:
    """The holder's own check, before anything is spent; returns the number of rows."""
    found = source.check(schema)
    if not found.ok:
        raise SchemaError(
            f"{source.name} does not fit the schema; nothing was spent.\n{found.describe()}\n"
            "Correct the schema or the table; or pass bad_rows='zero' (--bad-rows zero) to go on "
            "with the table as it is."
        )
    if found.rows < 2:
        raise NacreError(
            f"{source.name} has {found.rows or 'no'} row{'s' if found.rows == 0 else ''}; a "
            "private model of so few would be pure noise. Nothing was spent."
        )
    return found.rows


def _key(seed: int | None) -> Any:
    import jax

    return jax.random.key(secrets.randbits(32) if seed is None else seed)
