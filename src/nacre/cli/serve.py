"""`nacre serve`: the whole road in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.console import say, stop


def serve(
    root: Annotated[
        Path, typer.Option(help="The folder whose tables may be opened; nothing else is read.")
    ] = Path(),
    state: Annotated[
        Path | None, typer.Option(help="Where projects are kept; ~/.local/share/nacre.")
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(help="The ledger's file, or a database URL; ledger.db beside the projects."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to bind to.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to bind to.")] = 8765,
    users: Annotated[
        Path | None, typer.Option(help="A file of people who may log in, with hashed passwords.")
    ] = None,
    add_user: Annotated[
        str | None, typer.Option(metavar="NAME", help="Add a person to --users, and end.")
    ] = None,
    certificate: Annotated[Path | None, typer.Option(help="A TLS certificate, PEM.")] = None,
    key: Annotated[Path | None, typer.Option(help="Its key.")] = None,
    proxy: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The https address of the proxy that people come by."),
    ] = None,
    upload_limit: Annotated[int, typer.Option(min=1, help="The most MB of an upload.")] = 2048,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Open a page that goes the whole road: file, schema, plan, fit, reports, ledger."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError:
        stop("The page needs more packages: pip install 'nacre-dp[web]'.", 1)
    from nacre.app.server import default_state
    from nacre.app.server import serve as run
    from nacre.app.settings import Settings, new_token, origins_of
    from nacre.app.users import Users

    if add_user is not None:
        _add(users, add_user)
        return
    if (certificate is None) != (key is None):
        stop("TLS needs both --certificate and --key.")
    origins = origins_of(
        host,
        port,
        users=users is not None,
        certificate=certificate is not None,
        proxy=proxy,
    )
    place = (default_state() if state is None else state).absolute()
    settings = Settings(
        root=root,
        state=place,
        ledger=str(place / "ledger.db") if ledger is None else ledger,
        origins=origins,
        token=None if users is not None else new_token(),
        users=None if users is None else Users(users),
        upload=upload_limit << 20,
    )
    say(f"Open {settings.opening}", style="bold green")
    say(f"Tables from {root.resolve()}; projects in {place}. Stop with Ctrl-C.")
    run(
        settings,
        host=host,
        port=port,
        certificate=certificate,
        key=key,
        browser=browser and users is None,
    )


def _add(users: Path | None, name: str) -> None:
    """Ask for a password, twice, and write its hash."""
    from nacre.app.users import add_user

    if users is None:
        stop("Say into which file: nacre serve --users FILE --add-user NAME.")
    password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    add_user(users, name, password)
    say(f"{name} may log in: {users}")
