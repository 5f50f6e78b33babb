"""`nacre publish`: a report on a model that everybody may see."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from nacre.cli.console import FAILURE, free, page, progress, say, stop, tell, writable
from nacre.cli.options import BadRows, Dataset, Json, LedgerAddress, Misfits, Quiet
from nacre.cli.paid import save_paid
from nacre.cli.show import ModelFile
from nacre.partial import whole_or_none

INSTEAD = (
    "An evaluation compares with private rows, so it can never be public. A public report is made "
    "from the model instead: nacre publish MODEL -o public.html. With --data, --epsilon and "
    "--delta it also buys scores of the private rows."
)


def _instead(wanted: bool) -> None:
    if wanted:
        stop(INSTEAD)


Public = Annotated[
    bool,
    typer.Option("--public", callback=_instead, is_eager=True, help="See `nacre publish`."),
]


def publish(
    model: ModelFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")] = Path(
        "public.html"
    ),
    synthetic: Annotated[
        Path | None,
        typer.Option(help="The synthetic data to publish, drawn from MODEL before."),
    ] = None,
    rows: Annotated[
        int, typer.Option("--rows", "-n", min=1, help="Without --synthetic: how many rows to draw.")
    ] = 50_000,
    seed: Annotated[int, typer.Option(help="Of that draw: the same page again.")] = 0,
    data: Annotated[
        Path | None, typer.Option(help="The private table, to buy scores of it.")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="The ε that these scores cost.")] = None,
    delta: Annotated[float | None, typer.Option(help="Their δ.")] = None,
    scores: Annotated[
        str | None, typer.Option(help="What to buy: columns, prediction, or both with a comma.")
    ] = None,
    ledger: LedgerAddress = None,
    dataset: Dataset = None,
    bad_rows: Misfits = BadRows.CHECK,
    registry: Annotated[
        Path | None,
        typer.Option(help="Also write an entry for OpenDP's registry of deployments (YAML)."),
    ] = None,
    checklist: Annotated[
        Path | None,
        typer.Option(help="Also write a checklist by NIST SP 800-226 (Markdown)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output files.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a report on MODEL that is safe to publish; without --data no private row is read."""
    read = (model, synthetic, data, None if ledger is None else Path(ledger))
    page(output, *read, force=force)
    beside_it = _texts(registry, checklist, output, *read, force=force)
    for path in (synthetic, data):
        if path is not None and not path.exists():
            stop(f"There is no file or folder {path}.")
    import nacre

    with progress(quiet=quiet) as report:
        report("drawing", None)
        found = nacre.publish(
            nacre.load(model),
            synthetic,
            rows=rows,
            seed=seed,
            data=data,
            epsilon=epsilon,
            delta=delta,
            scores=None if scores is None else [name.strip() for name in scores.split(",")],
            ledger=ledger,
            dataset=dataset,
            bad_rows=bad_rows.value,
            on_progress=report,
        )
        report("drawing figures", None)
        problem = _page(found, output, paid=epsilon is not None)
    if problem is not None:
        stop(problem, FAILURE)
    for path, kind in beside_it.items():
        with whole_or_none(path) as partial:
            getattr(found, f"to_{kind}")(partial)
    if as_json:
        typer.echo(found.to_json())
        return
    if not quiet:
        tell(found.summary())
    say(f"Page: {output} (safe to publish)", quiet=quiet, style="green")
    for path, kind in beside_it.items():
        say(f"{kind.capitalize()}: {path}; fill in what only you know.", quiet=quiet)


def _page(found: Any, output: Path, *, paid: bool) -> str | None:
    """Write the page; elsewhere if need be, where it cost budget, and then what to do."""

    def save(path: Path) -> None:
        with whole_or_none(path) as partial:
            found.to_html(partial)

    if paid:
        return save_paid(save, output, "page")
    save(output)
    return None


def _texts(
    registry: Path | None, checklist: Path | None, *others: Path | None, force: bool
) -> dict[Path, str]:
    """Where to write what, found out before anything is spent."""
    wanted: dict[Path, str] = {}
    for path, kind, ends in (
        (registry, "registry", (".yaml", ".yml")),
        (checklist, "checklist", (".md", ".txt")),
    ):
        if path is None:
            continue
        writable(path, *others, *wanted)
        # So that a table that is given by mistake is not written over.
        if path.suffix.lower() not in ends:
            stop(f"--{kind} {path}: give a name that ends in {ends[0]}.")
        wanted[free(path, force=force)] = kind
    return wanted
