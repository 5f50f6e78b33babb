"""The one text that a cell has, for lists of values and for the discovery of them.

A cell's text is a function of its value alone, never of the type that its column is stored in: one
gap makes float64 of a pandas column of integers, one wide number float64 of float32, and one word
makes objects of all.  So a number has the text of its nearest float64, and a point in time that of
its microsecond in UTC, whatever the column's type and unit.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from nacre.schema.columns import cells

EXACT = 2.0**53  # below it float64 holds every whole number, and they are written in full
MANY = r"^-?\d+\.\d{10,}$|^-?\d(\.\d+)?e[-+]\d+$"  # texts of numbers that may have been float32
YEAR_1, YEAR_10000 = -62_135_596_800_000_000, 253_402_300_800_000_000  # in microseconds
BEYOND = "<out of range>"


def cell_names(array: pa.Array) -> pa.Array:
    """Cells as text (Arrow's `string`), null where there is none; each by itself.

    Examples:
        >>> cell_names(pa.array([1.0, 0.5, None])).to_pylist()
        ['1', '0.5', None]
        >>> cell_names(pa.array([0.1, 0.5], pa.float32())).to_pylist()
        ['0.10000000149011612', '0.5']
    """
    array = cells.plain(array)
    kind = array.type
    if cells.is_text(kind):
        return pc.cast(cells.text(array), pa.string(), safe=False)
    if pa.types.is_boolean(kind):
        return pc.cast(array, pa.string())
    if pa.types.is_decimal(kind):  # by its text: Arrow's own way depends on the column's scale
        return _numbers(pc.cast(pc.cast(array, pa.string()), pa.float64()))
    if cells.is_number(kind):
        return _numbers(pc.cast(array, pa.float64(), safe=False))
    if pa.types.is_timestamp(kind):
        return _moments(array)
    if cells.is_clock(kind):
        return _clocks(array)
    return pc.cast(array, pa.string())


def _numbers(values: pa.Array) -> pa.Array:
    """Whole numbers without a point; others with the fewest digits that tell them apart.

    Read again, the text gives the same float64.  Integers that float64 cannot hold are rounded, to
    what is left of them once their column has had a gap.
    """
    values = pc.if_else(pc.is_nan(values), None, values)
    whole = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), EXACT))
    in_full = pc.cast(pc.cast(pc.if_else(whole, values, None), pa.int64()), pa.string())
    return pc.coalesce(in_full, pc.cast(values, pa.string()))


def single_names(names: pa.Array) -> pa.Array:
    """Names as float32 writes them, of numbers that it holds too; null for the others.

    Examples:
        >>> single_names(pa.array(["0.10000000149011612", "0.1", "word"])).to_pylist()
        ['0.1', None, None]
    """
    long = pc.if_else(pc.match_substring_regex(names, MANY), names, None)
    values = pc.cast(pc.cast(long, pa.string()), pa.float64())
    single = pc.cast(values, pa.float32(), safe=False)
    held = pc.equal(pc.cast(single, pa.float64()), values)
    return pc.if_else(held, pc.cast(single, pa.string()), None)


def _moments(array: pa.Array) -> pa.Array:
    """To the microsecond, without a fraction of zero."""
    counts = pa.array(cells.microseconds(array), mask=cells.mask(pc.is_null(array)))
    known = pc.and_(pc.greater_equal(counts, YEAR_1), pc.less(counts, YEAR_10000))
    named = pc.cast(pc.if_else(known, counts, None).view(pa.timestamp("us")), pa.string())
    named = pc.replace_substring_regex(named, r"\.0+$", "")
    return pc.coalesce(named, pc.if_else(pc.invert(known), BEYOND, None))


def _clocks(array: pa.Array) -> pa.Array:
    """Likewise times of day."""
    counts = pa.array(cells.microseconds(array), mask=cells.mask(pc.is_null(array)))
    return pc.replace_substring_regex(
        pc.cast(counts.view(pa.time64("us")), pa.string()), r"\.0+$", ""
    )
