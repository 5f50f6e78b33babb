"""The types of a table's columns, from what it declares about itself or from a person."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from nacre.rows import Source
from nacre.schema import Column, Schema, SchemaError, cells

# What a draft has to find out, by type, with stand-ins to check everything else beforehand: a
# mistake must not be found after budget was spent.
UNKNOWN: dict[str, dict[str, Any]] = {
    "integer": {"low": 0, "high": 1},
    "real": {"low": 0, "high": 1},
    "datetime": {"low": "2001-01-01", "high": "2001-12-31"},
    "categorical": {"values": ["-"]},
    "boolean": {},
}


def read_types(path: str | Path) -> dict[str, Any]:
    """Column types from a YAML file: `name: type`, or facts such as `{type: real, decimals: 2}`."""
    try:
        # Every scalar stays text: a column may be called `no`, a value `1`.
        said = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except FileNotFoundError:
        raise SchemaError(f"There is no file '{path}' with column types.") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise SchemaError(f"'{path}' is not valid YAML. Write one `name: type` a line.") from None
    if not isinstance(said, dict) or not said:
        raise SchemaError(f"'{path}' names no columns. Write one `name: type` a line.")
    return said


def column_facts(
    source: Source,
    types: Mapping[str, Any] | None,
    drop: Collection[str],
) -> dict[str, dict[str, Any]]:
    """For each column its `type`, and whatever else is known; all problems at once.

    A column of a plain NumPy type declares nothing: pandas makes float64 of int64 for one gap.
    """
    types, declared = types or {}, source.types
    if declared is None and not types:
        raise SchemaError(
            f"{source.name} does not say what type its columns have, and a private draft may not "
            "guess it from the rows. Give `types` (--types types.yaml), one `name: type` a line: "
            f"{', '.join(UNKNOWN)}."
        )
    names = list(types) if declared is None else list(declared.names)
    problems = [
        f"'{name}' is not a column of {source.name}."
        for name in {*types, *drop}
        if name not in names and declared is not None
    ]
    facts = {}
    for name in names:
        if name in drop:
            continue
        given = types.get(name)
        if given is None and declared is not None and name not in source.loose:
            given = _declared_type(declared.field(name).type)
        known: Any = {"type": given} if isinstance(given, str) else given
        found = _problems(name, known)
        problems += found
        if not found:
            facts[name] = dict(known)
    if problems:
        raise SchemaError(problems, subject="The private draft")
    return facts


def declared_column(name: str, facts: Mapping[str, Any]) -> Column | None:
    """The column if a person has stated all that it needs, so that nothing need be spent on it."""
    needed = UNKNOWN.get(facts["type"])
    if needed is not None and not all(fact in facts for fact in needed):
        return None
    if facts["type"] == "boolean" and "nullable" not in facts:
        return None
    return Schema.from_dict({"columns": {name: facts}}).columns[name]


def _problems(name: str, facts: Any) -> tuple[str, ...]:
    if not isinstance(facts, Mapping) or not isinstance(facts.get("type"), str):
        return (
            f"'{name}': no type is known. Give one in `types`: {', '.join(UNKNOWN)}; or drop it.",
        )
    if facts["type"] == "ordinal" and "values" not in facts:
        return (
            f"'{name}': the order of an ordinal's values cannot be learnt. List them in `types`.",
        )
    if facts["type"] not in (*UNKNOWN, "ordinal"):
        return (f"'{name}': type {facts['type']} is not known. Use one of {', '.join(UNKNOWN)}.",)
    missing = {k: v for k, v in UNKNOWN.get(facts["type"], {}).items() if k not in facts}
    if list(missing) in (["low"], ["high"]):
        return (f"'{name}': give both `low` and `high`, or neither.",)
    try:
        Schema.from_dict({"columns": {name: {**facts, **missing}}})
    except SchemaError as error:
        return error.problems
    return ()


def _declared_type(kind: pa.DataType) -> dict[str, Any] | None:
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return {"type": "boolean"}
    if pa.types.is_integer(kind):
        return {"type": "integer"}
    if cells.is_number(kind):
        return {"type": "real"}
    if cells.is_text(kind):
        return {"type": "categorical"}
    if pa.types.is_date(kind):
        return {"type": "datetime", "step": "1d"}
    if cells.is_moment(kind):
        return {"type": "datetime", "step": "1s"}
    return None
