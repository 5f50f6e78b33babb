"""`nacre demo`: the whole road on bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from nacre.cli.console import out, progress, stop
from nacre.cli.options import Quiet


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder to leave the results in.")
    ] = Path(),
    epsilon: Annotated[float, typer.Option(help="The privacy parameter ε.")] = 1.0,
    seed: Annotated[int | None, typer.Option(help="Decides public randomness only.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files of the same names in the folder.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Make private synthetic data from the bundled Adult table, and a report on it."""
    if not output.is_dir():
        stop(f"There is no folder {output}. Make it first.")
    from nacre.demo import FILES, run

    there = [str(output / name) for name in FILES if (output / name).exists()]
    if there and not force:
        stop(
            f"The demo would replace {', '.join(there)}. Choose another folder with --output, or "
            "use --force."
        )
    # With --quiet the files are the only result.
    console = Console(quiet=True) if quiet else out()
    run(
        output,
        epsilon=epsilon,
        seed=seed,
        console=console,
        bars=lambda: progress(quiet=quiet),
    )
