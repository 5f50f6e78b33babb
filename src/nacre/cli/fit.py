"""`nacre fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.console import print_json, progress, say, say_if_weak, stop, writable
from nacre.cli.options import (
    AdjacencyName,
    Adjacent,
    BadRows,
    Dataset,
    Delta,
    Epsilon,
    Json,
    Label,
    LedgerAddress,
    MethodName,
    NoLabel,
    Quiet,
    Rows,
    SchemaFile,
    Seed,
    Settings,
    Table,
    read_method,
    read_schema,
)


def fit(
    table: Table,
    schema: SchemaFile,
    epsilon: Epsilon,
    delta: Delta,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model.")],
    method: MethodName = "auto",
    settings: Settings = None,
    label: Label = None,
    no_label: NoLabel = False,
    adjacency: Adjacent = AdjacencyName.ADD_REMOVE,
    rows: Rows = None,
    ledger: LedgerAddress = None,
    dataset: Dataset = None,
    bad_rows: Annotated[
        BadRows,
        typer.Option(help="check: stop if a row does not fit. zero: such rows count as nothing."),
    ] = BadRows.CHECK,
    seed: Seed = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output file.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make an (ε, δ)-differentially private model of TABLE."""
    writable(output, table, schema, None if ledger is None else Path(ledger))
    if output.exists() and not force:
        stop(f"{output} is there already, and a model has cost budget. Add --force to replace it.")
    import nacre

    facts = read_schema(schema, label, no_label=no_label)
    say_if_weak(epsilon, quiet=quiet)
    with progress(quiet=quiet) as report:
        report("reading rows", None)
        model = nacre.fit(
            table,
            facts,
            method=read_method(method, settings),
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency.value,
            rows=rows,
            ledger=ledger,
            dataset=dataset,
            bad_rows=bad_rows.value,
            seed=seed,
            on_progress=report,
        )
    model.save(output)
    if as_json:
        print_json({"model": str(output), **model.certificate()})
        return
    say(f"{model.method} model of {table.name}: {output}", quiet=quiet)
    say(str(model.guarantee), quiet=quiet, style="green")
    say(f"Next: nacre sample {output} -n 1000 -o synthetic.csv", quiet=quiet)
