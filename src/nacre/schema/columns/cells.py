"""Arrow cells of any type as float64 numbers or as microseconds, unreadable ones marked.

Everything here works on whole arrays, and no cell can make it fail: a value that cannot be
read becomes null and is marked. Arrow's own errors quote the cell, so none may escape.
"""

from __future__ import annotations

import contextlib

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Written for "no value" by common tools; fixed here, so nothing is inferred from the data.
NO_VALUE = ("", "na", "n/a", "nan", "null", "none", "nat", "<na>")
NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity)$"
DATE = (
    r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
    r"([ T]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?)?"
)
CLOCK = r"^([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?$"
ZONE = r"(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)"
YEARS = (-62_135_596_800_000_000, 253_402_300_800_000_000)  # 1 and 10000, in microseconds


def is_text(kind: pa.DataType) -> bool:
    """Whether cells of this type are read as text."""
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def is_number(kind: pa.DataType) -> bool:
    """Whether cells of this type are numbers already (a boolean is 0 or 1)."""
    return (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
    )


def is_moment(kind: pa.DataType) -> bool:
    """Whether cells of this type are dates or points in time."""
    return pa.types.is_timestamp(kind) or pa.types.is_date(kind)


def is_clock(kind: pa.DataType) -> bool:
    """Whether cells of this type are times of day."""
    return bool(pa.types.is_time(kind))


def has_text(kind: pa.DataType) -> bool:
    """Whether each cell of this type has a text of its own, as `cell_names` writes it."""
    return is_text(kind) or is_number(kind) or is_moment(kind) or is_clock(kind)


def plain(array: pa.Array) -> pa.Array:
    """The array without its dictionary or run-length coding."""
    if pa.types.is_dictionary(array.type):
        values = array.dictionary
        if pa.types.is_string_view(values.type):  # of which Arrow cannot take some
            values = pc.cast(values, pa.string())
        return values.take(array.indices)
    if pa.types.is_run_end_encoded(array.type):
        return pc.run_end_decode(array)
    return array


def text(array: pa.Array) -> pa.Array:
    """Text cells with surrounding blanks removed; an empty cell stays empty.

    Bytes that are not UTF-8 become U+FFFD, in each cell by itself. Files may hold such bytes in
    columns of text too.
    """
    kind = array.type
    large = pa.types.is_large_binary(kind) or pa.types.is_large_string(kind)
    raw = pc.cast(array, pa.large_binary() if large else pa.binary())
    letters = pa.large_string() if large else pa.string()
    try:
        array = pc.cast(raw, letters)
    except pa.ArrowInvalid:
        read = (
            cell if cell is None else cell.decode("utf-8", "replace") for cell in raw.to_pylist()
        )
        array = pa.array(read, letters)
    return pc.ascii_trim_whitespace(array)


def says_nothing(cells: pa.Array) -> pa.Array:
    """Where stripped text is empty, or a word for no value."""
    return pc.is_in(pc.ascii_lower(cells), value_set=pa.array(NO_VALUE, cells.type))


def numbers(array: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells as float64 (NaN where there is none), and masks: missing, unreadable.

    float64 holds every integer below 2^53 exactly, and larger ones are out of any range.
    """
    array = plain(array)
    if pa.types.is_null(array.type):
        return np.full(len(array), np.nan), np.ones(len(array), bool), np.zeros(len(array), bool)
    unreadable = np.zeros(len(array), bool)
    if is_text(array.type):
        array, unreadable = _parse_numbers(text(array))
    if pa.types.is_decimal(array.type):  # by its text: Arrow's own way is not to the nearest
        array = pc.cast(array, pa.string())
    if pa.types.is_string(array.type) or pa.types.is_boolean(array.type):
        array = pc.cast(array, pa.float64())
    values = pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values, np.isnan(values) & ~unreadable, unreadable


def _parse_numbers(cells: pa.Array) -> tuple[pa.Array, np.ndarray]:
    # Most columns are clean, and this is several times faster than looking at each cell.  Arrow
    # takes texts such as "-nan" for numbers, which must mean the same beside any other cell.
    with contextlib.suppress(pa.ArrowInvalid):
        found = pc.cast(cells, pa.float64())
        if not pc.any(pc.is_nan(found)).as_py():
            return found, np.zeros(len(cells), bool)
    empty = says_nothing(cells)
    # A column of Booleans is read as ones and zeros, and one among objects is a word here.
    for word, digit in (("true", "1"), ("false", "0")):
        meant = pc.equal(pc.ascii_lower(cells), word)
        cells = pc.if_else(meant, pa.scalar(digit, cells.type), cells)
    readable = pc.match_substring_regex(cells, NUMBER)
    nothing = pa.scalar(None, cells.type)
    parsed = pc.cast(pc.if_else(readable, cells, nothing), pa.float64())
    return parsed, mask(pc.invert(pc.or_(readable, empty)))


def moments(array: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells as microseconds since 1970 (UTC), and masks: missing, unreadable."""
    array = plain(array)
    if pa.types.is_null(array.type):
        nothing = np.ones(len(array), bool)
        return np.zeros(len(array), np.int64), nothing, np.zeros(len(array), bool)
    unreadable = np.zeros(len(array), bool)
    if is_text(array.type):
        array, unreadable = _parse_moments(text(array))
    missing = mask(pc.is_null(array)) & ~unreadable
    values = microseconds(array)
    # A year that has no text, as in a column of objects, has no meaning in any other.
    beyond = ((values < YEARS[0]) | (values >= YEARS[1])) & ~missing
    return values, missing, unreadable | beyond


def _parse_moments(cells: pa.Array) -> tuple[pa.Array, np.ndarray]:
    # One way for every cell: whether another cell can be read must not change this one's meaning.
    micro = pa.timestamp("us")
    empty = says_nothing(cells)
    nothing = pa.scalar(None, cells.type)
    # Arrow keeps at most the six digits that a microsecond has.
    cells = pc.replace_substring_regex(cells, r"(\.\d{6})\d+", r"\1")
    local = pc.match_substring_regex(cells, DATE + "$")
    zoned = pc.match_substring_regex(cells, DATE[:-1] + ZONE + "$")  # with a time of day
    possible = _day_exists(pc.if_else(pc.or_(local, zoned), cells, nothing))
    here = pc.cast(pc.if_else(pc.and_(local, possible), cells, nothing), micro)
    utc = pa.timestamp("us", "UTC")
    there = pc.cast(pc.if_else(pc.and_(zoned, possible), cells, nothing), utc)
    unreadable = pc.and_(pc.is_valid(cells), pc.invert(pc.or_(possible, empty)))
    return pc.coalesce(here, pc.cast(there, micro)), mask(unreadable)


def clocks(array: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells as microseconds since midnight, and masks: missing, unreadable.

    Times of day are those of the first of January 1970, which `moments` reads.
    """
    array = plain(array)
    if is_text(array.type):
        array = text(array)
        fits = pc.match_substring_regex(array, CLOCK)
        long = pc.replace_substring_regex(array, r"^(\d):", r"0\1:")
        day = pa.scalar("1970-01-01", array.type)
        there = pc.binary_join_element_wise(day, long, pa.scalar(" ", array.type))
        other = pc.if_else(
            says_nothing(array), pa.scalar(None, array.type), pa.scalar("?", array.type)
        )
        array = pc.if_else(fits, there, other)  # of no cell, nothing
    return moments(array)


def _day_exists(dates: pa.Array) -> pa.Array:
    """Whether the day is in its month: Arrow refuses a whole column for one 30 February."""
    firsts = pc.replace_substring_regex(dates, r"^(.{7}).*", r"\1-01")
    months = pc.cast(firsts, pa.timestamp("s")).to_numpy(zero_copy_only=False)
    months = months.astype("datetime64[M]")
    days = pc.fill_null(pc.cast(pc.utf8_slice_codeunits(dates, 8, 10), pa.int64()), 1).to_numpy()
    same = (months.astype("datetime64[D]") + (days - 1)).astype("datetime64[M]") == months
    return pa.array(same)  # False where there is no date


def microseconds(array: pa.Array) -> np.ndarray:
    """Points in time, or times of day, as int64 microseconds; beyond all these they stop."""
    if pa.types.is_date32(array.type):
        counts, unit = pc.cast(array.view(pa.int32()), pa.int64()), 86_400_000_000
    else:
        counts = array.view(pa.int32() if pa.types.is_time32(array.type) else pa.int64())
        counts = pc.cast(counts, pa.int64())
        unit = {"s": 1_000_000, "ms": 1000, "us": 1, "ns": 0}.get(
            getattr(array.type, "unit", "ms"), 1000
        )
    whole = pc.fill_null(counts, 0).to_numpy(zero_copy_only=False)
    if unit == 0:
        return whole // 1000
    limit = np.iinfo(np.int64).max // (4 * unit)
    return np.clip(whole, -limit, limit) * unit


def mask(array: pa.Array) -> np.ndarray:
    """A Boolean array as NumPy has it, null as False."""
    return pc.fill_null(array, False).to_numpy(zero_copy_only=False)
