"""fit(): the whole road on one screen: check, plan, open the vault, learn, wrap the model."""

from __future__ import annotations

import numbers
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nacre.engines import on_engine
from nacre.errors import NacreError
from nacre.ledger import charged, check_account, reserve_in
from nacre.methods import AbstractMethod, choose
from nacre.methods.settings import as_data
from nacre.model import Model
from nacre.plan import as_encoder, as_rows, make_plan, warn_about_links, warn_about_rows
from nacre.rows import AbstractEncoder, Stream
from nacre.schema import KEEP, ImageSchema, Schema
from nacre.vault import Adjacency, Vault

if TYPE_CHECKING:
    from nacre.ledger import Ledger


def fit(
    data: Any,
    schema: Schema | ImageSchema | AbstractEncoder | str | Path,
    *,
    epsilon: float,
    delta: float | None = None,
    method: str | AbstractMethod = "auto",
    label: str | None = KEEP,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    rows: int | None = None,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    bad_rows: str = "check",
    types: pa.Schema | Mapping[str, Any] | None = None,
    seed: int | None = None,
    engine: Any = None,
    on_progress: Callable[[str, float | None], None] | None = None,
) -> Model:
    """Make an (epsilon, delta)-differentially private model of a table or of images.

    Args:
        data: a pandas, polars or Arrow table, a Dask or Spark frame, or the path of a CSV or
            Parquet file, a folder or a pattern such as "data/*.parquet"; with a
            schema of images, an array of them with labels, or a path (`open_images`).
        schema: what is public about the table or the images, or the path of its YAML file; or an
            encoder.
        epsilon: the privacy parameter; no default, as a default would be believed. With math.inf
            no noise is added, and nothing is promised: never for data that anybody else may see.
        delta: far below one over the number of rows; left out only where epsilon is infinite.
        method: "auto", a name, or a method with settings such as `PEARL(frequencies=2000)`.
        label: the column to be predicted, instead of the schema's; None for no label.
        adjacency: "add-remove" (the number of rows is private) or "replace-one". Where the schema
            has a `unit`, neighbors differ in all rows of one person, whatever their number.
        rows: a public estimate of the number of rows, if there is one; of persons where the schema
            has a `unit`.
        ledger: where the data set's budget is kept; needs `dataset`, its name there.
        dataset: the name under which the budget was opened.
        bad_rows: "check" stops before anything is spent if a row does not fit the schema (that
            message is the holder's view, outside the guarantee); "zero" skips the check, and rows
            that do not fit count as zero.
        types: the Arrow types (or names such as "int32", "category") that sampled columns shall
            have; published with the model, so say only what is public. The others get the type
            that follows from the schema; never that of the table, which its rows may have decided.
        seed: decides public randomness only (frequencies, initial weights), never noise.
        engine: who reads the files: 'dask', 'dask://host:8786', 'spark', 'spark://host:7077', a
            Dask client or a Spark session; their workers add up, and nothing else changes
            (docs/scale.md). None for this process.
        on_progress: called with a stage's name and the part done (None if unknown).

    Guarantee:
        the model's `guarantee`, for one row (or one person, where the schema has a `unit`), from
        the releases that it lists.
    """
    encoder = as_encoder(schema, label, types)
    encoder.require_usable()
    adjacency, rows = Adjacency(adjacency), as_rows(rows)
    _check_choices(bad_rows, seed)
    chosen, reason = choose(method, encoder.kind, encoder.protect)
    cost: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "adjacency": adjacency}
    # Refuses a budget, schema or settings that the method cannot serve, before a row is read.
    plan = make_plan(chosen, reason, encoder, rows=rows, **cost)
    check_account(ledger, dataset, plan)
    if engine is not None and encoder.kind != "table":
        raise NacreError(
            "Engines read tables; images are fitted on one machine: leave `engine` out."
        )
    with on_engine(data, engine) as where:
        stream = Stream(encoder, where)
        if plan.needs_all_rows and stream.apart:
            stream.require_memory()  # which refuses, before a pass over the rows
        held = stream.check() if bad_rows == "check" else None
        if adjacency is Adjacency.REPLACE_ONE and rows is None:
            # The number of rows is public there, and with it the rate of step-wise training.
            plan = make_plan(chosen, reason, encoder, rows=stream.count(), **cost)
        if known := rows or held:
            source = "as given" if rows else "by the holder's check"
            if not warn_about_rows(plan, known, source, stacklevel=3):
                warn_about_links(chosen, encoder, plan, known, source, stacklevel=3)
        reservation = reserve_in(ledger, dataset, plan)
        with charged(reservation):
            vault = Vault(stream, plan, charge=reservation, on_progress=on_progress)
            generator = chosen.learn(vault, plan, key=_key(seed))
    return Model(
        encoder=encoder,
        generator=generator,
        guarantee=vault.guarantee(checked=bad_rows == "check", hidden=chosen.protected),
        method=chosen.title,
        settings=as_data(chosen),
        kind=stream.source.kind,
        ledger=None if reservation is None else {"dataset": dataset, "entry": reservation.entry},
        budget=plan.epsilon if plan.private else None,
        rows=plan.rows,
    )


def _check_choices(bad_rows: str, seed: int | None) -> None:
    if bad_rows not in ("check", "zero"):
        raise NacreError(f"bad_rows must be 'check' or 'zero', got {bad_rows!r}.")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, numbers.Integral)):
        raise NacreError(f"seed must be a whole number or None, got {seed!r}.")
    if seed is not None and not -(2**63) <= seed < 2**63:
        raise NacreError(f"seed must fit into 64 bits, got {seed}.")


def _key(seed: int | None) -> Any:
    import jax

    return jax.random.key(secrets.randbits(32) if seed is None else seed)
