"""A row of a CSV file is a parsed record, and one record never changes how another is read."""

import random

import pytest

from nacre.rows import Stream, TableEncoder, csv, open_source
from nacre.schema import Integer, Schema

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


def test_the_number_of_rows_does_not_tell_a_broken_record_from_a_bad_row(tmp_path):
    schema = Schema({"age": Integer(low=0, high=9)})
    path, counts = tmp_path / "t.csv", set()
    for last in ("7", "old", "7,8,9"):
        path.write_text("age\n" + "7\n" * 20 + last + "\n")
        counts.add(Stream(TableEncoder(schema), path).count())
    assert counts == {21}
