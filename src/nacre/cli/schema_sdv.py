"""`nacre schema import` and `export`: SDV's metadata in and out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.console import free, say, stop
from nacre.cli.options import Force, Quiet
from nacre.partial import whole_or_none

Sdv = Annotated[bool, typer.Option("--sdv", help="SDV's metadata (the only form so far).")]


def import_(
    metadata: Annotated[Path, typer.Argument(help="SDV's metadata, a JSON file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The schema's YAML file.")],
    sdv: Sdv = False,
    table: Annotated[str | None, typer.Option(help="Which one, if there are several.")] = None,
    rows: Annotated[
        int | None,
        typer.Option("--rows", min=1, help="Rows of a person that count: sequence key as unit."),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Make a schema of metadata of another tool; it has to be reviewed before a fit takes it."""
    _only_sdv(sdv)
    free(output, metadata, force=force)
    from nacre.schema.sdv import from_sdv

    try:
        said = json.loads(metadata.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stop(f"{metadata} cannot be read as JSON.")
    found = from_sdv(said, table=table, rows=rows)
    with whole_or_none(output) as partial:
        partial.write_text(found.schema.to_yaml(), encoding="utf-8")
    say(f"Schema of {len(found.schema.names)} columns: {output}", quiet=quiet)
    for name, reason in found.left_out.items():
        say(f"  left out '{name}': {reason}", quiet=quiet, style="yellow")
    say(
        "SDV reads ranges and values from the rows. Check that each is public, then set "
        "`reviewed: true`; a fit refuses the schema until then.",
        quiet=quiet,
        style="yellow",
    )


def export(
    schema: Annotated[Path, typer.Argument(help="The schema's YAML file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The JSON file.")],
    sdv: Sdv = False,
    table: Annotated[str, typer.Option(help="What the table is called there.")] = "table",
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write SCHEMA as the metadata of another tool, for its metrics and synthesizers."""
    _only_sdv(sdv)
    free(output, schema, force=force)
    from nacre.schema import Schema
    from nacre.schema.sdv import to_sdv, unsaid

    said = Schema.read(schema)
    text = json.dumps(to_sdv(said, table=table), indent=1, ensure_ascii=False)
    with whole_or_none(output) as partial:
        partial.write_text(text, encoding="utf-8")
    say(f"Metadata: {output}", quiet=quiet)
    if left_out := unsaid(said):
        say(f"  left out: {'; '.join(left_out)}.", quiet=quiet, style="yellow")


def _only_sdv(sdv: bool) -> None:
    if not sdv:
        stop("Which form? SDV's metadata: --sdv.")
