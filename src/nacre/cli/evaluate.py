"""`nacre evaluate`: how good is a synthetic table, for the data holder's eyes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.console import page, progress, say, stop, tell
from nacre.cli.options import (
    Dataset,
    Force,
    Json,
    Label,
    LedgerAddress,
    Quiet,
    SchemaFile,
    read_schema,
)
from nacre.cli.publish import Public
from nacre.partial import whole_or_none

SAID = "Where to write the report: report.html; with --json, none."
Report = Annotated[Path | None, typer.Option("--output", "-o", help=SAID)]


def evaluate(
    real: Annotated[Path, typer.Argument(help="The private table or images.")],
    synthetic: Annotated[list[Path], typer.Argument(help="One or more synthetic ones.")],
    schema: SchemaFile,
    label: Label = None,
    test: Annotated[
        Path | None,
        typer.Option(help="Real rows that the model has not seen, to score on: mnist.npz#test."),
    ] = None,
    output: Report = None,
    metrics: Annotated[str, typer.Option(help="quick, all, or names with commas.")] = "quick",
    model: Annotated[
        Path | None, typer.Option(help="The model it was drawn from, to show its guarantee.")
    ] = None,
    shadow: Annotated[
        int,
        typer.Option(min=0, help="With --model: rows to attack by shadow models; slow."),
    ] = 0,
    ledger: LedgerAddress = None,
    dataset: Dataset = None,
    public: Public = False,
    seed: Annotated[int, typer.Option(help="Of everything that is sampled.")] = 0,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare SYNTHETIC with REAL and write a report; confidential, as it is not private."""
    if output is None and not as_json:
        output = Path("report.html")
    if output is not None:
        page(output, real, schema, test, model, *synthetic, force=force)
    import nacre
    from nacre.rows.image_source import split_part
    from nacre.schema import KEEP

    facts = read_schema(schema)
    for path in (real, *synthetic, *([test] if test is not None else [])):
        if not split_part(path)[0].exists():
            stop(f"There is no file or folder {path}.")
    names = [path.name.partition(".")[0] for path in synthetic]
    if len(set(names)) < len(names):
        names = [str(path) for path in synthetic]
    if model is not None and len(synthetic) > 1:
        stop("--model says where one synthetic set comes from; with several, leave it out.")
    with progress(quiet=quiet) as report:
        found = nacre.evaluate(
            str(real),
            {name: str(path) for name, path in zip(names, synthetic, strict=True)},
            facts,
            test=None if test is None else str(test),
            label=KEEP if label is None else label,
            metrics=metrics if metrics in ("quick", "all") else metrics.split(","),
            guarantee=model,
            ledger=ledger,
            dataset=dataset,
            shadow=shadow,
            seed=seed,
            on_progress=report,
        )
    if output is not None:
        with whole_or_none(output) as partial:
            found.to_html(partial)
    if as_json:
        typer.echo(found.to_json())
        return
    if not quiet:
        tell(found.summary())
    say(f"Report: {output} (confidential to the data holder)", quiet=quiet, style="yellow")
