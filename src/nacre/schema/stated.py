"""Types that a caller states for the columns of sampled tables, instead of the schema's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from nacre.schema.cast import as_types
from nacre.schema.columns.column import shown
from nacre.schema.errors import SchemaError
from nacre.schema.schema import Schema
from nacre.schema.suggest import suggest

# Names from pandas that Arrow has not, or has for something else.
NAMES = {
    "category": pa.dictionary(pa.int32(), pa.string()),
    "float": pa.float64(),
    "int": pa.int64(),
    **{f"datetime64[{unit}]": pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")},
}


def stated_types(types: pa.Schema | Mapping[str, Any] | None, schema: Schema) -> pa.Schema | None:
    """Column types by name as an Arrow schema without metadata; all problems at once.

    Examples:
        >>> from nacre.schema import Integer
        >>> schema = Schema({"age": Integer(low=0, high=120)})
        >>> stated_types({"age": "int8"}, schema).field("age").type
        DataType(int8)
    """
    if types is None:
        return None
    if isinstance(types, pa.Schema):
        types = dict(zip(types.names, types.types, strict=True))
    if not isinstance(types, Mapping):
        raise SchemaError("types must be a mapping such as {'age': 'int32'}, or an Arrow schema.")
    extremes = _extremes(schema)
    problems, fields = [], []
    for name, said in types.items():
        kind = _arrow_type(said)
        if name not in schema.columns:
            near = suggest(str(name), schema.columns)
            problems.append(f"'{name}' is not a column of the schema.{near}")
        elif kind is None:
            problems.append(f"'{name}': {shown(said)} is no type. Say int32, float64, category.")
        elif as_types(extremes.select([name]), pa.schema([(name, kind)])).schema.types != [kind]:
            problems.append(
                f"'{name}': the type {kind} cannot hold every value that the schema allows. Give a "
                f"wider one, or leave it out: it is {extremes.schema.field(name).type} then."
            )
        else:
            fields.append((name, kind))
    if problems:
        raise SchemaError(problems, subject="The argument `types`")
    return pa.schema(fields)


def _arrow_type(said: Any) -> pa.DataType | None:
    if isinstance(said, pa.DataType):
        return said
    if str(said) in NAMES:
        return NAMES[str(said)]
    try:
        return pa.type_for_alias(str(said))
    except ValueError:
        return None


def _extremes(schema: Schema) -> pa.Table:
    """Rows with every code, and the first, second and last tick of every number."""
    layout = schema.layout
    places = np.arange(max([3, *layout.sizes]))[:, None]
    codes = places % layout.sizes if len(layout.codes) else None
    ticks = np.where(places < 2, np.minimum(places, layout.limits), layout.limits)
    return schema.decode(layout.encoded(ticks, codes))
