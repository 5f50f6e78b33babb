"""`nacre sign`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.console import say, stop, tell
from nacre.cli.options import Quiet


def sign(
    model: Annotated[
        Path | None, typer.Argument(help="A model that `nacre fit` saved; signed in place.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="The signer's secret key; keep it from others.")
    ] = None,
    new_key: Annotated[
        Path | None,
        typer.Option("--new-key", help="Make a secret key here, and its public key beside it."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Sign MODEL, so that others can tell that its certificate is yours."""
    from nacre import signature

    if new_key is not None:
        public = signature.new_key(new_key)
        say(f"Secret key: {new_key} (keep it). Public key, for others: {public}.", quiet=quiet)
        key = key or new_key
    if model is None:
        if new_key is None:
            stop("Name a model to sign, and --key; or make a key with --new-key.")
        return
    if key is None:
        stop("Give the secret key with --key; `nacre sign --new-key holder.key` makes one.")
    found = signature.sign(model, key)
    tell(f"Signed {model} with the key {found.fingerprint}.")
