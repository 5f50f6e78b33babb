"""`nacre schema`: draft one, and see which rows do not fit one."""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import schema_sdv
from nacre.cli.console import (
    BAD_INPUT,
    FAILURE,
    print_json,
    progress,
    say,
    stop,
    tell,
    writable,
)
from nacre.cli.help import Command, Group
from nacre.cli.options import (
    AdjacencyName,
    Adjacent,
    Dataset,
    Engine,
    Json,
    LedgerAddress,
    Quiet,
    Table,
)
from nacre.cli.paid import save_paid
from nacre.partial import whole_or_none

if TYPE_CHECKING:
    from nacre.rows.unit import Roster
    from nacre.schema import ImageSchema, Schema

app = typer.Typer(
    cls=Group, help="What is public about a table or images: draft it, check data against it."
)
app.command("import", cls=Command)(schema_sdv.import_)
app.command("export", cls=Command)(schema_sdv.export)

REVIEW = (
    "These bounds and values were read from the rows: the draft is not private. Check that each is "
    "public, replace what only the table could tell (and delete the comment on it), then set "
    "`reviewed: true`; `nacre fit` refuses it until then."
)
REVIEW_IMAGES = (
    "Size, colors and classes were read from the images: the draft is not private. Check that each "
    "is public and that no class is missing, then set `reviewed: true`; `nacre fit` refuses it "
    "until then."
)
PRIVATE = (
    "Drafted privately; what it released is recorded in the schema and will be counted by "
    "`nacre fit`. Rare values and extremes were not seen, so fit with --bad-rows zero."
)


class Rare(enum.StrEnum):
    """What to do with values that few rows hold."""

    KEEP = "keep"
    OTHER = "other"


@app.command("draft", cls=Command)
def draft(
    table: Table,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write it; stdout if not given.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="The column to be predicted.")] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="A column to leave out; may be repeated.")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN:ROWS",
            help="Whose privacy it is: the column that tells persons apart, and how many rows of a "
            "person count at most, as in patient:5, or patient:auto.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="A column that is no identifier, though it looks like one; repeatable."),
    ] = None,
    rare: Annotated[
        Rare, typer.Option(help="Values that fewer than 10 rows hold: list them, or gather them.")
    ] = Rare.KEEP,
    most_values: Annotated[
        int | None,
        typer.Option(
            min=1, help="List at most so many values of a text; a tenth of the rows, 100 to 1,000."
        ),
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="Draft privately, with this ε.")] = None,
    delta: Annotated[float | None, typer.Option(help="The δ of a private draft.")] = None,
    types: Annotated[
        Path | None,
        typer.Option(help="Private draft: YAML of column types, `name: type`; CSV needs it."),
    ] = None,
    adjacency: Adjacent = AdjacencyName.ADD_REMOVE,
    ledger: LedgerAddress = None,
    dataset: Dataset = None,
    engine: Engine = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing schema.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a first schema for TABLE: from its rows (not private), or with --epsilon privately."""
    if output is not None:
        writable(output, table, types, None if ledger is None else Path(ledger))
        if output.exists() and not force:
            stop(f"{output} exists, and may have been edited. Choose another name, or use --force.")
    if (epsilon is None) != (delta is None):
        stop("A private draft needs both --epsilon and --delta; a draft from the rows neither.")
    if epsilon is not None and (most_values is not None or keep or rare is Rare.OTHER):
        stop(
            "--most-values, --keep and --rare belong to a draft from the rows; a private one lists "
            "frequent values and gathers the others."
        )
    if epsilon is None and (types is not None or ledger is not None or dataset is not None):
        stop(
            "--types, --ledger and --dataset belong to a private draft: give --epsilon and --delta."
        )
    if epsilon is None and engine is not None:
        stop(
            "A draft from the rows looks at them on one machine; on an engine there is the private "
            "one: give --epsilon and --delta, or leave out --engine and draft from some files."
        )
    from nacre.rows.image_source import is_images

    images, whose = is_images(table), _unit(unit)
    if images:
        _refuse_for_images(epsilon, drop or keep, most_values, unit)
    with progress(quiet=quiet) as report:
        if images:
            from nacre.rows.image_draft import draft_images

            report(f"reading {table.name}", None)
            text, remark = draft_images(table, label=label).to_yaml(), REVIEW_IMAGES
        elif epsilon is None or delta is None:
            from nacre.draft import draft as draft_rows

            report(f"reading {table.name}", None)
            found = draft_rows(
                table,
                label=label,
                drop=drop or (),
                keep=keep or (),
                most_values=most_values,
                unit=whose,
                rare=rare.value,
            )
            text, remark = found.to_yaml(), f"{found.describe()}\n{REVIEW}"
        else:
            from nacre.draft import private_draft, read_types
            from nacre.schema.draft.hints import name_hints

            schema = private_draft(
                table,
                epsilon=epsilon,
                delta=delta,
                types=None if types is None else read_types(types),
                label=label,
                drop=drop or (),
                unit=whose,
                adjacency=adjacency.value,
                ledger=ledger,
                dataset=dataset,
                engine=engine,
                on_progress=report,
            )
            text, remark = schema.to_yaml() + name_hints(schema), PRIVATE
    if output is None:
        typer.echo(text, nl=False)
    else:
        _write(text, output, paid=epsilon is not None)
        say(f"Schema of {table.name}: {output}", quiet=quiet)
    say(remark, quiet=quiet, style="yellow")


def _write(text: str, output: Path, *, paid: bool) -> None:
    """Write a draft; elsewhere if need be, where it cost budget."""

    def save(path: Path) -> None:
        with whole_or_none(path) as partial:
            partial.write_text(text, encoding="utf-8")

    if not paid:
        save(output)
    elif problem := save_paid(save, output, "draft"):
        stop(problem, FAILURE)


def _refuse_for_images(
    epsilon: float | None, drop: list[str] | None, most_values: int | None, unit: str | None
) -> None:
    """What a draft of images cannot do."""
    if epsilon is not None:
        stop(
            "There is no private draft of images: their size and classes are few enough to write "
            "down. Draft without --epsilon and review it, or write the schema by hand."
        )
    if drop or most_values is not None or unit is not None:
        stop(
            "--drop, --keep, --unit and --most-values are for the columns of a table; these are "
            "images."
        )


def _unit(said: str | None) -> dict[str, str | int] | None:
    """A unit's plain form from COLUMN:ROWS."""
    if said is None:
        return None
    column, _, rows = said.rpartition(":")
    if not column or not (rows.isdecimal() or rows == "auto"):
        stop(f"--unit must be COLUMN:ROWS, such as patient:5 or patient:auto, got {said!r}.")
    return {"column": column, "rows": rows if rows == "auto" else int(rows)}


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
