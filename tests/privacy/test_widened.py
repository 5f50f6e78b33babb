"""One row that widens a frame's types changes no other row, stops nothing and warns of nothing."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.privacy.cells import COLUMNS, parts

from nacre.schema import Categorical, Real, Schema


@pytest.mark.parametrize(
    ("cells", "strangers"),
    [
        ([1, 2, None], (2**70, {1})),
        ([1.5, 1e300, None], ({1},)),
        ([True, False], ({1},)),
        ([datetime.timedelta(1)], ({1},)),
        ([[1], None], ([2**70],)),
    ],
)
def test_one_strange_row_changes_no_other_of_a_polars_frame(cells, strangers):
    """It makes 128-bit numbers of the column, which Arrow has not, or objects."""
    alone = parts(pl.DataFrame(dict.fromkeys(COLUMNS, cells)))
    for strange in strangers:
        column = pl.Series([*cells, strange], strict=False)
        assert column.dtype in (pl.Int128, pl.Object, pl.List(pl.Int128))
        assert np.array_equal(parts(pl.DataFrame(dict.fromkeys(COLUMNS, column)))[:-1], alone)


@pytest.mark.parametrize(("one", "other"), [([1, 2], [1.5]), ({"a": 1}, {"b": 2})])
def test_no_row_decides_the_text_of_nested_cells(one, other):
    few, more = (
        parts(pa.table(dict.fromkeys(COLUMNS, cells)).to_pandas(types_mapper=pd.ArrowDtype))
        for cells in (pa.array([one]), pa.array([one, other]))
    )
    plain = parts(pd.DataFrame(dict.fromkeys(COLUMNS, pd.Series([one, other], dtype=object))))
    assert np.array_equal(few, more[:1]) and np.array_equal(more, plain)
    one_of = Schema({"x": Categorical(values=(str(one),), other=True)})
    assert parts(pd.DataFrame({"x": [one]}), one_of)[0, 1] == 1  # it is not in any list


def test_one_more_value_stops_no_frame_of_dictionaries():
    """Two parts of a column, each with its own dictionary, whose places together need 16 bits."""
    short = pa.dictionary(pa.int8(), pa.string())
    schema = Schema({"x": Categorical(values=("0", "100"), other=True)})
    for most in (127, 128, 129):
        halves = [[str(n) for n in numbers] for numbers in (range(100), range(100, most))]
        column = pa.chunked_array(
            [pa.array(half).dictionary_encode().cast(short) for half in halves]
        )
        found = parts(pd.DataFrame({"x": pd.Series(pd.arrays.ArrowExtensionArray(column))}), schema)
        assert found[:, 1].tolist() == [0, *[2] * 99, 1, *[2] * (most - 101)]


def test_no_time_is_too_late_for_a_category():
    last = pd.Series([pd.Timestamp("2024-01-01"), pd.Timestamp.max]).dt.tz_localize("UTC")
    late = last.dt.tz_convert("Asia/Tokyo").astype("category")  # where that is no time any more
    few, more = (parts(pd.DataFrame(dict.fromkeys(COLUMNS, part))) for part in (late[:1], late))
    assert np.array_equal(few, more[:1])


@pytest.mark.parametrize("frame", [pa.table, pl.DataFrame, pd.DataFrame])
def test_no_number_causes_a_warning(frame):
    """Of NumPy: about a number too wide for float32, or a NaN that signals."""
    schema = Schema(
        {
            "single": Real(low=-1e300, high=1e300, nullable=True),
            "double": Real(low=0, high=9, decimals=2, nullable=True),
        }
    )
    signals = np.array([0x7FF0000000000001], np.uint64).view(np.float64)
    for odd, other in ((np.inf, 1e308), (np.nan, signals[0])):
        single = np.array([1, odd], np.float32)
        double = np.array([1, 0], np.float64)
        double.view(np.uint64)[1] = np.array([other]).view(np.uint64)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = parts(frame({"single": single, "double": double}), schema)
        alone = parts(frame({"single": single[:1], "double": double[:1]}), schema)
        assert np.array_equal(found[:1], alone)


@pytest.mark.parametrize("nest", [pa.struct, pa.list_, pa.run_end_encoded])
@pytest.mark.parametrize("wanted", ["x", "y"], ids=["read", "not read"])
def test_one_more_value_stops_no_frame_of_columns_in_parts(nest, wanted):
    """Parts of a column that together are too long for one: of dictionaries, or of run ends."""

    def part(numbers):
        small = pa.array([str(n) for n in numbers]).dictionary_encode()
        small = small.cast(pa.dictionary(pa.int8(), pa.string()))
        if nest is pa.struct:
            return pa.StructArray.from_arrays([small], ["d"])
        if nest is pa.list_:
            return pa.ListArray.from_arrays(np.arange(len(numbers) + 1, dtype=np.int32), small)
        return pa.RunEndEncodedArray.from_arrays(
            pa.array([32_767 - 100 + len(numbers)], pa.int16()), pa.array(["0"])
        )

    schema = Schema({wanted: Categorical(values=("0", "100"), other=True, nullable=True)})
    for most in (127, 128, 200):
        column = pa.chunked_array([part(range(100)), part(range(100, most))])
        held = pd.Series(pd.arrays.ArrowExtensionArray(column))
        assert len(parts(pd.DataFrame({"x": held, "y": "0"}), schema)) == len(column)


def test_an_object_that_cannot_tell_what_it_is_stops_nothing():
    class Lost:
        @property
        def __class__(self):
            raise ReferenceError("private")

    schema = Schema({"x": Categorical(values=("a",), other=True, nullable=True)})
    cells = ["a", 1, Lost()]
    for column in (pl.Series(cells, dtype=pl.Object), pd.Series(cells, dtype=object)):
        frame = pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
        assert parts(frame({"x": column}), schema)[:2, 1].tolist() == [0, 1]
