"""Places of cells in a public list of values, whatever Arrow type the cells have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nacre.schema import cells

NOT_LISTED, NOTHING = -1, -2  # places of cells that are not in the list, or empty


class Lookup:
    """Finds the place of each cell in a list of values, through the distinct cells only."""

    def __init__(self, values: Sequence[str], *, words: bool = False) -> None:
        # Words for true and false are known in any case, and so are those for "no value". In a
        # list of values "NA" may be Namibia: there only an empty cell is missing.
        self.words = words
        self.values = pa.array(values, pa.string())
        # 1, 1.0 and "1.0" are all "1"; tables that once had a gap in a column write 1.0.
        self.whole = _without_zeros(self.values)
        self.truth = _truth(values)

    def find(self, array: pa.Array) -> np.ndarray:
        """The place of each cell (int32), NOT_LISTED or NOTHING."""
        if pa.types.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        if not pa.types.is_dictionary(array.type):
            array = pc.dictionary_encode(array)
        places = np.append(self._places(array.dictionary), np.int32(NOTHING))
        indices = array.indices
        if indices.null_count:
            indices = pc.fill_null(pc.cast(indices, pa.int64()), len(places) - 1)
        return places[indices.to_numpy(zero_copy_only=False)]

    def _places(self, distinct: pa.Array) -> np.ndarray:
        names = self._names(distinct)
        if self.words:
            names = pc.ascii_lower(names)
        places = pc.index_in(names, value_set=self.values)
        if places.null_count:
            places = self._unlisted(names, places)
        return places.to_numpy(zero_copy_only=False)

    def _unlisted(self, names: pa.Array, places: pa.Array) -> pa.Array:
        """The places, with those filled in that are not there at first sight."""
        empty = cells.says_nothing(names) if self.words else pc.equal(names, "")
        nothing = pc.or_(pc.is_null(names), pc.fill_null(empty, False))
        places = pc.coalesce(places, pc.index_in(_without_zeros(names), value_set=self.whole))
        # True and False in a column of objects are text here, in one of Booleans they are not.
        lower = pc.ascii_lower(names)
        for word, written in zip(("true", "false"), self.truth, strict=True):
            meant = pc.if_else(pc.equal(lower, word), written, None)
            places = pc.coalesce(places, pc.index_in(pc.cast(meant, pa.string()), self.values))
        places = pc.if_else(nothing, NOTHING, pc.fill_null(places, NOT_LISTED))
        return pc.cast(places, pa.int32())

    def _names(self, distinct: pa.Array) -> pa.Array:
        """Cells as text the way the values are written."""
        kind = distinct.type
        if cells.is_text(kind):
            return pc.cast(cells.text(distinct), pa.string(), safe=False)
        if pa.types.is_boolean(kind):
            return pc.if_else(distinct, *self.truth)
        if pa.types.is_float16(kind):
            distinct = pc.cast(distinct, pa.float32())
        if pa.types.is_floating(kind):
            distinct = pc.if_else(pc.is_nan(distinct), None, distinct)
            return pc.coalesce(_whole_numbers(distinct), pc.cast(distinct, pa.string()))
        if pa.types.is_timestamp(kind):  # whatever its unit and zone
            named = pc.cast(pc.cast(distinct, pa.timestamp("us"), safe=False), pa.string())
            return pc.replace_substring_regex(named, r"\.0+$", "")
        return pc.cast(distinct, pa.string())


def _whole_numbers(values: pa.Array) -> pa.Array:
    """Floats that are whole numbers as integers are written; null for the others.

    A gap makes float64 of a pandas column of integers, and 123456789012 would become 1.2e+11.
    """
    wide = pc.cast(values, pa.float64())
    whole = pc.and_(pc.equal(wide, pc.floor(wide)), pc.less(pc.abs(wide), 2.0**53))
    return pc.cast(pc.cast(pc.if_else(whole, wide, None), pa.int64()), pa.string())


def _truth(values: Sequence[str]) -> tuple[str, str]:
    """How true and false are written among the values: as words in any case, or as 1 and 0."""
    words = {value.lower(): value for value in values}
    return words.get("true", words.get("1", "true")), words.get("false", words.get("0", "false"))


def _without_zeros(names: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(names, r"^([+-]?\d+)\.0+$", r"\1")
