"""`nacre sample`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli.console import free, pairs, progress, say, stop
from nacre.cli.options import Force, ModelFile, Quiet

if TYPE_CHECKING:
    from nacre.model import Model
    from nacre.rejection import Rejection
    from nacre.rows import ImageEncoder

MOSTLY = 0.9  # of the candidate rows are kept; below that it is told


def sample(
    model: ModelFile,
    n: Annotated[int, typer.Option("-n", "--rows", min=0, help="How many rows to draw.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="A .csv, .csv.gz or .parquet file; of images an .npz or .parquet file, a folder "
            "for PNG files, or a sheet.png.",
        ),
    ],
    seed: Annotated[int | None, typer.Option(help="Draw the same rows again.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Only such rows: a value, a,b for several, low..high, or missing; label=3 for "
            "images.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="How many processes draw; the rows are the same."),
    ] = None,
    safe_csv: Annotated[
        bool,
        typer.Option("--safe-csv", help="Put ' before texts that a spreadsheet could run."),
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Draw synthetic rows from MODEL; as often as you like, at no further privacy cost."""
    import nacre
    from nacre.rows import ImageEncoder

    loaded = nacre.load(model)
    _refuse_signs(where or [], getattr(loaded.encoder, "schema", None))
    given = pairs(where or [], "--where")
    if isinstance(loaded.encoder, ImageEncoder):
        from nacre.cli.pictures import check_output

        check_output(output, model, force=force)
        what, drawn = "images", _write_images(loaded, output, n, seed, given, quiet=quiet)
    else:
        from nacre.schema.constraints.given import read_given

        _check_table(output, model, force=force)
        asked = read_given(given, loaded.schema.columns)
        with progress(quiet=quiet) as report:
            what, drawn = (
                "rows",
                loaded.write(
                    output,
                    n,
                    seed=seed,
                    where=asked,
                    workers=workers,
                    safe_csv=safe_csv,
                    on_progress=report,
                ),
            )
    say(f"{n:,} synthetic {what}: {output}", quiet=quiet)
    if n and (drawn.rate < MOSTLY or drawn.moved):
        say(drawn.describe(), quiet=quiet)


def _refuse_signs(where: list[str], schema: Any) -> None:
    """Say how a range is written where somebody compares."""
    for text in where:
        found = re.match(r"\s*([^=<>!]+?)\s*([<>]=?|!=)\s*(.*)", text)
        name = text.partition("=")[0].strip()  # which may hold such a sign itself
        if found is None or name in getattr(schema, "columns", {}):
            continue
        column, sign, value = found.groups()
        if sign == "!=":
            stop(f"--where {text}: list the values that are wanted, as in {column}=a,b.")
        ends = (f"{value}..", f"..{value}")
        stop(
            f"--where {text}: write a range as {column}=low..high, both ends included, one of "
            f"which may be left out: {column}={ends['<' in sign]}"
        )


def _write_images(
    model: Model, output: Path, n: int, seed: int | None, given: dict[str, str], *, quiet: bool
) -> Rejection:
    """Draw images batch by batch, as a file or a folder takes them."""
    from nacre.cli.pictures import open_writer

    encoder: ImageEncoder = model.encoder  # type: ignore[assignment]
    asked = _classes(given, encoder)
    with progress(quiet=quiet) as report, open_writer(output, encoder.schema, n) as writer:
        drawing = model.drawing(n, seed=seed, where=asked)
        for batch in drawing:
            writer.write(batch)
            report("drawing images", writer.rows / n)
        if not writer.rows:
            writer.write(model.sample_arrow(0))
        return drawing.rejection


def _check_table(output: Path, model: Path, *, force: bool) -> None:
    from nacre.writer import check_name

    check_name(free(output, model, force=force))


def _classes(given: dict[str, str], encoder: ImageEncoder) -> dict[str, list[str]]:
    """One class or several with commas, unless a class itself is written so."""
    known = encoder.schema.classes or ()
    return {name: [text] if text in known else text.split(",") for name, text in given.items()}
