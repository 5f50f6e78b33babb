"""`nacre sample`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.console import beside, pairs, progress, say, stop, writable
from nacre.cli.options import ModelFile, Quiet

MOSTLY = 0.9  # of the candidate rows are kept; below that it is told


def sample(
    model: ModelFile,
    n: Annotated[int, typer.Option("-n", "--rows", min=0, help="How many rows to draw.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A .csv, .csv.gz or .parquet file.")
    ],
    seed: Annotated[int | None, typer.Option(help="Draw the same rows again.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Only such rows: a value, a,b for several, low..high, or nothing for missing.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output file.")] = False,
    quiet: Quiet = False,
) -> None:
    """Draw synthetic rows from MODEL; as often as you like, at no further privacy cost."""
    from nacre.cli.tables import Writer, check_name

    check_name(writable(output, model))
    if output.exists() and not force:
        stop(f"{output} is there already. Choose another name, or add --force to replace it.")
    import numpy as np

    import nacre
    from nacre.schema.constraints.given import read_given

    loaded = nacre.load(model)
    conditions = read_given(pairs(where or [], "--where"), loaded.schema.columns)
    drawing = loaded.rejection(where=conditions)
    with (
        progress(quiet=quiet) as report,
        beside(output) as partial,
        Writer(partial, like=output) as writer,
    ):
        for batch in drawing.batches(n, np.random.default_rng(seed)):
            writer.write(batch)
            report("drawing rows", writer.rows / n)
        if not writer.rows:
            writer.write(loaded.sample_arrow(0))
    say(f"{n:,} synthetic rows: {output}", quiet=quiet)
    if n and drawing.rate < MOSTLY:
        say(drawing.describe(), quiet=quiet)
