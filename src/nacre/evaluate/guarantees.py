"""What is guaranteed about a table, brought into one form from whatever the caller holds."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from nacre.errors import NacreError, a_kind
from nacre.schema import ImageSchema, Schema
from nacre.schema.table import listed


def describe(
    guarantee: Any, tables: Sequence[str], schema: Schema | ImageSchema
) -> dict[str, dict[str, Any]]:
    """For each table, what is guaranteed: at least `epsilon` (None if infinite) and `delta`.

    Args:
        guarantee: a `Guarantee`, a certificate or dictionary with an `epsilon` somewhere in it, a
            model that has one of these, or a dictionary of any of them by table name. A model must
            have the schema's columns: the guarantee of another table's says nothing of this one.
        tables: the names of the tables. A single guarantee is the one of a single table.
        schema: of the tables.
    """
    if guarantee is None:
        return {}
    if (
        isinstance(guarantee, Mapping)
        and "epsilon" not in guarantee
        and set(guarantee) & set(tables)
    ):
        given = {name: guarantee[name] for name in tables if guarantee.get(name) is not None}
        return {name: _one(each, schema) for name, each in given.items()}
    if len(tables) > 1:
        raise NacreError(
            f"One guarantee was given for {len(tables)} tables. Give a dictionary with the names "
            f"of the tables it is true of: {', '.join(tables)}."
        )
    return {tables[0]: _one(guarantee, schema)}


def _one(guarantee: Any, schema: Schema | ImageSchema) -> dict[str, Any]:
    if hasattr(guarantee, "guarantee"):
        if isinstance(schema, ImageSchema):
            _refuse_other_images(guarantee, schema)
        else:
            _refuse_another_table(guarantee, schema)
        guarantee = guarantee.guarantee
    if hasattr(guarantee, "to_dict"):
        found = dict(guarantee.to_dict())
    elif dataclasses.is_dataclass(guarantee) and not isinstance(guarantee, type):
        found = dataclasses.asdict(guarantee)
    elif isinstance(guarantee, Mapping):
        found = dict(guarantee)
    else:
        raise NacreError(
            f"The guarantee is {a_kind(guarantee)}. Give a Guarantee, a certificate, or a "
            f"dictionary with epsilon and delta."
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
    return {**found, "epsilon": None if infinite else float(epsilon)}


def _refuse_another_table(model: Any, schema: Schema) -> None:
    """Types and values may have been narrowed since the fit; the columns are the same."""
    if not hasattr(model, "schema"):
        return
    names = model.schema.names  # a model of something else than a table refuses this itself
    lacking = [name for name in schema.names if name not in names]
    beyond = [name for name in names if name not in schema.names]
    if not lacking and not beyond:
        return
    said = [f"lacks {listed(lacking)}"] if lacking else []
    said += [f"has {listed(beyond)}, which the schema lacks"] if beyond else []
    raise NacreError(
        f"The model is of another table: it {', and '.join(said)}. Its guarantee says nothing of "
        "this table. Give the model that the table was drawn from, and the schema that it was "
        "fitted with."
    )


def _refuse_other_images(model: Any, schema: ImageSchema) -> None:
    """The label may have been left out; the size is the same, and the classes if there are any."""
    theirs = getattr(getattr(model, "encoder", None), "schema", None)
    if theirs is None:
        return
    known = (None, schema.classes)
    same = isinstance(theirs, ImageSchema) and theirs.shape == schema.shape
    if same and (schema.classes is None or theirs.classes in known):
        return
    raise NacreError(
        "The model is of other data: not of images of this size with these classes. Its guarantee "
        "says nothing of these. Give the model that they were drawn from."
    )
