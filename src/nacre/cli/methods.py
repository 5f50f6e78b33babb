"""`nacre methods`: what there is to choose from, and what each setting means."""

from __future__ import annotations

import dataclasses
from textwrap import wrap
from typing import Any

from nacre.cli.console import out, print_json
from nacre.cli.options import Json


def methods(as_json: Json = False) -> None:
    """List the methods, their papers and settings."""
    from nacre.methods import METHODS, find

    found = [_describe(name, find(name)) for name in METHODS]
    if as_json:
        print_json(found)
        return
    for method in found:
        _print(method)


def _describe(name: str, kind: type[Any]) -> dict[str, Any]:
    from nacre.methods import meanings

    defaults = kind()
    return {
        "name": name,
        "title": kind.title,
        "summary": kind.summary,
        "paper": kind.paper,
        "settings": {f.name: getattr(defaults, f.name) for f in dataclasses.fields(defaults)},
        "meanings": meanings(kind),
    }


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
