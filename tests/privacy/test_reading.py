"""How a cell is read never depends on another row: not on its text, its type, or its being bad.

Each test sets two tables side by side that differ in one row, holds the noise fixed, and compares
all that comes out: encoded rows, sums before noise, counts of values, types, warnings, files.
"""

import dataclasses
import datetime
import decimal
import enum
import random
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.archive import read as read_archive
from nacre.draft import private_draft
from nacre.fit import fit
from nacre.methods.merf import MERF
from nacre.model import load
from nacre.rows import Stream, TableEncoder, csv, open_source
from nacre.schema import Boolean, Categorical, Datetime, Integer, Real, Schema, SchemaError
from nacre.vault import Adjacency, Keys, Plan, Release, Vault
from nacre.vault.doors import keys as keys_module
from nacre.vault.doors import sum as sum_door

QUICK = MERF(frequencies=8, steps=2, components=2)
VALUES = (
    *("F", "M", "1", "1.0", "2", "1.5", "0.1", "123456789012.5", "1e-05", "true"),
    *("2024-01-01 00:00:00", "2024-01-01", str(10**11), str(2**60), "(0, 1]"),
)
# Every cell is read in each of these ways.
COLUMNS = {
    "list": Categorical(values=VALUES, other=True),
    "closed": Categorical(values=VALUES),
    "integer": Integer(low=0, high=9),
    "real": Real(low=0, high=9, nullable=True),
    "boolean": Boolean(),
    "datetime": Datetime(low="2000-01-01", high="2024-12-31", step="1h"),
}
SCHEMA = Schema(COLUMNS)


class Sex(str, enum.Enum):  # noqa: UP042 - its str() is "Sex.F"
    F = "F"
    M = "M"


class Loud(str):
    def __str__(self):
        return "LOUD"

    def encode(self, *_):
        return b"LOUD"


class Count(int, enum.Enum):
    ONE = 1
    TWO = 2


CELLS = {
    "true and false": [True, False],
    "decimals": [decimal.Decimal("1.10"), decimal.Decimal("2.20")],
    "bytes": [b"F", b"M", b"\xff"],
    "bytes that change": [bytearray(b"F"), memoryview(b"M")],
    "dates": [datetime.date(2024, 1, 1), "b"],
    "only dates": [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)],
    "texts": ["F", "M", "1.0", " 2 "],
    "texts that are choices": [Sex.F, Sex.M],
    "texts of another kind": [Loud("F"), np.str_("M")],
    "numbers that are choices": [Count.ONE, Count.TWO],
    "whole numbers": [1, 2],
    "long numbers": [10**11, 10**15 + 1, 2**60, 2**60 + 1, -(2**53)],
    "small numbers": [np.int8(1), np.float32(2)],
    "single precision": np.array([0.1, 1.5, 1e10, 1 / 3], np.float32),
    "floats": [1.0, 2.0],
    "fractions": [1.5, 123456789012.5, 1e-5, 1e300],
    "times": [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, 5, 0, 0, 500)],
    "times of old": [pd.Timestamp("1969-12-31 23:59:59.999999999"), pd.Timestamp("1960-01-01")],
    "times in Tokyo": [pd.Timestamp("2024-01-01", tz="Asia/Tokyo")] * 2,
    "lengths of time": [pd.Timedelta("1h"), pd.Timedelta("2h")],
    "ranges": [pd.Interval(0, 1), pd.Interval(1, 2)],
    "lists": [[1], (1, 2)],
    "gaps": ["F", None, float("nan")],
}
STRANGERS = [
    *("x", 7, 2**70, 1.5, 0.3, None, float("nan"), b"\xff", (1, 2), "\ud800", "1.0", True),
    *(datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1, 0, 0, 0, 1), 10**400),
    *(pd.Timestamp("2024-01-01 00:00:00.000000001"), pd.Timestamp("2024-01-01", tz="UTC")),
]


def objects(cells):
    return pd.Series(list(cells), dtype=object)


KINDS = {
    "objects": objects,
    "inferred": lambda cells: pd.Series(list(cells)),
    "concatenated": lambda cells: pd.concat(
        [pd.Series(cells[:-1]), pd.Series(cells[-1:])] if len(cells) else [], ignore_index=True
    ),
    "categories": lambda cells: objects(cells).astype("category"),
    "converted": lambda cells: objects(cells).convert_dtypes(),
    "pyarrow": lambda cells: objects(cells).convert_dtypes(dtype_backend="pyarrow"),
}


def parts(data, schema=SCHEMA):
    """The encoded rows of a table as one matrix: whether it counts, then ticks and codes."""
    found = [schema.encode(batch) for batch in open_source(data, schema).batches()]
    return np.concatenate([np.column_stack([e.valid, e.ticks, e.codes]) for e in found])


def read(series):
    """The rows of a pandas column read in every way, and how often each value is counted."""
    (batch,) = open_source(pd.DataFrame({"x": series})).batches()
    column = batch.column("x")
    return parts(pa.table(dict.fromkeys(COLUMNS, column))), counts_of(column)


def counts_of(column):
    """What the discovery of values counts, before noise."""
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        answer = lambda counts: seen.append(counts) or []  # noqa: E731
        patch.setattr(keys_module, "_calibrated", lambda *_: answer)
        question = Keys(name="x", column="x", epsilon=1.0, delta=1e-6)
        stream = SimpleNamespace(
            source=SimpleNamespace(batches=lambda: [pa.RecordBatch.from_arrays([column], ["x"])])
        )
        release = question.release(1.0, Adjacency.ADD_REMOVE)
        keys_module.answer(question, release, stream, lambda: None)
    return seen[0]


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
    "times": (
        pa.array([1704067200, -1, None], pa.timestamp("s")),
        [pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("ns", "UTC")],
    ),
}


def frames(column, folder):
    """One column, six times, in all kinds of tables that can hold it."""
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


# CSV: a row is a parsed record.

PIECES = ("a", "7", '"q"', '"x,y"', '"two\nlines"', '5" pipe', "", "\u00fc")


def record(rng):
    return ",".join(rng.choice(PIECES) for _ in range(2)).encode()


BROKEN = [
    b"1,2,3",
    b"1",
    b"\xff,\xe4",
    b"\xe4,1,\xff",
    b"\0,\0",
    b'"a""b","c\r\nd"',
    b"x" * 300 + b",",
]


def rows_of(path, faults=None):
    return [
        row
        for batch in open_source(path).batches(faults)
        for row in zip(*batch.to_pydict().values(), strict=True)
    ]


def test_one_csv_record_changes_no_other(tmp_path, monkeypatch):
    rng, path = random.Random(0), tmp_path / "t.csv"
    for attempt in range(150):
        # Blocks so small that records and their quotes lie across their ends.
        monkeypatch.setattr(csv, "BLOCK", rng.choice([1, 5, 16, 1 << 22]))
        good = [record(rng) for _ in range(rng.randrange(12))]
        place, odd = rng.randrange(len(good) + 1), BROKEN[attempt % len(BROKEN)]
        path.write_bytes(b"\n".join([b"p,q", *good, b""]))
        before = rows_of(path)
        path.write_bytes(b"\n".join([b"p,q", *good[:place], odd, *good[place:], b""]))
        after = rows_of(path, faults := csv.Faults())
        counted = len(after) - len(before)
        at = len(rows_of_text(path, good[:place]))
        assert counted == 1 - faults.records
        assert after[:at] + after[at + counted :] == before, odd


def rows_of_text(path, lines):
    beside = path.with_name("part.csv")
    beside.write_bytes(b"\n".join([b"p,q", *lines, b""]))
    return rows_of(beside)


def test_a_csv_header_is_read_without_the_rows(tmp_path):
    path = tmp_path / "t.csv"
    for body in (b"", b"1,2,3\n", b"\xff\n", b'"', b"\n\n", b'1,"' + b"x" * (1 << 23)):
        path.write_bytes(b"p,q\n" + body)
        assert open_source(path).columns == ("p", "q")
        list(open_source(path).batches())  # nothing stops here either
    assert rows_of(path) == [("1", "x" * (1 << 23))]


# Whole fits and drafts, without noise.

PEOPLE = Schema(
    {
        "age": Integer(low=0, high=99),
        "wage": Real(low=0, high=9),
        "job": Categorical(values=("1", "2", "x")),
        "in": Boolean(),
        "seen": Datetime(low="2000-01-01", high="2024-12-31"),
    }
)
ROW = {"age": 30, "wage": 1.5, "job": 1, "in": True, "seen": pd.Timestamp("2020-01-01")}
HOSTILE = [  # rows that count as nothing
    dict.fromkeys(ROW, None),
    ROW | {"age": "thirty"},
    {"age": "x", "wage": "y", "job": "x", "in": "no", "seen": "never"},
    ROW | {"wage": (1, 2), "job": 2**70},
    ROW | {"seen": pd.NaT, "in": 7, "job": 1.5},
]


def observed(call, patch):
    """What a call returns, the sums that it puts noise on with their scales, and its warnings."""
    sums = []
    patch.setattr(sum_door, "add_discrete_gaussian", lambda s, scale: sums.append((s, scale)) or s)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        returned = call()
    return returned, sums, sorted(str(each.message) for each in said)


def tables(rows, folder, extra=()):
    """The same rows as everything that can be read; extra lines for the CSV file."""
    frame = pd.DataFrame(rows)
    yield frame
    path = folder / "t.csv"
    text = pd.DataFrame(rows, dtype=object).to_csv(index=False).encode()
    path.write_bytes(text + b"\n".join([*extra, b""]))
    yield path


@pytest.mark.filterwarnings("ignore")
def test_bad_rows_change_nothing_of_a_fit(tmp_path, monkeypatch):
    """Rows that count as nothing leave the model file as it is, to the last bit of its arrays."""

    def trace(table):
        model, sums, said = observed(
            lambda: fit(
                table, PEOPLE, method=QUICK, epsilon=1, delta=1e-6, bad_rows="zero", seed=0
            ),
            monkeypatch,
        )
        model.save(tmp_path / "m.nacre")
        document, arrays = read_archive(tmp_path / "m.nacre")
        document.pop("kind")
        arrays = {name: array.tolist() for name, array in arrays.items()}
        return model, (document, arrays, said, [(s.tolist(), scale) for s, scale in sums])

    first, expected = trace(pd.DataFrame([ROW] * 20))
    assert first.encoder.types is None
    lines = [b"1,2", b"\xff\xe4,1,2,3,4", b"a,b,c,d,e,f"]
    for table in tables([ROW] * 20 + HOSTILE, tmp_path, lines):
        model, found = trace(table)
        assert found == expected
        if model.kind == first.kind:
            assert model.sample(9, seed=0).equals(first.sample(9, seed=0))


TYPES = {
    "age": "integer",
    "wage": "real",
    "job": "categorical",
    "in": "boolean",
    "seen": "datetime",
}


@pytest.mark.filterwarnings("ignore")
def test_a_row_does_to_a_private_draft_what_its_price_allows(tmp_path, monkeypatch):
    counted = []
    monkeypatch.setattr(
        keys_module,
        "_calibrated",
        lambda *_: lambda counts: counted.append(counts) or [k for k in counts if counts[k] > 100],
    )

    def draft(table):
        return observed(
            lambda: private_draft(table, epsilon=2, delta=1e-6, types=TYPES), monkeypatch
        )

    old = draft(pd.DataFrame([ROW] * 400))
    for row in (HOSTILE[2], ROW | {"age": 2.0**60, "job": "rare", "wage": None}):
        for table in tables([ROW] * 400 + [row], tmp_path):
            schema, sums, said = draft(table)
            assert schema.to_dict() == old[0].to_dict()
            assert said == old[2]
            (one, scale), (other, same) = *old[1], *sums
            assert scale == same
            (release,) = (r for r in schema.releases if r["mechanism"] == "gaussian")
            limit = scale * release["sensitivity"] / release["noise"]
            assert np.linalg.norm((one - other).astype(float)) <= limit * (1 + 1e-9)
    assert {sum(counts.values()) for counts in counted} <= {400, 401}
    assert all(counts["1"] in (400, 401) for counts in counted)


def test_a_private_draft_asks_for_types_that_rows_may_have_decided(tmp_path):
    table = pa.table({"age": [1, 2], "job": ["a", "b"]})
    path = tmp_path / "t.csv"
    path.write_text("age,job\n1,a\n")
    for data in (table, table.to_pandas(), pl.from_arrow(table), path):
        with pytest.raises(SchemaError) as caught:
            private_draft(data, epsilon=1, delta=1e-6)
        for words in ("'age', 'job'", "types={'age': 'integer'}", "--types", "--drop job"):
            assert words in str(caught.value)
        with pytest.raises(SchemaError, match="type of 'job' is not known"):
            private_draft(data, epsilon=1, delta=1e-6, types={"age": "integer"})


def test_a_model_tells_no_type_but_those_that_are_stated(tmp_path):
    schema = Schema({"x": Integer(low=0, high=9), "y": Categorical(values=("1", "2"))})
    field = pa.field("x", pa.int8(), metadata={"max": "3"})
    table = pa.table([[1, 2, 3] * 9, [1, 2, 2] * 9], schema=pa.schema([field, ("y", pa.int64())]))
    model = fit(
        table, schema, method=QUICK, epsilon=1, delta=1e-6, bad_rows="zero", types=table.schema
    )
    assert model.encoder.types.field("x").metadata is None
    assert model.sample(3).schema.types == [pa.int8(), pa.int64()]
    model.save(tmp_path / "x.nacre")
    again = load(tmp_path / "x.nacre")
    assert again.encoder.types.equals(model.encoder.types, check_metadata=True)
    plain = dataclasses.replace(model, encoder=TableEncoder(schema))
    assert plain.sample(3).schema.types == [pa.int64(), pa.string()]


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


def release(**changes):
    settings = {
        "name": "x",
        "mechanism": "gaussian",
        "theorem": "t",
        "adjacency": Adjacency.ADD_REMOVE,
        "size": 3,
        "sensitivity": 1.0,
        "noise": 4.0,
    }
    return Release(**{**settings, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"size": -5},
        {"size": "x"},
        {"epsilon": 50.0},
        {"delta": 0.5},
        {"mechanism": "approximate"},
        {"mechanism": "approximate", "epsilon": 1.0},
        {"noise": 5e-324},
        {"noise": "4"},
    ],
)
def test_a_release_that_contradicts_itself_is_refused(changes):
    assert release().multiplier == 4
    with pytest.raises(ValueError, match="Release 'x'"):
        release(**changes)


def test_private_facts_without_their_price_are_refused():
    with pytest.raises(SchemaError, match="needs the `releases`"):
        Schema({"x": Integer(low=0, high=9)}, provenance="private")


def test_a_record_that_is_too_long_swallows_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 16)
    monkeypatch.setattr(csv, "LONGEST", 64)
    path, good = tmp_path / "t.csv", b"7,a\n" * 50
    for long in (b"x" * 200, b'"' + b"x\n" * 80 + b'",b', b'1,"' + b'""' * 60 + b'"'):
        for before, after in ((0, 50), (20, 30), (50, 0)):
            path.write_bytes(b"age,job\n" + good[: 4 * before] + long + b"\n" + good[: 4 * after])
            faults = csv.Faults()
            rows = sum(batch.num_rows for batch in open_source(path).batches(faults))
            assert (rows, faults.records) == (50, 1)


@pytest.mark.parametrize("block", [5, 64])
@pytest.mark.parametrize("cell", ["\ufeff1", "7", '"7"'])
def test_a_byte_order_mark_means_the_same_wherever_it_stands(tmp_path, monkeypatch, block, cell):
    monkeypatch.setattr(csv, "BLOCK", block)
    schema = Schema({"x": Integer(low=0, high=9), "y": Integer(low=0, high=9)})
    path, good = tmp_path / "t.csv", []
    for before in range(6):
        path.write_text("x,y\n" + "a,2\n" * before + f"{cell},2\n" * 3, encoding="utf-8")
        valid = [schema.encode(batch).valid for batch in open_source(path, schema).batches()]
        good.append(sum(int(part.sum()) for part in valid))
    assert set(good) == {0 if "\ufeff" in cell else 3}


def test_a_bad_byte_in_a_file_with_a_mark_stops_nothing(tmp_path):
    path = tmp_path / "t.csv"
    for last in (b"3,4", b"3,\xff"):
        path.write_bytes(b"\xef\xbb\xbfx,y\n1,2\n" + last + b"\n")
        assert open_source(path).columns == ("x", "y")


@pytest.mark.parametrize("long", [b'1,a"' + b"b" * 40, b'1,"a"b"' + b"b" * 40, b"\xff" * 30])
def test_how_long_a_record_is_depends_on_itself_alone(tmp_path, monkeypatch, long):
    monkeypatch.setattr(csv, "BLOCK", 8)
    monkeypatch.setattr(csv, "LONGEST", 24)
    path, found = tmp_path / "t.csv", set()
    for before in range(12):
        rows = b"5,6\n" * before
        path.write_bytes(b"x,y\n" + rows + long + b"\n" + b"7,8\n" * 5)
        faults = csv.Faults()
        count = sum(batch.num_rows for batch in open_source(path).batches(faults))
        found.add((count - before, faults.records))
    assert found == {(5, 1)}


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


def test_the_number_of_rows_does_not_tell_a_broken_record_from_a_bad_row(tmp_path):
    schema = Schema({"age": Integer(low=0, high=9)})
    path, counts = tmp_path / "t.csv", set()
    for last in ("7", "old", "7,8,9"):
        path.write_text("age\n" + "7\n" * 20 + last + "\n")
        counts.add(Stream(TableEncoder(schema), path).count())
    assert counts == {21}


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
            parts(frame({"single": single, "double": double}), schema)
