"""A model's certificate as a terminal shows it."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from nacre.cli.console import printable, style_of

if TYPE_CHECKING:
    from nacre.model import Model
    from nacre.schema import Schema, Unit


def render(model: Model) -> Group:
    """The certificate: guarantee, releases, what it was made from and with."""
    guarantee = model.guarantee
    style = style_of(guarantee)
    claim = Text(printable(str(guarantee)), style=f"bold {style}")
    for assumption in guarantee.assumptions:
        claim.append(f"\n{printable(assumption)}", style="default")
    facts = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in _facts(model).items():
        facts.add_row(Text(name, style="bold"), Text(printable(value)))
    title = Text(printable(f"{model.method}: guarantee"))
    return Group(
        Panel(claim, title=title, title_align="left", border_style=style),
        _releases(model),
        facts,
    )


def _releases(model: Model) -> Table:
    table = Table(title="What was released", title_justify="left", title_style="bold")
    table.add_column("release")
    table.add_column("numbers", justify="right")
    table.add_column("noise: σ ÷ sensitivity", justify="right")
    table.add_column("theorem")
    alike = itertools.groupby(
        model.guarantee.releases, key=lambda release: dataclasses.replace(release, name="")
    )
    for _, group in alike:
        release, *others = group
        if not release.private:
            noise = "none"
        elif release.mechanism == "approximate":
            noise = f"ε = {release.epsilon:.4g}, δ = {release.delta:.3g}"
        else:
            noise = f"{release.multiplier:.6g}"
        if release.mechanism == "exponential":
            noise += f", {release.steps:,} choices"
        if release.sites:
            noise += f", in shares of {release.parties}"
        if release.mechanism == "subsampled-gaussian":
            noise += f", {release.steps:,} steps at rate {release.rate:.4g}"
        name, size = release.name, f"{release.size:,}"
        if others:  # asked time and again
            name, size = f"{name} to {others[-1].name}", f"{1 + len(others)} x {size}"
        table.add_row(Text(printable(name)), size, noise, Text(printable(release.theorem)))
    return table


BOUGHT = "its releases are among those above"
PROVENANCE = {
    "declared": "declared as public",
    "data": "read from the rows; a person said that it is public (reviewed: true)",
    "private": f"bought with noise: {BOUGHT}",
}


def _facts(model: Model) -> dict[str, str]:
    from nacre.rows import ImageEncoder

    images = isinstance(model.encoder, ImageEncoder)
    ledger: Any = model.ledger
    found = {
        **(_of_images(model) if images else _of_table(model)),
        "settings": "  ".join(f"{name}={value}" for name, value in model.settings.items()),
        "versions": "  ".join(f"{name} {value}" for name, value in model.versions.items()),
        "ledger": "none",
    }
    if ledger:
        found["ledger"] = f"data set {ledger['dataset']}, entry {ledger['entry']}"
    return found


def _origin(schema: Schema) -> str:
    if schema.releases and (schema.from_rows or schema.provenance == "declared"):
        where = PROVENANCE["data" if schema.from_rows else "declared"]
        return f"{where}, but for what was bought: {BOUGHT}"
    return PROVENANCE[schema.provenance]


def _of_table(model: Model) -> dict[str, str]:
    schema, count = model.schema, len(model.schema.names)
    return {
        "schema": f"{count} column{'' if count == 1 else 's'}, {_origin(schema)}",
        "schema digest": schema.digest,
        "label": schema.label or "none",
        **({} if schema.unit is None else {"unit": _unit(schema.unit)}),
        "differences": ", ".join(map(str, model.differences)) or "none",
        "facts": "\n".join(_fact(fact) for fact in schema.facts) or "none",
        "constraints": "\n".join(map(str, schema.constraints)) or "none",
    }


def _unit(unit: Unit) -> str:
    rows = "one row" if unit.rows == 1 else f"at most {unit.rows} rows"
    same = f"; {', '.join(unit.constant)} do not change within a person" if unit.constant else ""
    return f"persons by '{unit.column}', of each {rows} counted{same}"


def _fact(fact: Any) -> str:
    """A fact in a line; of a look-up table, how many entries it has."""
    table = getattr(fact, "table", None)
    return str(fact) if table is None else f"{fact}: a table of {len(table)}"


def _of_images(model: Model) -> dict[str, str]:
    schema: Any = model.encoder.schema  # type: ignore[attr-defined]
    size = f"{schema.height} x {schema.width} pixels, {'gray' if schema.channels == 1 else 'color'}"
    classes = schema.classes or ()
    shown = ", ".join(classes[:12]) + (", ..." if len(classes) > 12 else "")
    return {
        "schema": f"images of {size}, {PROVENANCE[schema.provenance]}",
        "schema digest": schema.digest,
        "label": f"{schema.label}, {len(classes)} classes: {shown}" if classes else "none",
    }
