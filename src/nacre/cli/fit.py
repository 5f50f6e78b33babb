"""`nacre fit`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli.console import (
    FAILURE,
    model_file,
    print_json,
    progress,
    say,
    say_if_weak,
    stop,
    style_of,
)
from nacre.cli.options import (
    AdjacencyName,
    Adjacent,
    BadRows,
    Dataset,
    Delta,
    Engine,
    Epsilon,
    Force,
    Json,
    Label,
    LedgerAddress,
    MethodName,
    Misfits,
    NoLabel,
    NotPrivate,
    Quiet,
    Rows,
    SchemaFile,
    Seed,
    Settings,
    Table,
    read_budget,
    read_method,
    read_schema,
)
from nacre.cli.paid import save_paid

if TYPE_CHECKING:
    from nacre.model import Model


def fit(
    table: Table,
    schema: SchemaFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model.")],
    epsilon: Epsilon = None,
    delta: Delta = None,
    not_private: NotPrivate = False,
    method: MethodName = "auto",
    settings: Settings = None,
    label: Label = None,
    no_label: NoLabel = False,
    adjacency: Adjacent = AdjacencyName.ADD_REMOVE,
    rows: Rows = None,
    ledger: LedgerAddress = None,
    dataset: Dataset = None,
    bad_rows: Misfits = BadRows.CHECK,
    seed: Seed = None,
    engine: Engine = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make an (ε, δ)-differentially private model of TABLE."""
    privacy, delta = read_budget(epsilon, delta, not_private=not_private)
    model_file(output, table, schema, None if ledger is None else Path(ledger), force=force)
    import nacre
    from nacre.schema import ImageSchema

    facts = read_schema(schema, label, no_label=no_label)
    say_if_weak(privacy, quiet=quiet)
    with progress(quiet=quiet) as report:
        report("reading rows", None)
        model = nacre.fit(
            table,
            facts,
            method=read_method(method, settings, facts),
            epsilon=privacy,
            delta=delta,
            adjacency=adjacency.value,
            rows=rows,
            ledger=ledger,
            dataset=dataset,
            bad_rows=bad_rows.value,
            seed=seed,
            engine=engine,
            on_progress=report,
        )
    _save(model, output, force=force)
    if as_json:
        print_json({"model": str(output), **model.certificate()})
        return
    say(f"{model.method} model of {table.name}: {output}", quiet=quiet)
    claim = model.guarantee
    say(str(claim), quiet=quiet and claim.private, style=style_of(claim))
    drawn = "synthetic.npz" if isinstance(facts, ImageSchema) else "synthetic.csv"
    say(f"Next: nacre sample {output} -n 1000 -o {drawn}", quiet=quiet)


def _save(model: Model, output: Path, *, force: bool) -> None:
    """Save; a model that cost nothing is not saved elsewhere, where others could read it."""
    if not model.guarantee.private:
        model.save(output, replace=force)
    elif problem := save_paid(partial(model.save, replace=force), output, "model"):
        stop(problem, FAILURE)
