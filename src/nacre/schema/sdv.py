"""SDV's metadata as a schema and back: the same facts, under the names that SDV gives them.

Of its version 2 (SDV 2) ranges, decimals, lists of values and gaps go one to one.  Version 1 says
types only.  SDV reads ranges from the rows, so what comes in is marked as read from data, and a fit
refuses it until a person has reviewed it.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any, final

from nacre.schema.columns.category import Boolean, Categorical, Ordinal
from nacre.schema.columns.clock import FORMATS, Time
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.timed import DAY, Timed
from nacre.schema.errors import SchemaError
from nacre.schema.schema import Schema
from nacre.schema.unit import Unit

VERSION = "V2"
DAYS, TIMES, CLOCKS = "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%H:%M:%S"
KEYS = ("primary_key", "sequence_key")
UNSAID = ("step", "spikes", "clamp", "missing", "values")
NO_ID = (
    "'{name}' tells persons or rows apart, so it is not learned; if a person has several rows, "
    "say `unit: {{column: {name}, rows: ...}}`"
)


@final
@dataclasses.dataclass(frozen=True)
class Imported:
    """A schema made of metadata, and what of it is not in the schema.

    Attributes:
        schema: with provenance "data", not reviewed.
        left_out: column to the reason why it is not there.
    """

    schema: Schema
    left_out: dict[str, str]


def from_sdv(said: Any, *, table: str | None = None, rows: int | None = None) -> Imported:
    """The schema that SDV's metadata describe.

    Args:
        said: the content of the JSON file.
        table: which one, where there are several.
        rows: how many rows of a person count, at most: then the sequence key is the `unit`.
    """
    found = _table(said, table)
    columns: dict[str, Column] = {}
    left_out: dict[str, str] = {}
    keys = {str(found[key]) for key in KEYS if isinstance(found.get(key), str)}
    for name, facts in found["columns"].items():
        if name in keys or facts.get("sdtype") == "id":
            left_out[name] = NO_ID.format(name=name)
            continue
        column, problem = _column(facts)
        if column is None:
            left_out[name] = problem
        else:
            columns[name] = column
    if not columns:
        reasons = [f"'{name}': {reason}." for name, reason in left_out.items()]
        raise SchemaError(["no column of the metadata can be used.", *reasons])
    key = found.get("sequence_key")
    unit = None if rows is None or key is None else Unit(column=str(key), rows=rows)
    if unit is not None:
        del left_out[unit.column]
    return Imported(Schema(columns, provenance="data", unit=unit), left_out)


def to_sdv(schema: Schema, *, table: str = "table") -> dict[str, Any]:
    """The schema as SDV's metadata; constraints, facts, steps and the label have no place there."""
    columns = {name: _plain(column) for name, column in schema.columns.items()}
    found: dict[str, Any] = {"columns": columns}
    if schema.unit is not None:
        columns[schema.unit.column] = {"sdtype": "id"}
        found["sequence_key"] = schema.unit.column
    return {"METADATA_SPEC_VERSION": VERSION, "tables": {table: found}, "relationships": []}


def unsaid(schema: Schema) -> tuple[str, ...]:
    """What a schema says that has no place in SDV's metadata, each in a few words.

    Examples:
        >>> unsaid(Schema({"a": Integer(low=0, high=10, step=5)}, label="a"))
        ("the label ('a')", "`step` of 'a'")
    """
    found = [] if schema.label is None else [f"the label ('{schema.label}')"]
    for count, thing in ((len(schema.constraints), "constraint"), (len(schema.facts), "fact")):
        if count:
            found.append(f"{count} {thing}{'' if count == 1 else 's'}")
    if schema.protect:
        found.append("what is to be protected (`protect`)")
    if schema.unit is not None:
        found.append(f"that at most {schema.unit.rows} rows of a person count")
        if schema.unit.constant:
            listed = ", ".join(schema.unit.constant)
            found.append(f"what does not change within a person ({listed})")
    if schema.releases:
        found.append("what the schema was bought with (`releases`)")
    for fact in UNSAID:
        names = [f"'{n}'" for n, c in schema.columns.items() if _says(c, fact)]
        if names:
            found.append(f"`{fact}` of {', '.join(names)}")
    return tuple(found)


def _says(column: Column, fact: str) -> bool:
    """Whether a column says something beyond what is usual that SDV has no word for."""
    if fact == "values":  # with others beside them, they are no list of all
        return isinstance(column, Categorical) and column.other
    said = column.to_dict().get(fact)
    usual = isinstance(column, Timed) and fact == "step" and said == _usual_step(column)
    return bool(said) and not usual


def _usual_step(column: Timed) -> str:
    """The step that comes back with a column's format."""
    if isinstance(column, Time):
        return _time_step(_written(column))
    return "1s" if "%H" in _written(column) else "1d"


def _time_step(written: str) -> str:
    return "1s" if "%S" in written else "1min"


def _written(column: Timed) -> str:
    """How a column of dates or times of day is written."""
    if isinstance(column, Time):
        return next((text for text, n in FORMATS.items() if n == column.letters), CLOCKS)
    if isinstance(column, Datetime) and column.format is not None:
        return column.format
    return DAYS if column.whole(DAY) else TIMES


def _table(said: Any, name: str | None) -> Mapping[str, Any]:
    """The description of one table, in either form of the file."""
    if not isinstance(said, Mapping):
        raise SchemaError("SDV's metadata are a JSON object with `tables` or `columns`.")
    tables = said.get("tables")
    if isinstance(tables, Mapping) and tables:
        if name is None and len(tables) > 1:
            listed = ", ".join(map(str, tables))
            raise SchemaError(f"The metadata are of several tables: {listed}. Name one of them.")
        found = tables.get(name) if name is not None else next(iter(tables.values()))
    else:
        found = said
    columns = found.get("columns") if isinstance(found, Mapping) else None
    if not isinstance(columns, Mapping) or not columns:
        which = "" if name is None else f" of '{name}'"
        raise SchemaError(f"The metadata say nothing about columns{which}.")
    if not all(isinstance(facts, Mapping) for facts in columns.values()):
        raise SchemaError("Each column of the metadata needs a description with an `sdtype`.")
    return dict(found or {})


def _column(facts: Mapping[str, Any]) -> tuple[Column | None, str]:
    """A column of the schema, or why there is none."""
    kind, nullable = facts.get("sdtype"), facts.get("range_is_nullable") is not False
    low, high, values = (facts.get(f"range_{part}") for part in ("min", "max", "values"))
    bounds = "it has no range: write the column with public `low` and `high`"
    found: Column
    if kind == "boolean":
        found = Boolean(nullable=nullable)
    elif kind in ("categorical", "ordinal"):
        if not isinstance(values, list):
            return None, "it has no `range_values`: write the column with its public `values`"
        written = tuple(_text(value) for value in values)
        found = (Ordinal if kind == "ordinal" else Categorical)(values=written, nullable=nullable)
    elif kind == "numerical":
        if low is None or high is None:
            return None, bounds
        decimals = facts.get("decimal_places")
        if decimals == 0 and float(low).is_integer() and float(high).is_integer():
            found = Integer(low=int(low), high=int(high), nullable=nullable)
        else:
            found = Real(low=low, high=high, decimals=decimals, nullable=nullable)
    elif kind == "datetime":
        if low is None or high is None:
            return None, bounds
        found = _moments(str(low), str(high), facts.get("datetime_format"), nullable)
    else:
        return None, f"'{kind}' says who somebody is, or nothing; it is not learned"
    problems = found.problems()
    return (None, " ".join(problems)) if problems else (found, "")


def _moments(low: str, high: str, format: str | None, nullable: bool) -> Column:  # noqa: A002
    """A column of dates or times of day, its range written as its cells are."""
    if format in FORMATS:
        return Time(low=low, high=high, step=_time_step(str(format)), nullable=nullable)

    def iso(text: str) -> str:
        if format is None:
            return text
        try:
            moment = datetime.datetime.strptime(text, format)
        except ValueError:
            return text
        return moment.isoformat() if any(part in format for part in "HIMSfXcT") else _day(moment)

    days = format is None or not any(f"%{part}" in format for part in "HIMSfXcT")
    plain = format in (None, DAYS, TIMES)
    step, written = "1d" if days else "1s", None if plain else format
    return Datetime(low=iso(low), high=iso(high), step=step, format=written, nullable=nullable)


def _day(moment: datetime.datetime) -> str:
    return moment.date().isoformat()


def _text(value: Any) -> str:
    """A value of a list as the cell that holds it is written."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _plain(column: Column) -> dict[str, Any]:
    """One column under SDV's names."""
    gaps: dict[str, Any] = {"range_is_nullable": column.nullable}
    ends: dict[str, Any]
    match column:
        case Integer():
            ends = {"range_min": column.low, "range_max": column.high}
            return {"sdtype": "numerical", **ends, "decimal_places": 0, **gaps}
        case Real():
            ends = {"range_min": column.low, "range_max": column.high}
            digits = {} if column.decimals is None else {"decimal_places": column.decimals}
            return {"sdtype": "numerical", **ends, **digits, **gaps}
        case Boolean():
            return {"sdtype": "boolean", **gaps}
        case Ordinal():
            return {"sdtype": "ordinal", "range_values": list(column.values), **gaps}
        case Categorical():
            # Values that are gathered as 'other' are not in the list.
            listed = {} if column.other else {"range_values": list(column.values)}
            return {"sdtype": "categorical", **listed, **gaps}
        case Datetime() | Time():
            written = _written(column)
            read = (datetime.time if isinstance(column, Time) else datetime.datetime).fromisoformat
            low, high = (read(str(end)) for end in (column.low, column.high))
            ends = {"range_min": low.strftime(written), "range_max": high.strftime(written)}
            return {"sdtype": "datetime", "datetime_format": written, **ends, **gaps}
    raise SchemaError(f"A column of type {column.type} has no counterpart in SDV's metadata.")
