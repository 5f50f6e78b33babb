"""`nacre schema`: draft one, buy facts for it, and see which rows do not fit one."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import schema_buy, schema_draft, schema_sdv
from nacre.cli.console import (
    BAD_INPUT,
    print_json,
    progress,
    say,
    tell,
)
from nacre.cli.help import Command, Group
from nacre.cli.options import (
    Engine,
    Json,
    Quiet,
)

if TYPE_CHECKING:
    from nacre.rows.unit import Roster
    from nacre.schema import ImageSchema, Schema

app = typer.Typer(
    cls=Group, help="What is public about a table or images: draft it, check data against it."
)
app.command("draft", cls=Command)(schema_draft.draft)
app.command("buy", cls=Command)(schema_buy.buy)
app.command("import", cls=Command)(schema_sdv.import_)
app.command("export", cls=Command)(schema_sdv.export)


@app.command("check", cls=Command)
def check(
    schema: Annotated[Path, typer.Argument(help="The schema's YAML file.")],
    table: Annotated[
        Path | None,
        typer.Argument(help="Data to compare with it; the schema alone if not given."),
    ] = None,
    engine: Engine = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Count the rows of TABLE that do not fit SCHEMA, by column: the holder's view, not private.

    Exits with 2 if any row does not fit.
    """
    from nacre.engines import on_engine
    from nacre.rows import TableEncoder, open_source
    from nacre.schema import ImageSchema, read_any

    facts = read_any(schema)
    if isinstance(facts, ImageSchema):
        _check_images(schema, facts, table, as_json=as_json, quiet=quiet)
        return
    if table is None:
        text = f"{schema} is a valid schema of {len(facts.names)} columns."
        print_json({"ok": True, "columns": len(facts.names)}) if as_json else say(text, quiet=quiet)
        return
    with progress(quiet=quiet or as_json) as report, on_engine(table, engine) as where:
        report(f"checking {table.name}", None)
        found = open_source(where, facts).check(facts)
        roster = None
        if facts.unit is not None and engine is None:
            roster = TableEncoder.of(facts).roster(table)
        changed = {} if roster is None else _changed(facts, table, roster)
    if as_json:
        persons = {} if roster is None else {"persons": roster.count, "beyond": roster.beyond}
        constant = {"changed": changed} if changed else {}
        print_json({"ok": found.ok, **dataclasses.asdict(found), **persons, **constant})
    elif not quiet:
        tell(found.describe(), style=None if found.ok else "yellow")
        if roster is not None and facts.unit is not None:
            tell(roster.describe(facts.unit))
        if any(changed.values()):
            said = [f"  '{name}': {many:,}" for name, many in changed.items() if many]
            tell(
                "Persons within which a `constant` column changes (used all the same; within no "
                "sampled person it will):\n" + "\n".join(said),
                style="yellow",
            )
    if not found.ok:
        raise typer.Exit(BAD_INPUT)


def _changed(schema: Schema, table: Path, roster: Roster) -> dict[str, int]:
    """Within how many persons each column changes that is said to be constant."""
    from nacre.rows import TableEncoder
    from nacre.rows.within import changes

    constant = () if schema.unit is None else schema.unit.constant
    columns = {name: schema.columns[name] for name in constant}
    batches = TableEncoder.of(schema).open(table).batches()
    return changes(columns, batches, roster.persons) if columns else {}


def _check_images(
    path: Path, schema: ImageSchema, images: Path | None, *, as_json: bool, quiet: bool
) -> None:
    from nacre.rows import ImageEncoder

    if images is None:
        classes = len(schema.classes or ())
        size = " x ".join(map(str, schema.shape))
        text = f"{path} is a valid schema of images, {size}, of {classes or 'no'} classes."
        print_json({"ok": True, "classes": classes}) if as_json else say(text, quiet=quiet)
        return
    encoder = ImageEncoder(schema)
    with progress(quiet=quiet or as_json) as report:
        report(f"checking {images.name}", None)
        found = encoder.count(encoder.open(images))
    if as_json:
        print_json({"ok": found.ok, **found._asdict()})
    elif not quiet:
        tell(found.describe(schema), style=None if found.ok else "yellow")
    if not found.ok:
        raise typer.Exit(BAD_INPUT)
