"""The command line and the Python that do what was done on the page."""

from __future__ import annotations

import ast
import shlex
from typing import Any

from nacre.app.planning import Choices
from nacre.registry import METHODS

DEFAULTS = Choices()


def command(task: dict[str, Any], choices: Choices) -> str:
    """`nacre fit` with the same inputs; the schema is the one that can be downloaded."""
    given = [
        f"nacre fit {shlex.quote(task['table'])} --schema schema.yaml -o model.nacre",
        f"--epsilon {choices.epsilon:g} --delta {choices.delta:g}",
        f"--ledger {shlex.quote(task['ledger'])} --dataset {shlex.quote(choices.dataset)}",
    ]
    if choices.method != DEFAULTS.method:
        given.append(f"--method {shlex.quote(choices.method)}")
    given += [f"--set {shlex.quote(text)}" for text in choices.settings]
    for name in ("adjacency", "rows", "seed", "bad_rows"):
        value = getattr(choices, name)
        if value != getattr(DEFAULTS, name):
            given.append(f"--{name.replace('_', '-')} {shlex.quote(str(value))}")
    sample = "nacre sample model.nacre -n 10000 -o synthetic.csv"
    return " \\\n    ".join(given) + "\n" + sample


def python(task: dict[str, Any], choices: Choices) -> str:
    """`nacre.fit` with the same inputs."""
    given = {
        "epsilon": choices.epsilon,
        "delta": choices.delta,
        "ledger": task["ledger"],
        "dataset": choices.dataset,
    }
    for name in ("adjacency", "rows", "seed", "bad_rows"):
        if getattr(choices, name) != getattr(DEFAULTS, name):
            given[name] = getattr(choices, name)
    method = _method(choices)
    lines = [f"    {name}={value!r}," for name, value in given.items()]
    if method:
        lines.insert(0, f"    method={method},")
    return "\n".join(
        [
            "import nacre",
            "",
            "model = nacre.fit(",
            f"    {task['table']!r},",
            '    "schema.yaml",',
            *lines,
            ")",
            "print(model.guarantee)",
            "synthetic = model.sample(10_000)",
        ]
    )


def _method(choices: Choices) -> str:
    """The method as Python has it; nothing if it was chosen automatically."""
    if choices.method == DEFAULTS.method and not choices.settings:
        return ""
    if not choices.settings:
        return repr(choices.method)
    said = (text.split("=", 1) for text in choices.settings)
    settings = ", ".join(f"{setting.strip()}={_literal(value.strip())}" for setting, value in said)
    name = METHODS[choices.method].partition(":")[2] if choices.method in METHODS else "Mosaic"
    return f"nacre.{name}({settings})"


def _literal(text: str) -> str:
    """A setting's value as Python writes it.

    Examples:
        >>> _literal("20"), _literal("auto"), _literal("false")
        ('20', "'auto'", 'False')
    """
    if text.lower() in ("true", "false", "none"):
        return text.capitalize()
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return repr(text)
    return text
