"""`nacre ledger`: open a budget, or show what is spent and left."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli.console import out, print_json, stop, tell
from nacre.cli.options import AdjacencyName, Adjacent, Json

if TYPE_CHECKING:
    from nacre.ledger import Balance, Entry

COMPOSITION = "add: any fit, ε and δ add up. gaussian: only all-Gaussian fits, more of them fit."


def ledger(
    address: Annotated[str, typer.Argument(metavar="LEDGER", help="A file, or a database URL.")],
    dataset: Annotated[str | None, typer.Option(help="The data set's name.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Open a budget with this ε.")] = None,
    delta: Annotated[float | None, typer.Option(help="Open a budget with this δ.")] = None,
    adjacency: Adjacent = AdjacencyName.ADD_REMOVE,
    composition: Annotated[str, typer.Option(help=COMPOSITION)] = "add",
    as_json: Json = False,
) -> None:
    """Open a budget (--dataset NAME --epsilon E --delta D), or show what is spent and left."""
    from nacre.ledger import Ledger

    book = Ledger(address)
    if epsilon is not None or delta is not None:
        if dataset is None or epsilon is None or delta is None:
            stop("To open a budget give all three: --dataset NAME --epsilon 3 --delta 1e-6.")
        book.open(
            dataset,
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency.value,
            composition=composition,
        )
    names = [dataset] if dataset is not None else book.datasets()
    if not names:
        stop(
            f"There is no budget in {address}. Open one: "
            f"nacre ledger {address} --dataset NAME --epsilon 3 --delta 1e-6"
        )
    found = [(book.balance(name), book.history(name)) for name in names]
    if as_json:
        print_json(
            [
                {**dataclasses.asdict(balance), "history": [dataclasses.asdict(e) for e in history]}
                for balance, history in found
            ]
        )
        return
    for balance, history in found:
        _print(balance, history)


def _print(balance: Balance, history: list[Entry]) -> None:
    from rich.table import Table
    from rich.text import Text

    from nacre.ledger.units import MARK

    console = out()
    console.print(
        Text.assemble(
            (balance.dataset, "bold"),
            f"  {balance.adjacency}, composition {balance.composition}\n",
            f"  budget  ε = {balance.epsilon:g}, δ = {balance.delta:g}\n",
            f"  spent   ε = {balance.spent_epsilon:.6g}, δ = {balance.spent_delta:.6g}\n",
            (f"  left    ε = {balance.left_epsilon:.6g}, δ = {balance.left_delta:.6g}", "green"),
        )
    )
    if not history:
        tell("  nothing spent yet")
        return
    table = Table(box=None, padding=(0, 2))
    for heading in ("entry", "reserved (UTC)", "method", "ε", "δ", "status", "releases"):
        table.add_column(heading)
    for entry in history:
        note = entry.note.partition(MARK)[0]
        table.add_row(
            str(entry.id),
            entry.reserved_at[:19].replace("T", " "),
            Text(f"{entry.method}, {note}" if note else entry.method),
            f"{entry.epsilon:.6g}",
            f"{entry.delta:.3g}",
            entry.status,
            str(len(entry.releases)),
        )
    console.print(table)
