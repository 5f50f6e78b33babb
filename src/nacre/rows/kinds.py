"""A drawn table as the kind of frame that was fitted."""

from typing import Any

import pyarrow as pa

from nacre.schema import Schema


def as_kind(table: pa.Table, schema: Schema, kind: str) -> Any:
    """The table as pandas or polars has it, if `kind` says so; Arrow otherwise."""
    if kind == "pandas":
        return _pandas(table, schema)
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table


def _pandas(table: pa.Table, schema: Schema) -> Any:
    """A frame whose types follow from the schema: with room for gaps wherever there may be any.

    Dates become datetime64, as pandas has no type for them.
    """
    import pandas as pd

    roomy = {pa.bool_(): pd.BooleanDtype()}
    for bits in (8, 16, 32, 64):
        roomy[getattr(pa, f"int{bits}")()] = getattr(pd, f"Int{bits}Dtype")()
        roomy[getattr(pa, f"uint{bits}")()] = getattr(pd, f"UInt{bits}Dtype")()
    parts = {}
    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_date(column.type):
            column = column.cast(pa.timestamp("us"))
        known = schema.columns.get(name)  # none for the ids of persons
        nullable = known is not None and known.nullable
        parts[name] = column.to_pandas(types_mapper=roomy.get if nullable else None)
    return pd.DataFrame(parts)
