"""`nacre schema buy`: look-up tables of facts, bought with noise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.console import progress, say, stop
from nacre.cli.options import (
    AdjacencyName,
    Adjacent,
    Dataset,
    Delta,
    Engine,
    Epsilon,
    LedgerAddress,
    Quiet,
    Table,
)
from nacre.cli.schema_draft import Output, Overwrite, require_free, write_schema

BOUGHT = (
    "What the tables cost is recorded in the schema (`releases`) and will be counted by "
    "`nacre fit`. Correct entries that you know to be wrong: what is public costs nothing."
)


def buy(
    schema: Annotated[Path, typer.Argument(help="The schema's YAML file.")],
    table: Table,
    fact: Annotated[
        list[str] | None,
        typer.Option(
            help="A fact whose table is to be found, `group determined by code`; may be repeated."
        ),
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    output: Output = None,
    adjacency: Adjacent = AdjacencyName.ADD_REMOVE,
    ledger: LedgerAddress = None,
    dataset: Dataset = None,
    engine: Engine = None,
    force: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write SCHEMA with look-up tables from noisy counts of TABLE: which group each code has."""
    require_free(output, table, schema, ledger, force=force)
    if not fact:
        stop('Say which tables to buy, such as --fact "group determined by code".')
    if epsilon is None or delta is None:
        stop("Give --epsilon and --delta of the tables, such as --epsilon 0.05 --delta 1e-7.")
    from nacre.draft import buy_lookups

    with progress(quiet=quiet) as report:
        found = buy_lookups(
            table,
            schema,
            fact,
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency.value,
            ledger=ledger,
            dataset=dataset,
            engine=engine,
            on_progress=report,
        )
    if output is None:
        typer.echo(found.to_yaml(), nl=False)
    else:
        write_schema(found.to_yaml(), output, paid=True)
        say(f"Schema with {len(fact)} bought table{'s' * (len(fact) > 1)}: {output}", quiet=quiet)
    say(BOUGHT, quiet=quiet, style="yellow")
