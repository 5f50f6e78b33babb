"""The command line: each command parses, calls the library and prints; the library does the work.

Nothing heavy is imported here, so that --help is instant.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from nacre.cli import (
    audit,
    demo,
    evaluate,
    fit,
    ledger,
    methods,
    plan,
    publish,
    sample,
    schema,
    serve,
    show,
    sign,
    site,
    sites,
    tables,
)
from nacre.cli.console import INTERRUPTED, for_people
from nacre.cli.help import Command, Group


class _Commands(Group):
    """Runs every command so that errors are for people."""

    def invoke(self, ctx: Any) -> Any:
        """See `click.Group`."""
        with for_people():
            return super().invoke(ctx)


app = typer.Typer(
    name="nacre",
    cls=_Commands,
    help="Differentially private synthetic data with a guarantee that can be checked.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        import nacre

        typer.echo(f"nacre {nacre.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


app.command("demo", cls=Command)(demo.demo)
app.add_typer(schema.app, name="schema")
app.command("plan", cls=Command)(plan.plan)
app.command("fit", cls=Command)(fit.fit)
app.command("sample", cls=Command)(sample.sample)
app.command("evaluate", cls=Command)(evaluate.evaluate)
app.command("publish", cls=Command)(publish.publish)
app.command("serve", cls=Command)(serve.serve)
app.command("tables", cls=Command)(tables.tables)
app.command("ledger", cls=Command)(ledger.ledger)
app.command("show", cls=Command)(show.show)
app.command("sign", cls=Command)(sign.sign)
app.command("methods", cls=Command)(methods.methods)
app.command("sketch", cls=Command)(sites.sketch)
app.command("merge", cls=Command)(sites.merge)
app.command("release", cls=Command)(sites.release)
app.command("train", cls=Command)(sites.train)
app.add_typer(site.app, name="site")
app.command("audit", cls=Command)(audit.audit)


def main() -> None:
    """The entry point of the command `nacre`."""
    # Threads do not pay for products of small matrices (`nacre.nets.threads`); to be said before
    # NumPy is there.
    if not {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"} & set(os.environ):
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
    try:
        app()
    except SystemExit as stopped:
        if stopped.code == INTERRUPTED:
            # JAX may still be computing, and taking it down while it does can crash.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        raise
