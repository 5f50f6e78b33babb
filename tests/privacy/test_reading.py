"""How a cell is read never depends on another row: not on its text, its type, or its being bad.

Each test sets two tables side by side that differ in one row, and compares how the other rows are
encoded and counted.  CSV records are in test_records.py, whole fits and drafts in test_bad_rows.py.
"""

import datetime
import decimal
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.privacy.cells import CELLS, COLUMNS, KINDS, SCHEMA, counts_of, objects, parts

from nacre.rows import Stream, TableEncoder, open_source
from nacre.schema import Categorical, Datetime, Integer, Real, Schema
from nacre.vault import Keys, Plan, Vault

STRANGERS = [
    *("x", 7, 2**70, 1.5, 0.3, None, float("nan"), b"\xff", (1, 2), "\ud800", "1.0", True),
    *(datetime.time(8, 30), datetime.time(8, 30, tzinfo=datetime.UTC), "08:30"),
    *(datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1, 0, 0, 0, 1), 10**400),
    *(pd.Timestamp("2024-01-01 00:00:00.000000001"), pd.Timestamp("2024-01-01", tz="UTC")),
    *(np.datetime64("NaT"), np.timedelta64("NaT"), np.float32("nan"), np.complex64("nan")),
]


KNOWN = {}


def read(series):
    """The rows of a pandas column read in every way, and how often each value is counted.

    Columns of several kinds become the same of Arrow, bit by bit: it need not be read again.
    """
    batches = open_source(pd.DataFrame({"x": series})).batches()
    (batch,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    written = pa.BufferOutputStream()
    with pa.ipc.new_stream(written, batch.schema) as file:
        file.write_batch(batch)
    if (key := written.getvalue().to_pybytes()) not in KNOWN:
        column = batch.column("x")
        KNOWN[key] = parts(pa.table(dict.fromkeys(COLUMNS, column))), counts_of(column)
    return KNOWN[key]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_one_strange_cell_changes_no_other(kind):
    compared, wrong = 0, []
    for name, cells in CELLS.items():
        cells = list(cells)
        alone, counted = read(objects(cells))  # as one stranger makes objects of a typed column
        for stranger in ([], *([each] for each in STRANGERS)):
            try:
                column = KINDS[kind](cells + stranger)
            except (TypeError, ValueError, OverflowError, pa.ArrowException):
                continue  # pandas itself cannot hold these together
            rows, counts = read(column)
            compared += 1
            moved = [abs(counts.get(k, 0) - counted.get(k, 0)) for k in {*counts, *counted}]
            if not np.array_equal(rows[: len(cells)], alone) or sum(moved) > len(stranger):
                wrong.append((name, *stranger))
    assert not wrong
    assert compared > 0.8 * len(CELLS) * len(STRANGERS)


STORED = {
    "whole": (
        pa.array([1, 2, None, 7]),
        [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.decimal128(25, 3)],
    ),
    "fractions": (
        pa.array([1.5, 0.25, None, 1234567.875]),
        [pa.float32(), pa.float64(), pa.decimal128(12, 4), pa.decimal128(20, 9)],
    ),
    "single": (pa.array([0.1, 1 / 3, 16777216.0, None], pa.float32()), [pa.float64()]),
    "text": (
        pa.array(["F", "M", None, "x"]),
        [pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view()],
    ),
    "long": (pa.array([2**60, 2**60 + 1, 10**11]), [pa.float64(), pa.decimal128(30, 2)]),
    "times of day": (
        pa.array([30600, 0, None], pa.time32("s")),
        [pa.time32("ms"), pa.time64("us"), pa.time64("ns")],
    ),
    "times": (
        pa.array([1704067200, -1, None], pa.timestamp("s")),
        [pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("ns", "UTC")],
    ),
}


def frames(column, folder):
    """One column, seven times, in all kinds of tables that can hold it."""
    table = pa.table(dict.fromkeys(COLUMNS, column))
    yield table
    yield pa.table(dict.fromkeys(COLUMNS, column.dictionary_encode()))
    if not (pa.types.is_float16(column.type) or pa.types.is_string_view(column.type)):
        yield pl.from_arrow(table)
    yield table.to_pandas(types_mapper=pd.ArrowDtype)
    pq.write_table(table, folder / "t.parquet")
    if all(SCHEMA.columns[name].accepts(column.type) for name in COLUMNS):
        yield folder / "t.parquet"  # a file's types are declared, so they are refused if wrong


@pytest.mark.parametrize("name", STORED)
def test_a_cell_means_the_same_however_its_column_is_stored(name, tmp_path):
    """A gap or a wide number changes the type of a column, so types must not matter."""
    first, others = STORED[name]
    expected = parts(pa.table(dict.fromkeys(COLUMNS, first)))
    counted = counts_of(first)
    for kind in (first.type, *others):
        column = first.cast(kind, safe=False)
        assert counts_of(column) == counted, kind
        for table in frames(column, tmp_path):
            assert np.array_equal(parts(table), expected), (kind, type(table))


TEXTS = [
    *("2024-01-01", "2024-01-01 10", "2024-01-01T10", "2024-01-01 10:30", "2024-01-01Z", "garbage"),
    *("", " ", "2024-02-30", "2024-01-01+01:00", "2024-01-01T10:00Z", "0001-01-01", "9999-12-31"),
    *(
        "1",
        "+1",
        "1.",
        ".5",
        "1e400",
        "-1e-400",
        "-nan",
        "nan(1)",
        "NaN",
        "inf",
        "-Infinity",
        "0x1",
    ),
    *(
        "1_0",
        "1e",
        "\0",
        "1\0",
        "\u0661",
        "true",
        "YES",
        "null",
        "<NA>",
        "M\u00fcller",
        "1,5",
        "1e5",
    ),
]


def test_a_text_is_read_alike_in_any_company():
    """Clean columns are parsed in one go, others cell by cell: both must agree."""
    rng = random.Random(0)
    alone = {
        text: parts(pa.table(dict.fromkeys(COLUMNS, pa.array([text])))).tolist() for text in TEXTS
    }
    for _ in range(200):
        drawn = rng.choices(TEXTS, k=rng.randint(2, 6))
        together = parts(pa.table(dict.fromkeys(COLUMNS, pa.array(drawn)))).tolist()
        assert together == [alone[text][0] for text in drawn], drawn


@pytest.mark.parametrize("kind", ["objects", "categories"])
@pytest.mark.parametrize("name", ["texts that are choices", "texts of another kind", "bytes"])
def test_text_is_what_it_holds(kind, name):
    schema = Schema({"x": Categorical(values=("F", "M"), other=True)})
    found = parts(pd.DataFrame({"x": KINDS[kind](CELLS[name])}), schema)
    assert found[:2, 1].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("extra", "kind"), [("a\0", pa.string()), ("a\0b", pa.string()), (b"\xff", pa.binary())]
)
def test_one_odd_cell_does_not_hide_a_frequent_value(extra, kind):
    cells = ["a"] * 1000 if kind == pa.string() else [b"a"] * 1000
    schema = Schema({"x": Categorical(values=("-",), other=True)})
    question = Keys(name="values", column="x", epsilon=0.9, delta=1e-7)
    stream = Stream(TableEncoder(schema), pa.table({"x": pa.array([*cells, extra], kind)}))
    vault = Vault(stream, Plan.of([question], epsilon=1, delta=1e-6))
    assert vault.keys(question) == ("a",)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "value",
    [
        np.datetime64("2000-01-01T10", "h"),
        np.datetime64("2000-01-01"),
        np.datetime64("12000-01-01", "s"),
        np.datetime64(2**62, "s"),
        pd.Timestamp("2000-01-01 00:00:00.000000500"),
        np.timedelta64(1, "D"),
        datetime.timedelta(days=1),
        datetime.datetime(1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=5))),
    ],
    ids=str,
)
def test_a_time_means_the_same_in_a_column_of_objects(value):
    moments = Schema({"x": Datetime(low="1990-01-01", high="2010-01-01", step="1s")})
    names = Schema({"x": Categorical(values=("2000-01-01 00:00:00",), other=True, nullable=True)})
    for schema in (moments, names):
        typed, objects = (
            schema.encode(next(open_source(pd.DataFrame({"x": cells}), schema).batches()))
            for cells in (pd.Series([value, value]), pd.Series([value, value, "w"], dtype=object))
        )
        for part in ("ticks", "codes", "valid"):
            one, other = getattr(typed, part), getattr(objects, part)[:2]
            assert np.array_equal(one, other), (part, one, other)


@pytest.mark.parametrize(
    "cell", [[1], {"a": 1}, datetime.timedelta(1), datetime.time(1)], ids=lambda c: type(c).__name__
)
@pytest.mark.parametrize("frame", [pa.table, pl.DataFrame])
def test_no_row_decides_whether_a_type_can_be_read(frame, cell):
    schema = Schema({"x": Integer(low=0, high=9, nullable=True)})
    gaps, more = (
        schema.encode(next(open_source(frame({"x": cells}), schema).batches()))
        for cells in ([None, None], [None, None, cell])
    )
    assert len(more) == 3 and more.valid[:2].all()
    assert gaps.valid.all() and np.array_equal(gaps.codes, more.codes[:2])


@pytest.mark.parametrize("frame", [pa.table, pl.DataFrame])
def test_the_scale_of_decimals_changes_no_text(frame):
    values = ("0.03", "0.35", "1.1", "7")
    schema = Schema({"x": Categorical(values=values, other=True)})
    cells = [decimal.Decimal(value).quantize(decimal.Decimal("0.01")) for value in values]
    for last in ("1.12", "1.123456789"):
        table = frame({"x": [*cells, decimal.Decimal(last)]})
        found = schema.encode(next(open_source(table, schema).batches()))
        assert found.codes[:4, 0].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("text", ["-nan", "+nan", "nan(7)", "NaN", "inf"])
def test_a_text_that_looks_like_no_number_means_the_same_beside_any_other(text):
    schema = Schema({"x": Integer(low=0, high=9, nullable=True)})
    alone, beside = (
        schema.check(pa.table({"x": pa.array(cells, pa.string())}))
        for cells in (["5", text], ["5", text, "NA"])
    )
    assert alone.ok == beside.ok


@pytest.mark.parametrize("strange", [decimal.Decimal("sNaN"), complex(1, 2), complex(1, 0)])
def test_a_strange_number_stops_nothing_and_changes_no_other(strange):
    schema = Schema({"x": Real(low=0, high=9, nullable=True)})
    cells = [0.5, 3, 7.25]
    plain = schema.encode(next(open_source(pd.DataFrame({"x": cells}), schema).batches()))
    for column in (pd.Series([*cells, strange], dtype=object), pd.Series([*cells, strange])):
        batch = next(open_source(pd.DataFrame({"x": column}), schema).batches())
        assert schema.encode(batch).ticks[:3].tolist() == plain.ticks.tolist()
