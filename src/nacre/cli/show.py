"""`nacre show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli.console import FAILURE, out, print_json, stop, tell
from nacre.cli.options import Json, ModelFile

if TYPE_CHECKING:
    from nacre.model import Model
    from nacre.signature import Signature


def show(
    model: ModelFile,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Recompute ε from the releases that are listed; check the signature."
        ),
    ] = False,
    signer: Annotated[
        Path | None,
        typer.Option(help="With --verify: the public key that must have signed the model."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a model's certificate: what is guaranteed, and what it rests on."""
    import nacre

    if signer is not None and not verify:
        stop("--signer is checked with --verify: add that.")
    found: dict[str, Any] | None = None
    if verify:
        loaded, signature = _signed(model, signer)
        found = _verify(loaded) | {"signature": signature}
    else:
        loaded = nacre.load(model)
    if as_json:
        print_json(loaded.certificate() | ({} if found is None else {"verification": found}))
    else:
        from nacre.cli.certificate import render

        out().print(render(loaded))
        if found is not None and found["costs"]:
            cost = f"the releases listed cost ε = {found['epsilon']:.6g} at "
            cost += f"δ = {loaded.guarantee.delta:g}, no more than is claimed"
            if found["verified"]:
                tell(f"Verified: {cost}.", style="green")
                tell(found["words"])
            else:
                tell(
                    f"Not confirmed: {cost}, but whether they are all that was released is not "
                    "confirmed.",
                    style="yellow",
                )
        if found is not None:
            tell(found["signature"]["words"])
    if found is not None and not found["verified"]:
        stop(found["problem"], FAILURE)
    if found is not None and found["signature"]["trusted"] is False:
        stop("The model is not signed by that key: do not believe what it says.", FAILURE)


def _signed(path: Path, signer: Path | None) -> tuple[Model, dict[str, Any]]:
    """The model and who signed it, both of the same bytes: the file is read once."""
    import warnings

    from nacre.archive import bytes_of
    from nacre.model import restored
    from nacre.signature import opened, read_public_key

    wanted = None if signer is None else read_public_key(signer)
    signature, document, arrays = opened(path, bytes_of(path))
    model, doubt = restored(path, document, arrays)
    if doubt:
        warnings.warn(f"{path}: {doubt}", stacklevel=1)
    return model, _told(signature, signer, wanted)


def _told(found: Signature | None, signer: Path | None, wanted: bytes | None) -> dict[str, Any]:
    """Who signed the file; `trusted` is None where nobody said who should have."""
    if found is None:
        words = "Unsigned: anybody may have written this file, so ask where it came from."
        return {"signed": False, "trusted": None if wanted is None else False, "words": words}
    trusted = None if wanted is None else found.key == wanted
    whose = {True: f", as in {signer}", False: f", which is not that of {signer}"}
    words = f"Signed with the key {found.fingerprint}"
    words += whose.get(trusted, ", whoever that is: give --signer with a key that you trust")  # type: ignore[arg-type]
    return {
        "signed": True,
        "trusted": trusted,
        "fingerprint": found.fingerprint,
        "words": f"{words}.",
    }


def _verify(model: Model) -> dict[str, Any]:
    """Whether the releases cost what is claimed, and are those that the settings ask for."""
    from nacre.rebuilt import NOT_COMPARED, SAME_LIST, compare

    try:
        model.guarantee.verify()
    except ValueError as error:
        return {
            "verified": False,
            "costs": False,
            "epsilon": _cost(model),
            "compared": NOT_COMPARED,
            "problem": str(error),
        }
    found = compare(model)
    verified = found.outcome == SAME_LIST
    said: dict[str, Any] = {
        "verified": verified,
        "costs": True,
        "epsilon": model.guarantee.recompute(),
        "compared": found.outcome,
        "words": str(found),
    }
    return said if verified else said | {"problem": str(found)}


def _cost(model: Model) -> float | None:
    """What the releases cost, if that can be worked out."""
    try:
        return model.guarantee.recompute()
    except (ArithmeticError, MemoryError):
        return None
