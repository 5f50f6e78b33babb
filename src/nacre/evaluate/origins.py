"""Whether a table can have been drawn from the model whose guarantee is shown for it.

That it was, is the word of whoever names the model: rows do not tell where they come from.  What
can be checked is that model and table are of one schema, and that it holds no row that the model
never draws.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nacre.errors import NacreError
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import listed as first_of
from nacre.rows import open_source
from nacre.schema import ImageSchema, Schema
from nacre.schema.columns.column import Column
from nacre.schema.table import listed

# What a column may hold.  How it is written, and where its spikes are, may have changed since.
HELD = ("values", "other", "low", "high", "step", "decimals", "nullable")
SHOWN = 5  # columns, constraints and facts in a message


def refuse_another_table(model: Any, schema: Schema, label: str | None) -> None:
    """Refuse a model that was fitted with another schema than that of the tables.

    Args:
        model: whose guarantee is to be shown.
        schema: of the tables.
        label: the column that models are to predict. That of the model is this one, or the
            schema's; one that was fitted without any is compared like others.
    """
    if not hasattr(model, "schema"):
        return
    theirs = model.schema  # a model of something else than a table refuses this itself
    lacking = [name for name in schema.names if name not in theirs.names]
    beyond = [name for name in theirs.names if name not in schema.names]
    said = [f"it lacks {listed(lacking)}"] if lacking else []
    said += [f"it has {listed(beyond)}, which the schema lacks"] if beyond else []
    if not said:
        unlike = [
            f"'{name}' {words}"
            for name, column in schema.columns.items()
            if (words := _unlike(theirs.columns[name], column))
        ]
        said = [first_of(unlike, SHOWN).text] if unlike else []
    if said:
        raise NacreError(
            f"The model is of another table: {', and '.join(said)}. Its guarantee says nothing of "
            "this table. Give the model that the table was drawn from, and the schema that it was "
            "fitted with."
        )
    if theirs.label not in (None, schema.label, label):
        raise NacreError(
            f"The model was fitted with the label '{theirs.label}', which is neither the schema's "
            "nor the one to be predicted here: is it the model that the table was drawn from? "
            f"If so, say --label {theirs.label} (label={theirs.label!r}) here too."
        )


def _unlike(theirs: Column, ours: Column) -> str:
    """In what the model's column differs; nothing if it may hold the same."""
    if theirs.type != ours.type:
        return f"is {theirs.type} in the model and {ours.type} in the schema"
    for name in HELD:
        there, here = (getattr(column, name, None) for column in (theirs, ours))
        if name == "values" and set(there or ()) != set(here or ()):
            return "has other `values` in the model than in the schema"
        if name != "values" and there != here:
            return f"has `{name}: {_plain(there)}` in the model and {_plain(here)} in the schema"
    return ""


def _plain(value: Any) -> str:
    return (
        "none" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"
    )


def refuse_other_images(model: Any, schema: ImageSchema) -> None:
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


def origin_findings(table: Any, model: Any) -> Iterator[Finding]:
    """What in a synthetic table the model that was named for it can never have drawn."""
    schema = getattr(model, "schema", None)
    if not isinstance(schema, Schema):
        return
    found = open_source(table, schema).check(schema)
    wrong = [
        f"{count:,} cells of '{name}' {reason}"
        for name, reasons in found.columns.items()
        for reason, count in reasons.items()
    ]
    rules = {**found.constraints, **found.facts}
    wrong += [f"{count:,} rows break `{text}`" for text, count in rules.items() if count]
    if wrong:
        said = first_of(wrong, SHOWN, "; ")
        yield Finding(
            "avoid",
            "Another model",
            "Do not publish this table under the guarantee shown here. The model that was named "
            f"for it never draws such rows: {said.text}. Name the model that it was drawn from, "
            "and evaluate what was drawn, unchanged.",
            98,
            said.rest,
        )
    if beyond := _beyond(table, schema):
        yield Finding(
            "care",
            "Other columns",
            f"The guarantee says nothing of {listed(beyond, SHOWN)}: the model that was named for "
            "the table draws no such column. Leave out what did not come from it.",
            98,
        )


def _beyond(table: Any, schema: Schema) -> list[str]:
    """Columns of a file that no model of this schema has; of frames only the schema's are read."""
    if not isinstance(table, str | Path):
        return []
    known = {*schema.names, *([] if schema.unit is None else [schema.unit.column])}
    return [name for name in open_source(table).columns if name not in known]
