"""`nacre tables`: the tables that a model was made from, with intervals, as files or in print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.console import say, stop
from nacre.cli.options import Json, ModelFile, Quiet
from nacre.partial import whole_or_none


def tables(
    model: ModelFile,
    question: Annotated[
        str | None, typer.Argument(help="Columns, as 'income by sex'; without: a list of all.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A folder for all of them, one CSV file each."),
    ] = None,
    level: Annotated[
        float, typer.Option(help="How probably an interval holds the true count.")
    ] = 0.95,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print or write the noisy counts that MODEL was made from; no private row is read."""
    if output is not None and (question or output.is_file()):
        stop("Give a question, or a folder to write all tables to: not both, and not a file.")
    import nacre

    found = nacre.load(model)
    if question is not None:
        answer = found.answer(question, level=level)
        typer.echo(json.dumps(answer.to_arrow().to_pydict()) if as_json else str(answer))
        return
    every = found.tables(level=level)
    if not every:
        stop("The model keeps no counts: those of Mosaic, MST and AIM that have noise do.")
    listed = [{"table": one.title, "counts": one.counts.size} for one in every]
    if output is None:
        lines = [f"{each['counts']:>9,}  {each['table']}" for each in listed]
        typer.echo(json.dumps(listed) if as_json else "\n".join([f"{'counts':>9}  table", *lines]))
        return
    from nacre.writer import Writer

    output.mkdir(parents=True, exist_ok=True)
    for place, one in enumerate(every):
        name = f"{place + 1:0{len(str(len(every)))}d}-{_as_name(one.title)}.csv"
        listed[place]["file"] = name
        with whole_or_none(output / name) as partial, Writer(partial, like=output / name) as writer:
            writer.write(one.to_arrow())
    with whole_or_none(output / "tables.json") as partial:
        partial.write_text(json.dumps({"level": level, "tables": listed}, indent=1), "utf-8")
    say(f"Tables: {len(every):,} files in {output} (safe to publish)", quiet=quiet, style="green")


def _as_name(title: str) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^\w.-]+", "-", title, flags=re.ASCII)[:60].strip("-.") or "table"
