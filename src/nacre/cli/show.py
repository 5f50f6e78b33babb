"""`nacre show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli.console import FAILURE, out, print_json, stop, tell
from nacre.cli.options import Json, ModelFile

if TYPE_CHECKING:
    from nacre.model import Model


def show(
    model: ModelFile,
    verify: Annotated[
        bool, typer.Option("--verify", help="Recompute ε from the releases that are listed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a model's certificate: what is guaranteed, and what it rests on."""
    import nacre

    loaded = nacre.load(model)
    found: dict[str, Any] | None = None
    if verify:
        found = _verify(loaded)
    if as_json:
        print_json(loaded.certificate() | ({} if found is None else {"verification": found}))
    else:
        from nacre.cli.certificate import render

        out().print(render(loaded))
        if found is not None and found["verified"]:
            tell(
                f"Verified: the releases listed cost ε = {found['epsilon']:.6g} at "
                f"δ = {loaded.guarantee.delta:g}, no more than is claimed.",
                style="green",
            )
    if found is not None and not found["verified"]:
        stop(found["problem"], FAILURE)


def _verify(model: Model) -> dict[str, Any]:
    try:
        model.guarantee.verify()
    except ValueError as error:
        return {"verified": False, "epsilon": model.guarantee.recompute(), "problem": str(error)}
    return {"verified": True, "epsilon": model.guarantee.recompute()}
