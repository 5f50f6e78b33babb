"""`nacre plan`."""

from __future__ import annotations

from nacre.cli.console import NO_LABEL, print_json, say, say_if_weak, tell
from nacre.cli.options import (
    AdjacencyName,
    Adjacent,
    Delta,
    Epsilon,
    Json,
    Label,
    MethodName,
    NoLabel,
    NotPrivate,
    Rows,
    SchemaFile,
    Settings,
    read_budget,
    read_method,
    read_schema,
)

UNREVIEWED = (
    "`nacre fit` will refuse this schema: it was read from the data, and nobody has reviewed it. "
    "Check that each bound and value is public, then set `reviewed: true`."
)


def plan(
    schema: SchemaFile,
    epsilon: Epsilon = None,
    delta: Delta = None,
    not_private: NotPrivate = False,
    method: MethodName = "auto",
    settings: Settings = None,
    label: Label = None,
    no_label: NoLabel = False,
    adjacency: Adjacent = AdjacencyName.ADD_REMOVE,
    rows: Rows = None,
    as_json: Json = False,
) -> None:
    """Show what a fit would release and how noisy it would be; no row is read, nothing spent."""
    privacy, delta = read_budget(epsilon, delta, not_private=not_private)
    import nacre

    facts = read_schema(schema, label, no_label=no_label)
    planned = nacre.plan(
        facts,
        method=read_method(method, settings, facts),
        epsilon=privacy,
        delta=delta,
        adjacency=adjacency.value,
        rows=rows,
    )
    say_if_weak(privacy)
    if as_json:
        print_json(planned.to_dict())
    else:
        tell(str(planned))
    if facts.unreviewed:
        say(UNREVIEWED, style="yellow")
    if facts.label is None and not no_label:
        say(f"{NO_LABEL} Give --label COLUMN, or write `label:` into the schema.")
