"""Encode and decode: exact where it must be, whatever Arrow type the cells come in."""

import datetime
import decimal
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.schema import (
    Boolean,
    Categorical,
    Datetime,
    Integer,
    Ordinal,
    Real,
    Schema,
    SchemaError,
)

LARGEST = 2**53 - 1
BLANKS = " \t\n\r\f\v"


def round_trip(column, cells: pa.Array) -> pa.Array:
    schema = Schema({"x": column})
    encoded = schema.encode(pa.table({"x": cells}))
    assert encoded.valid.all()
    assert (encoded.units() >= 0).all()
    assert (encoded.units() <= 1).all()
    return schema.decode(encoded)["x"].combine_chunks()


def encode_one(column, cells):
    encoded = Schema({"x": column}).encode(pa.table({"x": cells}))
    values = encoded.codes if encoded.codes.shape[1] else encoded.ticks
    return values[:, 0].tolist(), encoded.valid.tolist()


whole = st.integers(-LARGEST, LARGEST)


@settings(deadline=None)
@given(st.lists(st.none() | whole, min_size=1), st.sampled_from(["int64", "string", "dictionary"]))
def test_integers_are_exact(cells, kind):
    # The widest range there is: 2^54 ticks.
    column = Integer(low=-LARGEST, high=LARGEST, nullable=True)
    array = pa.array(cells, pa.int64())
    form = array.dictionary_encode() if kind == "dictionary" else array.cast(kind)
    assert round_trip(column, form).equals(array)


@settings(deadline=None)
@given(st.data(), st.integers(0, 15))
def test_decimals_are_exact(data, decimals):
    most = min(10**15, 10 ** (decimals + 6))
    units = data.draw(st.lists(st.integers(-most, most), min_size=1))
    exact = pa.array([float(decimal.Decimal(u).scaleb(-decimals)) for u in units])
    column = Real(low=-most / 10**decimals, high=most / 10**decimals, decimals=decimals)
    assert round_trip(column, exact).equals(exact)
    assert round_trip(column, exact.cast(pa.string())).equals(exact)


@settings(deadline=None)
@given(st.data(), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_reals_are_within_a_millionth_of_the_range(data, low, width):
    column = Real(low=low, high=low + width)
    cells = data.draw(st.lists(st.floats(low, low + width), min_size=1))
    back = round_trip(column, pa.array(cells)).to_numpy()
    assert np.abs(back - cells).max() <= 1e-6 * width
    assert back.min() >= column.low
    assert back.max() <= column.high


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=8).map(
    lambda s: s.strip(BLANKS)
)
lists = st.lists(texts.filter(bool), min_size=1, max_size=8, unique=True)


@settings(deadline=None)
@given(st.data(), lists, st.sampled_from(["categorical", "ordinal"]))
def test_categories_are_exact(data, values, kind):
    column = (
        Ordinal(values=values, nullable=True)
        if kind == "ordinal"
        else Categorical(values=values, other=data.draw(st.booleans()), nullable=True)
    )
    cells = data.draw(st.lists(st.none() | st.sampled_from(values), min_size=1))
    array = pa.array(cells, pa.string())
    forms = [array, array.cast(pa.large_string()), array.dictionary_encode(), array.cast("binary")]
    for form in forms:
        assert round_trip(column, form).equals(array)


@settings(deadline=None)
@given(st.lists(st.none() | st.booleans(), min_size=1))
def test_booleans_are_exact(cells):
    array = pa.array(cells, pa.bool_())
    for form in (array, array.cast("string"), array.cast("int8"), array.cast("float64")):
        assert round_trip(Boolean(nullable=True), form).equals(array)


@settings(deadline=None)
@given(st.lists(st.none() | st.dates(), min_size=1))
def test_dates_are_exact(cells):
    column = Datetime(low="0001-01-01", high="9999-12-31", nullable=True)
    array = pa.array(cells, pa.date32())
    forms = [array, array.cast("string"), array.cast(pa.timestamp("s")), array.cast(pa.date64())]
    for form in forms:
        assert round_trip(column, form).equals(array)


@settings(deadline=None)
@given(st.lists(st.none() | st.datetimes(), min_size=1), st.sampled_from(["1us", "1s", "15min"]))
def test_times_are_exact_in_steps(cells, step):
    length = {"1us": 1, "1s": 10**6, "15min": 900 * 10**6}[step]
    first = np.datetime64("0001-01-01", "us").astype(np.int64)
    column = Datetime(low="0001-01-01", high="9999-12-31", step=step, nullable=True)
    array = pa.array(cells, pa.timestamp("us"))
    floored = [
        None if cell.value is None else int(first + (cell.value - first) // length * length)
        for cell in array
    ]
    for form in (array, array.cast("string"), pa.array(cells, pa.timestamp("us", "UTC"))):
        assert round_trip(column, form).cast("int64").to_pylist() == floored


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (Integer(low=0, high=1), pa.int64()),
        (Real(low=0, high=1), pa.float64()),
        (Categorical(values=["0", "1"]), pa.string()),
        (Ordinal(values=["0", "1"]), pa.string()),
        (Boolean(), pa.bool_()),
        (Datetime(low="2024-01-01", high="2024-01-03"), pa.date32()),
        (Datetime(low="2024-01-01T12:00", high="2024-01-03"), pa.timestamp("us")),
        (Datetime(low="2024-01-01", high="2024-01-03", step="1h"), pa.timestamp("us")),
    ],
)
def test_decoded_types(column, kind):
    schema = Schema({"x": column})
    zero = schema.layout.encoded(
        ticks=np.zeros((2, len(schema.layout.numbers))),
        codes=np.zeros((2, len(schema.layout.codes))),
    )
    assert schema.decode(zero)["x"].type == kind
    assert schema.decode(zero[:0])["x"].type == kind


@pytest.mark.parametrize(
    ("column", "cells", "values", "valid"),
    [
        # Numbers: clamped, rounded, or the row counts as zero.
        (
            Integer(low=0, high=9),
            ["3", " 4 ", "1e1", "99", "-inf", "2.6", "x", "", None, "NaN", "0x1"],
            [3, 4, 9, 9, 0, 3, 0, 0, 0, 0, 0],
            [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0],
        ),
        (
            Integer(low=0, high=9),
            [1.0, np.inf, -1e308, np.nan, None],
            [1, 9, 0, 0, 0],
            [1, 1, 1, 0, 0],
        ),
        (Integer(low=0, high=9), pa.array([2**64 - 1, 5], pa.uint64()), [9, 5], [1, 1]),
        (Integer(low=0, high=9), pa.array([-(2**63), 2**63 - 1]), [0, 9], [1, 1]),
        (Integer(low=0, high=9), [True, False], [1, 0], [1, 1]),
        (Integer(low=0, high=9), [decimal.Decimal("7.00")], [7], [1]),
        (Real(low=0, high=1, decimals=1), [0.1, 0.25, 7.0, 1e308], [1, 2, 10, 10], [1, 1, 1, 1]),
        (Real(low=0, high=1, decimals=1), pa.array([0.1, 1.0], pa.float32()), [1, 10], [1, 1]),
        # Categories: by text; whole numbers without their zeros; blanks around do not count.
        (Categorical(values=["1", "2"]), [1, 2, 3], [0, 1, 0], [1, 1, 0]),
        (Categorical(values=["1", "2"]), [1.0, 2.0, None, 1.5], [0, 1, 0, 0], [1, 1, 0, 0]),
        (Categorical(values=["1", "2"]), ["1.0", " 2", "2.00", "1.5"], [0, 1, 1, 0], [1, 1, 1, 0]),
        (Categorical(values=["1.0", "2.0"]), [1, 2], [0, 1], [1, 1]),
        (Categorical(values=["1.0", "1"]), ["1", "1.0"], [1, 0], [1, 1]),
        (Categorical(values=["0.1", "x"]), pa.array([0.1], pa.float32()), [0], [1]),
        (Categorical(values=["a"], other=True), ["a", "b", "NA"], [0, 1, 1], [1, 1, 1]),
        (Categorical(values=["a"], other=True), ["", None], [0, 0], [0, 0]),
        (
            Categorical(values=["a"], nullable=True),
            ["a", "", None, "b"],
            [0, 1, 1, 0],
            [1, 1, 1, 0],
        ),
        (Categorical(values=["a"], other=True, nullable=True), ["b", None], [1, 2], [1, 1]),
        (Categorical(values=["True", "False"]), [True, False], [0, 1], [1, 1]),
        (Categorical(values=["0", "1"]), [True, False], [1, 0], [1, 1]),
        (Categorical(values=["2024-01-01"]), [datetime.date(2024, 1, 1)], [0], [1]),
        (Ordinal(values=["lo", "hi"]), pa.array(["hi", "?"]).dictionary_encode(), [1, 0], [1, 0]),
        (
            Boolean(),
            ["true", "FALSE", "Yes", "no", "1", "0", "1.0", "t", "maybe", "", "2"],
            [1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0],
            [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0],
        ),
        (Boolean(), [1, 0, 2], [1, 0, 0], [1, 1, 0]),
        (Boolean(nullable=True), ["yes", "NA", None, "maybe"], [1, 2, 2, 2], [1, 1, 1, 1]),
        # Times: floored to the step, in UTC; 30 February is no date.
        (
            Datetime(low="2024-01-01", high="2024-12-31"),
            [
                "2024-01-02",
                "2024-01-02 23:59",
                "2024-02-30",
                "soon",
                "1999-01-01",
                "2024-12-31T23:59",
            ],
            [1, 1, 0, 0, 0, 365],
            [1, 1, 0, 0, 1, 1],
        ),
        (
            Datetime(low="2024-01-01", high="2024-01-01", step="1h"),
            ["2024-01-01T02:30+02:00", "2024-01-01T05:00:00.123456789Z", "2024-01-01T23:00", "x"],
            [0, 5, 23, 0],
            [1, 1, 1, 0],
        ),
        (
            Datetime(low="2024-01-01", high="2024-01-03"),
            pa.array([2**62, -(2**62)], pa.timestamp("s")),  # years that have no text
            [0, 0],
            [0, 0],
        ),
    ],
)
def test_cells(column, cells, values, valid):
    assert encode_one(column, cells) == (values, [bool(v) for v in valid])


@pytest.mark.parametrize(
    "column",
    [
        Integer(low=0, high=9, nullable=True),
        Real(low=0, high=9, nullable=True),
        Datetime(low="2024-01-01", high="2024-02-01", nullable=True),
    ],
)
@pytest.mark.parametrize("cells", [[None, None], ["", "?"], pa.nulls(2)])
def test_gaps_in_nullable_numbers(column, cells):
    if not isinstance(cells, pa.Array):
        cells = pa.array(cells, pa.string())
    schema = Schema({"x": column})
    encoded = schema.encode(pa.table({"x": cells}))
    assert encoded.codes.tolist() == [[1], [1]]
    assert encoded.ticks.tolist() == [[0], [0]]
    assert encoded.valid.all()
    assert schema.decode(encoded)["x"].to_pylist() == [None, None]


def test_other_decodes_to_a_name_that_encodes_to_other():
    schema = Schema({"x": Categorical(values=["other", "b"], other=True)})
    encoded = schema.encode(pa.table({"x": ["zzz", "other"]}))
    back = schema.decode(encoded)
    assert back["x"].to_pylist() == ["Other", "other"]
    assert schema.encode(back).codes.tolist() == encoded.codes.tolist()


def test_chunks_and_dictionaries_do_not_matter():
    schema = Schema({"x": Categorical(values=["a", "b", "c"]), "n": Integer(low=0, high=9)})
    first = pa.record_batch({"x": pa.array(["a", "b"]).dictionary_encode(), "n": [1, 2]})
    second = pa.record_batch({"x": pa.array(["c", "a"]).dictionary_encode(), "n": [3, 4]})
    table = pa.Table.from_batches([first, second, first.slice(0, 0)])
    assert schema.encode(table).codes[:, 0].tolist() == [0, 1, 2, 0]
    assert schema.encode(table.slice(1, 2)).codes[:, 0].tolist() == [1, 2]
    assert schema.encode(second.slice(1)).ticks[:, 0].tolist() == [4]
    assert len(schema.encode(table.slice(0, 0))) == 0


def test_parts_with_other_dictionaries_are_read_by_their_own():
    schema = Schema({"x": Categorical(values=("a", "b", "secret"))})
    for cells in (["secret", "a"], ["secret", "a"], ["a", "b"], ["b", "a"]):
        codes = schema.encode(pa.table({"x": pa.array(cells).dictionary_encode()})).codes
        assert codes[:, 0].tolist() == [("a", "b", "secret").index(cell) for cell in cells]
    again = pickle.loads(pickle.dumps(schema.columns["x"]))
    assert again._lookup._last is None, "cells that were looked up go nowhere else"


@pytest.mark.parametrize(
    "cells",
    [
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["a", " b", None])),
        pc.run_end_encode(pa.array(["a", "b", None, None])),
    ],
)
def test_coded_arrays(cells):
    assert encode_one(Categorical(values=["a", "b"], nullable=True), cells)[0] == [0, 1, 2, 2]


def test_columns_are_found_by_name():
    schema = Schema({"a": Integer(low=0, high=9), "b": Boolean()})
    table = pa.table({"b": [True], "extra": ["?"], "a": [5]})
    assert schema.decode(schema.encode(table)).equals(pa.table({"a": [5], "b": [True]}))


def test_missing_and_unreadable_columns_are_named():
    schema = Schema({"a": Boolean(), "b": Integer(low=0, high=1)})
    with pytest.raises(SchemaError, match=r"lacks 1 column of the schema: 'b'\. It has 'a', 'c'"):
        schema.encode(pa.table({"a": [True], "c": [1]}))
    with pytest.raises(SchemaError, match=r"'b': its type list<.*> cannot be read as integer"):
        schema.encode(pa.table({"a": [True], "b": [[1]]}))
    with pytest.raises(SchemaError, match="'b': its type date32.* cannot be read as integer"):
        schema.encode(pa.table({"a": [True], "b": [datetime.date(2024, 1, 1)]}))
    twice = pa.Table.from_arrays([pa.array([True])] * 2 + [pa.array([1])], ["a", "a", "b"])
    with pytest.raises(SchemaError, match="'a': 2 columns have this name"):
        schema.encode(twice)


def test_ten_thousand_categories_of_many_rows():
    values = [f"value {i}" for i in range(10_000)]
    places = np.random.default_rng(0).integers(0, 10_000, 200_000)
    schema = Schema({"x": Categorical(values=values)})
    encoded = schema.encode(pa.table({"x": pa.array(np.array(values)[places])}))
    assert np.array_equal(encoded.codes[:, 0], places)


@pytest.mark.parametrize(
    ("column", "array"),
    [
        (Integer(low=-5, high=90), pa.array([-5, 0, 17, 90], pa.int8())),
        (Integer(low=0, high=2**53 - 1, step=1), pa.array([0, 2**53 - 1], pa.uint64())),
        (Integer(low=0, high=100, step=25), pa.array([0, 24, 13, 100], pa.int64())),
        (Real(low=-6, high=6), pa.array([-6.0, -0.1, 0.3, 6.0], pa.float32())),
        (Real(low=0, high=1, decimals=2), pa.array([0.0, 0.015, 0.125, 1.0], pa.float64())),
        (Real(low=0, high=10, step=0.25), pa.array([0, 3, 10], pa.int32())),
        (Categorical(values=tuple("abc")), pa.array(["a", "c", "b"])),
    ],
)
def test_a_cell_means_the_same_in_a_clean_column_and_beside_a_gap(column, array):
    clean = column.read(array)
    gappy = column.read(pa.concat_arrays([array, pa.nulls(1, array.type)]))
    n = len(array)
    np.testing.assert_array_equal(clean.values, gappy.values[:n])
    assert clean.values.dtype == gappy.values.dtype
    np.testing.assert_array_equal(clean.missing, gappy.missing[:n])
    for faults, others in ((clean.refused, gappy.refused), (clean.changed, gappy.changed)):
        assert faults.keys() == others.keys()
        for reason, where in faults.items():
            np.testing.assert_array_equal(where, others[reason][:n])
