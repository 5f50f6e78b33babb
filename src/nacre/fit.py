"""fit(): the whole road on one screen: check, open the vault, learn, wrap the model."""

from __future__ import annotations

import dataclasses
import secrets
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from nacre.methods import Method, choose
from nacre.model import Model
from nacre.schema import Schema, SchemaError
from nacre.vault.accountant import Release
from nacre.vault.bound import Adjacency
from nacre.vault.ledger import Ledger
from nacre.vault.planning import check_budget
from nacre.vault.source import Source, open_source
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
        seed: decides public randomness only (frequencies, initial weights), never noise.
        on_progress: called with a stage's name and the part done (None if unknown).

    Guarantee: the model's `guarantee`, for one row, from the releases that it lists.
    """
    if not isinstance(schema, Schema):
        schema = Schema.read(schema)
    if label is not KEEP:
        schema = schema.with_label(label)
    schema.require_usable()
    check_budget(epsilon, delta)
    adjacency = Adjacency(adjacency)
    if bad_rows not in ("check", "zero"):
        raise ValueError(f"bad_rows must be 'check' or 'zero', got '{bad_rows}'.")
    if rows is not None and rows < 1:
        raise ValueError(f"rows must be a positive number, got {rows}.")
    chosen, _ = choose(method, schema, epsilon)
    # Refuses a schema or settings that the method cannot serve, before a row is read.
    questions = chosen.questions(schema, adjacency)
    source = open_source(data, schema)
    if bad_rows == "check":
        held = _check(source, schema)
        _warn_about_delta(delta, rows or held)
    elif rows is not None:
        _warn_about_delta(delta, rows)
    charger = _Charger.open(ledger, dataset, chosen.title, adjacency)
    vault = Vault(
        source,
        schema,
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        rows=rows,
        charge=charger,
        on_progress=on_progress,
    )
    if charger is not None:
        # A private draft's releases are charged again: nothing tells that this ledger has them.
        charger.cost, charger.delta = epsilon, delta
        charger.mu = None if schema.releases else vault.mu
        charger.releases = len(questions)
    generator = chosen.learn(vault, key=_key(seed))
    if charger is not None:
        charger.finish()
    return Model(
        schema=schema,
        generator=generator,
        guarantee=vault.guarantee(),
        method=chosen.title,
        settings=dataclasses.asdict(chosen),  # type: ignore[call-overload]
        kind=source.kind,
        types=_types(source, schema, bad_rows),
        ledger=None if charger is None else {"dataset": dataset, "entry": charger.entry},
    )


def _check(source: Source, schema: Schema) -> int:
    """The holder's own check, before anything is spent; returns the number of rows."""
    found = schema.check(source.batches())
    if not found.ok:
        raise SchemaError(
            f"{source.name} does not fit the schema; nothing was spent.\n{found.describe()}\n"
            "Correct the schema or the table, or pass bad_rows='zero' (--bad-rows zero) to let "
            "such rows count as nothing."
        )
    if found.rows < 2:
        raise ValueError(
            f"{source.name} has {found.rows or 'no'} row{'s' if found.rows == 0 else ''}; a "
            "private model of so few would be pure noise. Nothing was spent."
        )
    return found.rows


def _types(source: Source, schema: Schema, bad_rows: str) -> pa.Schema | None:
    """The column types of sampled tables: as declared, and by the schema where rows decided them.

    The check makes sure that no gap turned the type of a column that may have none.
    """
    if source.types is None:
        return None
    canonical = schema.decode(schema.layout.encoded()).schema
    fields = []
    for field in source.types:
        column = schema.columns[field.name]
        checked = bad_rows == "check" and not column.nullable and not pa.types.is_string(field.type)
        declared = field.name not in source.loose or checked
        fields.append(field if declared else canonical.field(field.name))
    return pa.schema(fields)


def _warn_about_delta(delta: float, rows: int) -> None:
    if delta >= 1 / rows:
        warnings.warn(
            f"delta={delta:g} is not below 1/{rows}: such a guarantee permits publishing a whole "
            f"row. Choose delta well below {1 / rows:.1g}, for example {0.1 / rows:.0e}.",
            stacklevel=3,
        )


def _key(seed: int | None) -> Any:
    import jax

    return jax.random.key(secrets.randbits(32) if seed is None else seed)


@dataclasses.dataclass
class _Charger:
    """Reserves the whole cost of the fit at its first release, in one transaction."""

    ledger: Ledger
    dataset: str
    method: str
    adjacency: Adjacency
    cost: float = 0.0
    delta: float = 0.0
    mu: float | None = None
    releases: int = 1
    entry: int | None = None

    @staticmethod
    def open(
        ledger: Ledger | str | Path | None, dataset: str | None, method: str, adjacency: Adjacency
    ) -> _Charger | None:
        if ledger is None:
            if dataset is not None:
                raise ValueError("`dataset` names a budget in a ledger: give `ledger` too.")
            return None
        if dataset is None:
            raise ValueError("A ledger keeps budgets by data set: give its name as `dataset`.")
        if not isinstance(ledger, Ledger):
            ledger = Ledger(ledger)
        ledger.balance(dataset)  # unknown names are refused before any work is done
        return _Charger(ledger, dataset, method, adjacency)

    def __call__(self, release: Release, /) -> None:
        if self.entry is None:
            if release.mechanism != "gaussian":
                self.mu = None
            self.entry = self.ledger.reserve(
                self.dataset,
                epsilon=self.cost,
                delta=self.delta,
                mu=self.mu,
                releases=self.releases,
                adjacency=self.adjacency,
                method=self.method,
            )
        elif self.mu is not None and release.mechanism != "gaussian":
            raise ValueError(
                f"'{release.name}' is not a Gaussian sum, as the fit had announced to the ledger."
            )
        self.ledger.record(self.entry, release.to_dict())

    def finish(self) -> None:
        if self.entry is not None:
            self.ledger.finish(self.entry)
