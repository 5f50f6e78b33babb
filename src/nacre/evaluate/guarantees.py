"""What is guaranteed about a table, brought into one form from whatever the caller holds."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

from nacre.errors import NacreError, a_kind
from nacre.evaluate.origins import refuse_another_table, refuse_other_images
from nacre.model import load
from nacre.schema import ImageSchema, Schema

WORD = "That it holds for these rows is the word of whoever gave it."


@final
@dataclasses.dataclass(frozen=True)
class Named:
    """What the caller says that a table is guaranteed by.

    Attributes:
        given: a `Guarantee`, a certificate, a dictionary or a model.
        file: the name of the file that the model was read from, if it was.
    """

    given: Any
    file: str = ""


def by_table(guarantee: Any, tables: Sequence[str]) -> dict[str, Named]:
    """What the caller gave for each table, model files read.

    Args:
        guarantee: a `Guarantee`, a certificate or dictionary with an `epsilon` somewhere in it, a
            model that has one of these or its file, or a dictionary of any of them by table name.
        tables: the names of the tables. A single guarantee is the one of a single table.
    """
    if guarantee is None:
        return {}
    if (
        isinstance(guarantee, Mapping)
        and "epsilon" not in guarantee
        and set(guarantee) & set(tables)
    ):
        given = {name: guarantee[name] for name in tables if guarantee.get(name) is not None}
        return {name: _named(each) for name, each in given.items()}
    if len(tables) > 1:
        raise NacreError(
            f"One guarantee was given for {len(tables)} tables. Give a dictionary with the names "
            f"of the tables it is true of: {', '.join(tables)}."
        )
    return {tables[0]: _named(guarantee)}


def _named(given: Any) -> Named:
    return Named(load(given), Path(given).name) if isinstance(given, str | Path) else Named(given)


def describe(
    named: Mapping[str, Named], schema: Schema | ImageSchema, label: str | None = None
) -> dict[str, dict[str, Any]]:
    """For each table, what is guaranteed: at least `epsilon` (None if infinite) and `delta`.

    A model must have been fitted with the schema: the guarantee of another table's says nothing of
    this one. `source` says from where the guarantee is.
    """
    return {table: _one(each, schema, label) for table, each in named.items()}


def in_words(guarantees: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The guarantees in a line each, for the terminal, and whose word they are."""
    of = {table: f" of {table}" if len(guarantees) > 1 else "" for table in guarantees}
    return [
        f"Guarantee{of[table]}: {_symbols(found)}, {found['source']}. {WORD}"
        for table, found in guarantees.items()
    ]


def _symbols(found: Mapping[str, Any]) -> str:
    if found["epsilon"] is None:
        return "NOT PRIVATE"
    return f"ε = {found['epsilon']:g}, δ = {found['delta']:g}"


def _one(named: Named, schema: Schema | ImageSchema, label: str | None) -> dict[str, Any]:
    guarantee, source = named.given, "given without its model"
    if hasattr(guarantee, "guarantee"):
        if isinstance(schema, ImageSchema):
            refuse_other_images(guarantee, schema)
        else:
            refuse_another_table(guarantee, schema, label)
        source = f"of the model {named.file}" if named.file else "of the model that was given"
        guarantee = guarantee.guarantee
    if hasattr(guarantee, "to_dict"):
        found = dict(guarantee.to_dict())
    elif dataclasses.is_dataclass(guarantee) and not isinstance(guarantee, type):
        found = dataclasses.asdict(guarantee)
    elif isinstance(guarantee, Mapping):
        found = dict(guarantee)
    else:
        raise NacreError(
            f"The guarantee is {a_kind(guarantee)}. Give a Guarantee, a certificate, a "
            f"dictionary with epsilon and delta, or a model or the path of its file."
        )
    inner = found.get("guarantee")
    if "epsilon" not in found and isinstance(inner, Mapping):
        found = {**found, **inner}
    if "epsilon" not in found or "delta" not in found:
        raise NacreError("The guarantee has no epsilon and delta in it; both are needed.")
    epsilon, releases = found["epsilon"], found.get("releases") or ()
    # Whatever it claims: of what was released without noise nothing is promised.
    bare = any(isinstance(r, Mapping) and r.get("mechanism") == "none" for r in releases)
    infinite = bare or epsilon is None or not math.isfinite(float(epsilon))
    return {**found, "epsilon": None if infinite else float(epsilon), "source": source}
