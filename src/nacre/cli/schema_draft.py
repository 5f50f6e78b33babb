"""`nacre schema draft`: a first schema, from the rows or bought with noise."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from nacre.cli.console import FAILURE, NO_LABEL, Report, progress, say, stop, writable
from nacre.cli.options import (
    AdjacencyName,
    Adjacent,
    Dataset,
    Engine,
    LedgerAddress,
    Quiet,
    Table,
)
from nacre.cli.paid import save_paid
from nacre.partial import whole_or_none

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
Drafted: TypeAlias = tuple[str, str]  # the schema's YAML, and what to say of it


class Rare(enum.StrEnum):
    """What to do with values that few rows hold."""

    KEEP = "keep"
    OTHER = "other"


Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Where to write it; stdout if not given.")
]
Predicted = Annotated[str | None, typer.Option("--label", help="The column to be predicted.")]
Drop = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.")]
WhoseUnit = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN:ROWS",
        help="Whose privacy it is: the column that tells persons apart, and how many rows of a "
        "person count at most, as in patient:5, or patient:auto.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(help="A column that is no identifier, though it looks like one; repeatable."),
]
RareValues = Annotated[
    Rare, typer.Option(help="Values that fewer than 10 rows hold: list them, or gather them.")
]
MostValues = Annotated[
    int | None,
    typer.Option(
        min=1, help="List at most so many values of a text; a tenth of the rows, 100 to 1,000."
    ),
]
EveryRule = Annotated[
    bool,
    typer.Option("--every-rule", help="Offer all constraints that the rows keep, not only a few."),
]
DraftEpsilon = Annotated[float | None, typer.Option(help="Draft privately, with this ε.")]
DraftDelta = Annotated[float | None, typer.Option(help="The δ of a private draft.")]
Types = Annotated[
    Path | None,
    typer.Option(help="Private draft: YAML of column types, `name: type`; CSV needs it."),
]
Overwrite = Annotated[bool, typer.Option("--force", help="Overwrite an existing schema.")]


def draft(
    table: Table,
    output: Output = None,
    label: Predicted = None,
    drop: Drop = None,
    unit: WhoseUnit = None,
    keep: Keep = None,
    rare: RareValues = Rare.KEEP,
    most_values: MostValues = None,
    every_rule: EveryRule = False,
    epsilon: DraftEpsilon = None,
    delta: DraftDelta = None,
    types: Types = None,
    adjacency: Adjacent = AdjacencyName.ADD_REMOVE,
    ledger: LedgerAddress = None,
    dataset: Dataset = None,
    engine: Engine = None,
    force: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a first schema for TABLE: from its rows (not private), or with --epsilon privately."""
    from nacre.rows.image_source import is_images

    require_free(output, table, types, ledger, force=force)
    of_rows = {"--most-values": most_values, "--keep": keep, "--every-rule": every_rule or None}
    of_rows["--rare"] = rare is Rare.OTHER or None
    private = {"--types": types, "--ledger": ledger, "--dataset": dataset}
    _refuse_other(epsilon, delta, of_rows, private, engine)
    images, whose = is_images(table), _unit(unit)
    asked: dict[str, Any] = {"label": label, "drop": drop or (), "unit": whose}
    if images:
        _refuse_for_images(epsilon, drop or keep, most_values, unit or every_rule)
    with progress(quiet=quiet) as report:
        if images:
            text, remark = _of_images(table, label, report)
        elif epsilon is None:
            asked |= {"keep": keep or (), "most_values": most_values, "rare": rare.value}
            asked["every_rule"] = every_rule
            text, remark = _of_rows(table, asked, report)
        else:
            asked |= {"epsilon": epsilon, "delta": delta, "adjacency": adjacency.value}
            asked |= {"ledger": ledger, "dataset": dataset, "engine": engine}
            text, remark = _private(table, asked, types, report)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_schema(text, output, paid=epsilon is not None)
        say(f"Schema of {table.name}: {output}", quiet=quiet)
    say(remark, quiet=quiet, style="yellow")
    if label is None and not images:
        say(f"{NO_LABEL} Draft with --label COLUMN, or write `label:`.", quiet=quiet)


def _of_images(table: Path, label: str | None, report: Report) -> Drafted:
    from nacre.rows.image_draft import draft_images

    report(f"reading {table.name}", None)
    return draft_images(table, label=label).to_yaml(), REVIEW_IMAGES


def _of_rows(table: Path, asked: dict[str, Any], report: Report) -> Drafted:
    from nacre.draft import draft as draft_rows

    report(f"reading {table.name}", None)
    found = draft_rows(table, **asked)
    return found.to_yaml(), f"{found.describe()}\n{REVIEW}"


def _private(table: Path, asked: dict[str, Any], types: Path | None, report: Report) -> Drafted:
    from nacre.draft import private_draft, read_types
    from nacre.schema.draft.hints import name_hints

    known = None if types is None else read_types(types)
    schema = private_draft(table, types=known, on_progress=report, **asked)
    return schema.to_yaml() + name_hints(schema), PRIVATE


def require_free(
    output: Path | None, table: Path, also: Path | None, ledger: str | None, *, force: bool
) -> None:
    """A draft that was edited is not written over by mistake."""
    if output is None:
        return
    writable(output, table, also, None if ledger is None else Path(ledger))
    if output.exists() and not force:
        stop(f"{output} exists, and may have been edited. Choose another name, or use --force.")


def _refuse_other(
    epsilon: float | None,
    delta: float | None,
    of_rows: dict[str, Any],
    private: dict[str, Any],
    engine: str | None,
) -> None:
    """Options of the one kind of draft where the other is asked for."""
    if (epsilon is None) != (delta is None):
        stop("A private draft needs both --epsilon and --delta; a draft from the rows neither.")
    if epsilon is not None and any(of_rows.values()):
        stop(
            "--most-values, --keep, --rare and --every-rule belong to a draft from the rows; a "
            "private one lists frequent values and gathers the others."
        )
    if epsilon is None and any(each is not None for each in private.values()):
        stop(
            "--types, --ledger and --dataset belong to a private draft: give --epsilon and --delta."
        )
    if epsilon is None and engine is not None:
        stop(
            "A draft from the rows looks at them on one machine; on an engine there is the private "
            "one: give --epsilon and --delta, or leave out --engine and draft from some files."
        )


def write_schema(text: str, output: Path, *, paid: bool) -> None:
    """Write a schema; elsewhere if need be, where it cost budget."""

    def save(path: Path) -> None:
        with whole_or_none(path) as partial:
            partial.write_text(text, encoding="utf-8")

    if not paid:
        save(output)
    elif problem := save_paid(save, output, "schema"):
        stop(problem, FAILURE)


def _refuse_for_images(
    epsilon: float | None, drop: list[str] | None, most_values: int | None, other: str | bool | None
) -> None:
    """What a draft of images cannot do."""
    if epsilon is not None:
        stop(
            "There is no private draft of images: their size and classes are few enough to write "
            "down. Draft without --epsilon and review it, or write the schema by hand."
        )
    if drop or most_values is not None or other:
        stop(
            "--drop, --keep, --every-rule, --unit and --most-values are for the columns of a "
            "table; these are images."
        )


def _unit(said: str | None) -> dict[str, str | int] | None:
    """A unit's plain form from COLUMN:ROWS."""
    if said is None:
        return None
    column, _, rows = said.rpartition(":")
    if not column or not (rows.isdecimal() or rows == "auto"):
        stop(f"--unit must be COLUMN:ROWS, such as patient:5 or patient:auto, got {said!r}.")
    return {"column": column, "rows": rows if rows == "auto" else int(rows)}
