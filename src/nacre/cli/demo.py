"""`nacre demo`: the whole road on bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from nacre.cli.console import out, progress, stop
from nacre.cli.options import Quiet


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder to leave the results in.")
    ] = Path(),
    images: Annotated[
        bool, typer.Option("--images", help="Handwritten digits instead of a table.")
    ] = False,
    epsilon: Annotated[
        float | None, typer.Option(help="The privacy parameter ε; 1, or 5 for images.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Decides public randomness only.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files of the same names in the folder.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Make private synthetic data from the Adult table or from digits, and a report on it."""
    if not output.is_dir():
        stop(f"There is no folder {output}. Make it first.")
    from nacre import demo as table_demo
    from nacre import image_demo

    chosen: Any = image_demo if images else table_demo
    there = [str(output / name) for name in chosen.FILES if (output / name).exists()]
    if there and not force:
        stop(
            f"The demo would replace {', '.join(there)}. Choose another folder with --output, or "
            "use --force."
        )
    # With --quiet the files are the only result.
    console = Console(quiet=True) if quiet else out()
    chosen.run(
        output,
        epsilon=chosen.EPSILON if epsilon is None else epsilon,
        seed=seed,
        console=console,
        bars=lambda: progress(quiet=quiet),
    )
