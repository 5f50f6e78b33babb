"""Decoded columns in other Arrow types than the schema's own."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

WIDEST_DECIMAL = 38


def as_types(table: pa.Table, types: pa.Schema) -> pa.Table:
    """The table with its columns cast to the types given for their names.

    A column keeps the type it has where none is given, or where the cast would lose something:
    a category "other" among integers, a fraction, a 2 as a Boolean.

    Examples:
        >>> table = pa.table({"member": [True, False], "code": ["1", "other"]})
        >>> as_types(table, pa.schema({"member": pa.int8(), "code": pa.int64()})).schema.types
        [DataType(int8), DataType(string)]
    """
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        places = types.get_all_field_indices(name)
        columns.append(_cast(column, types.field(places[0]).type) if places else column)
    return pa.Table.from_arrays(columns, names=table.column_names)


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    try:
        return _exactly(column, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column


def _exactly(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The cast, or an Arrow error where it would lose something."""
    if pa.types.is_dictionary(kind):
        return _dictionary(_exactly(column, kind.value_type), kind)
    if pa.types.is_run_end_encoded(kind):
        plain = _exactly(column, kind.value_type).combine_chunks()
        return pa.chunked_array([pc.run_end_encode(plain, run_end_type=kind.run_end_type)])
    if pa.types.is_null(kind):
        return column
    if pa.types.is_boolean(kind) and not pa.types.is_boolean(column.type):
        return _truth(column)
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        # Times with a zone were read as UTC.
        moments = pc.cast(pc.cast(column, pa.timestamp("us")), pa.timestamp(kind.unit))
        return pc.cast(pc.assume_timezone(moments, "UTC"), kind)
    if pa.types.is_decimal(kind) and not pa.types.is_floating(column.type):
        # Arrow asks for room for every int64, which the original type need not have.
        column = pc.cast(column, pa.decimal128(WIDEST_DECIMAL, kind.scale))
    return pc.cast(column, kind)


def _truth(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Zeros and ones (or words) as Booleans, and nothing else."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        known = pc.is_in(column, value_set=pa.array([0, 1], column.type), skip_nulls=True)
        if not pc.all(pc.or_(known, pc.is_null(column)), min_count=0).as_py():
            raise pa.ArrowInvalid("not all values are 0 or 1")
    return pc.cast(column, pa.bool_())


def _dictionary(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    coded = pc.dictionary_encode(column.combine_chunks())
    indices = pc.cast(coded.indices, kind.index_type)
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(indices, coded.dictionary, ordered=kind.ordered)]
    )
