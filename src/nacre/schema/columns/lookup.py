"""Places of cells in a public list of values, whatever Arrow type the cells have."""

from __future__ import annotations

import collections
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nacre.schema.columns import cells
from nacre.schema.columns.names import cell_names, single_names

NOT_LISTED, NOTHING = -1, -2  # places of cells that are not in the list, or empty
FEW = 1000  # distinct cells that are remembered until the next part of a table


class Lookup:
    """Finds the place of each cell in a list of values, through the distinct cells only."""

    def __init__(self, values: Sequence[str], *, words: bool = False) -> None:
        # Words for true and false are known in any case, and so are those for "no value". In a
        # list of values "NA" may be Namibia: there only an empty cell is missing.
        self.words = words
        self.values = pa.array(values, pa.string())
        # 1, 1.0 and "1.0" are all "1"; tables that once had a gap in a column write 1.0.
        self.whole = _without_zeros(self.values)
        self.rounded = _rounded(values)
        self.truth = _truth(values)
        self._last: tuple[pa.Array, np.ndarray] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """All but the cells that were looked up: they go nowhere else."""
        return {**self.__dict__, "_last": None}

    def find(self, array: pa.Array) -> np.ndarray:
        """The place of each cell (int32), NOT_LISTED or NOTHING."""
        if pa.types.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        if pa.types.is_decimal(array.type):
            array = cell_names(array)
        if not pa.types.is_dictionary(array.type):
            array = pc.dictionary_encode(array)
        places = self._listed(array.dictionary)
        indices = array.indices
        if indices.null_count:
            indices = pc.fill_null(pc.cast(indices, pa.int64()), len(places) - 1)
        return places.take(indices.to_numpy(zero_copy_only=False))

    def _listed(self, distinct: pa.Array) -> np.ndarray:
        """The place of each of the distinct cells, then NOTHING; parts of a table have the same."""
        last = self._last
        if last is not None and last[0].equals(distinct):
            return last[1]
        places = np.append(self._places(distinct), np.int32(NOTHING))
        text = cells.is_text(distinct.type)  # of numbers, 0 and -0 would be the same
        if text and len(distinct) <= FEW and (places[:-1] >= 0).all():  # and public, all of them
            self._last = distinct, places
        return places

    def _places(self, distinct: pa.Array) -> np.ndarray:
        names = cell_names(distinct)
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
        places = pc.coalesce(places, pc.index_in(names, value_set=self.rounded))
        # A float32 has the text of a float64: 0.10000000149011612 for what is listed as 0.1.
        places = pc.coalesce(places, pc.index_in(single_names(names), value_set=self.values))
        # Booleans are read as these two words, however the list writes them.
        lower = pc.ascii_lower(names)
        for word, written in zip(("true", "false"), self.truth, strict=True):
            meant = pc.if_else(pc.equal(lower, word), written, None)
            places = pc.coalesce(places, pc.index_in(pc.cast(meant, pa.string()), self.values))
        places = pc.if_else(nothing, NOTHING, pc.fill_null(places, NOT_LISTED))
        return pc.cast(places, pa.int32())


def _truth(values: Sequence[str]) -> tuple[str, str]:
    """How true and false are written among the values: as words in any case, or as 1 and 0."""
    words = {value.lower(): value for value in values}
    return words.get("true", words.get("1", "true")), words.get("false", words.get("0", "false"))


def _rounded(values: Sequence[str]) -> pa.Array:
    """How numbers are written of which float64 cannot hold all digits; null if two look alike."""
    large = [float(value) if re.fullmatch(r"[+-]?\d{16,300}", value) else None for value in values]
    names = cell_names(pa.array(large, pa.float64())).to_pylist()
    times = collections.Counter(names)
    return pa.array([name if times[name] == 1 else None for name in names], pa.string())


def _without_zeros(names: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(names, r"^([+-]?\d+)\.0+$", r"\1")
