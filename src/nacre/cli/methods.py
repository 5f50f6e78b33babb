"""`nacre methods`: what there is to choose from, and what each setting means."""

from __future__ import annotations

import dataclasses
from textwrap import wrap
from typing import Annotated, Any

import typer

from nacre.cli.console import out, print_json
from nacre.cli.options import Json


def methods(
    name: Annotated[
        str | None, typer.Argument(help="one of them, to see what its settings mean")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the methods: paper, kinds of data, proof, cost, when to use it; or one's settings."""
    from nacre.methods import METHODS, find

    found = [_describe(each, find(each)) for each in ([name] if name else METHODS)]
    if as_json:
        print_json(found)
    elif name:
        _print(found[0])
    else:
        _table(found)


def _describe(name: str, kind: type[Any]) -> dict[str, Any]:
    from nacre.methods import meanings

    defaults = kind()
    return {
        "name": name,
        "title": kind.title,
        "summary": kind.summary,
        "paper": kind.paper,
        "data": sorted(kind.data),
        "private": kind.private,
        "proof": kind.proof,
        "cost": kind.cost,
        "when": kind.when,
        "settings": {f.name: getattr(defaults, f.name) for f in dataclasses.fields(defaults)},
        "meanings": meanings(kind),
    }


def _table(found: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 1, 0), header_style="bold")
    for head in ("method", "paper", "data", "proved by", "cost", "when to use it"):
        table.add_column(head, overflow="fold")
    for method in found:
        facts = [", ".join(method["data"]), method["proof"], method["cost"], method["when"]]
        label = "" if method["private"] else " [red](not private)[/]"
        table.add_row(f"[bold cyan]{method['name']}[/]{label}", method["paper"], *facts)
    console = out()
    with console.capture() as captured:
        console.print(table)
    lines = captured.get().splitlines()
    if not console.is_terminal:  # a file needs no blanks up to the margin
        lines = [line.rstrip() for line in lines]
    console.file.write("\n".join(lines) + "\n")
    console.print("nacre methods NAME tells what a method does and what its settings mean.")


def _print(method: dict[str, Any]) -> None:
    from rich.text import Text

    console = out()
    console.print(
        Text.assemble((method["title"], "bold"), "  ", (f"--method {method['name']}", "bold cyan"))
    )
    console.print(f"  {method['summary']}", markup=False)
    console.print(f"  {method['paper']}", style="dim", markup=False)
    given = {name: f"--set {name}={value}" for name, value in method["settings"].items()}
    indent = max(map(len, given.values())) + 6
    for name, text in given.items():
        # Wrapped here, as a table would pad every line to the right with blanks.
        lines = wrap(method["meanings"].get(name, ""), max(console.width - indent, 24)) or [""]
        console.print(
            Text.assemble(
                "    ", (text.ljust(indent - 4), "cyan"), f"\n{' ' * indent}".join(lines)
            ),
            soft_wrap=True,
        )
    console.print()
