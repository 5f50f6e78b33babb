"""`nacre sketch`, `merge`, `release` and `train`: for sites that cannot pool their rows."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.console import FAILURE, free, progress, say, stop, style_of
from nacre.cli.options import (
    AdjacencyName,
    Adjacent,
    BadRows,
    Dataset,
    Delta,
    Engine,
    Epsilon,
    Force,
    Label,
    LedgerAddress,
    MethodName,
    Misfits,
    NoLabel,
    Quiet,
    Rows,
    SchemaFile,
    Settings,
    SitesSeed,
    Table,
    read_method,
    read_schema,
)
from nacre.cli.paid import save_paid

LOUD = (
    "NOT PRIVATE: {path} holds exact sums of the rows, without noise. Whoever may not see the rows "
    "may not see it; it can be read by you alone (mode 600). Delete it after the release."
)
Given = Annotated[
    Path | None,
    typer.Option(
        "--answers", "-a", help="What the rounds before have released; none in the first."
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="The file to write.")]


def sketch(
    table: Table,
    schema: SchemaFile,
    output: Output,
    answers: Given = None,
    method: MethodName = "auto",
    settings: Settings = None,
    label: Label = None,
    no_label: NoLabel = False,
    adjacency: Adjacent = AdjacencyName.ADD_REMOVE,
    rows: Rows = None,
    seed: SitesSeed = 0,
    bad_rows: Misfits = BadRows.CHECK,
    engine: Engine = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Add up what a method asks next over one site's TABLE; without noise, so it stays inside."""
    free(output, table, schema, answers, force=force)
    from nacre import sites

    facts = read_schema(schema, label, no_label=no_label)
    with progress(quiet=quiet) as report:
        report("reading rows", None)
        found = sites.sketch(
            table,
            facts,  # type: ignore[arg-type]
            method=read_method(method, settings, facts),
            adjacency=adjacency.value,
            rows=rows,
            seed=seed,
            answers=None if answers is None else sites.Answers.read(answers),
            bad_rows=bad_rows.value,
            engine=engine,
            on_progress=report,
        )
    found.save(output)
    say(f"Round {found.answers + 1}, '{found.question}': {output}", quiet=quiet)
    say(LOUD.format(path=output), style="red")


def merge(
    sketches: Annotated[list[Path], typer.Argument(metavar="SKETCH...", help="One of each site.")],
    output: Output,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Add up the SKETCHes of several sites; still without noise."""
    free(output, *sketches, force=force)
    if len({os.path.realpath(path) for path in sketches}) != len(sketches):
        stop("A sketch is given twice: its rows would count twice. Give each site's once.")
    from nacre import sites

    found = sites.merge([sites.Sketch.read(path) for path in sketches])
    found.save(output)
    say(f"{found.sites} sites, round {found.answers + 1}: {output}", quiet=quiet)
    say(LOUD.format(path=output), style="red")


def release(
    merged: Annotated[Path, typer.Argument(metavar="SKETCH", help="What `nacre merge` wrote.")],
    output: Output,
    epsilon: Epsilon = None,
    delta: Delta = None,
    answers: Given = None,
    ledger: LedgerAddress = None,
    dataset: Dataset = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Add noise to the merged SKETCH, write the answer, and delete the sketch: it is used up."""
    free(output, merged, answers, force=force)
    from nacre import sites

    before = None if answers is None else sites.Answers.read(answers)
    with progress(quiet=quiet) as report:
        found = sites.release(
            sites.Sketch.read(merged),
            epsilon=epsilon,
            delta=delta,
            answers=before,
            ledger=ledger,
            dataset=dataset,
            on_progress=report,
        )
    problem = save_paid(partial(found.save, replace=force), output, "answer")
    merged.unlink()
    if problem is not None:
        stop(problem, FAILURE)
    asked = len(found.plan.asked)
    say(f"{len(found.given)} of {asked} answers, with noise, for anybody: {output}", quiet=quiet)
    following = (
        f"Next: nacre train {output} -o model.nacre"
        if len(found.given) == asked
        else f"Next, at each site: nacre sketch TABLE --schema ... --answers {output} -o ..."
    )
    say(following, quiet=quiet)


def train(
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="Of all rounds.")],
    output: Output,
    ledger: LedgerAddress = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Make the model from the ANSWERS of all rounds; no row is needed."""
    free(output, answers, force=force)
    from nacre import sites

    with progress(quiet=quiet) as report:
        model = sites.train(sites.Answers.read(answers), ledger=ledger, on_progress=report)
    model.save(output, replace=force)
    say(f"{model.method} model: {output}", quiet=quiet)
    say(str(model.guarantee), quiet=quiet, style=style_of(model.guarantee))
