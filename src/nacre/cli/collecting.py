"""`nacre site collect` and `serve`: for whoever adds up what sites have sent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from nacre.cli.console import progress, say, stop, tell
from nacre.cli.options import Quiet

Here = Annotated[Path, typer.Argument(metavar="BOARD", help="The folder of messages.")]


def collect(
    board: Here,
    close: Annotated[
        bool, typer.Option("--close", help="Go on without sites whose vectors are missing.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Add up what sites have sent to BOARD; only the noisy total can be seen."""
    from nacre.sites.masked.board import Folder
    from nacre.sites.masked.collect import collect as add_up

    with progress(quiet=quiet) as report:
        report("adding up", None)
        found = add_up(Folder(board), close=close)
    _told(found, quiet=quiet)


def serve(
    board: Here,
    certificate: Annotated[Path, typer.Option(help="A TLS certificate, PEM.")],
    key: Annotated[Path, typer.Option(help="Its key.")],
    host: Annotated[str, typer.Option(help="The address to bind to.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to bind to.")] = 8766,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds for which a round waits for missing sites.")
    ] = 86_400,
    quiet: Quiet = False,
) -> None:
    """Show BOARD to sites over https, and collect; trusted with no sum."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError:
        stop("The server needs more packages: pip install 'nacre-dp[web]'.", 1)
    from nacre.sites.masked.board import Folder
    from nacre.sites.masked.server import serve as run

    say(f"Serving {board} at https://{host}:{port}. Stop with Ctrl-C.", quiet=quiet)
    run(
        Folder(board),
        host=host,
        port=port,
        certificate=certificate,
        key=key,
        patience=patience,
        on_progress=lambda found: _told(found, quiet=quiet),
    )


def _told(found: Any, *, quiet: bool) -> None:
    """Where a session stands, in words."""
    for name in found.wrote:
        tell(f"Wrote {name}")
    for problem in found.refused:
        say(problem, style="red")
    if not found.stage:
        say("All rounds are answered: nacre train makes the model.", quiet=quiet)
        return
    where = f" of round {found.round}" if found.round else ""
    say(f"Waiting for '{found.stage}'{where}: {', '.join(found.waiting)}", quiet=quiet)
