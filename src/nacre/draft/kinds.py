"""The types of a table's columns, from a person or from what a Parquet file declares."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from nacre.rows import Source
from nacre.schema import Column, Schema, SchemaError
from nacre.schema.columns import cells
from nacre.schema.suggest import suggest
from nacre.schema.table import listed

# What a draft has to find out, by type, with stand-ins to check everything else beforehand: a
# mistake must not be found after budget was spent.
UNKNOWN: dict[str, dict[str, Any]] = {
    "integer": {"low": 0, "high": 1},
    "real": {"low": 0, "high": 1},
    "datetime": {"low": "2001-01-01", "high": "2001-12-31"},
    "time": {"low": "00:00", "high": "23:59"},
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

    Only a Parquet file declares types. Those of frames, and what a CSV file seems to hold, come
    from the rows, of which one may decide them: they are a person's to state.
    """
    types = types or {}
    problems = [
        f"'{name}' is not a column of {source.name}.{suggest(name, source.columns)}"
        for name in {**types, **dict.fromkeys(drop)}
        if name not in source.columns
    ]
    facts, unstated = {}, []
    for name in source.columns:
        if name in drop:
            continue
        given = types.get(name)
        if given is None and source.types is not None:
            given = _declared_type(source.types.field(name).type)
        if given is None:
            unstated.append(name)
            continue
        known: Any = {"type": given} if isinstance(given, str) else given
        found = _problems(name, known)
        problems += found
        if not found:
            facts[name] = dict(known)
    if unstated:
        problems.append(_unstated(unstated, source.name))
    if problems:
        raise SchemaError(problems, subject="The private draft")
    return facts


def _unstated(names: Sequence[str], table: str) -> str:
    """Which types a person has to state, and how."""
    first, last = names[0], names[-1]
    return (
        f"the type of {listed(names, len(names))} is not known: {table} does not declare it, and "
        "it may not be guessed from the rows, as one of them could decide it. State each type "
        f"({', '.join(UNKNOWN)}), in Python as types={{{first!r}: 'integer'}}, on the command line "
        f"as a line `{first}: integer` of a file that --types names; or leave a column out, by "
        f"drop=[{last!r}] or --drop {last}."
    )


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
        return (f"'{name}': say its type, one of {', '.join(UNKNOWN)}.",)
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
    if cells.is_clock(kind):
        return {"type": "time", "step": "1s"}
    return None
