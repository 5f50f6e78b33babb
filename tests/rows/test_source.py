"""Rows from frames, files and folders; messages that quote no value."""

import dataclasses
import gzip
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.rows import SourceError, csv, open_source
from nacre.schema import Categorical, Schema, SchemaError

ROWS = {"a": [1, 2, 3], "b": ["x", "", "z"]}


def read(data, names=None):
    return pa.Table.from_batches(open_source(data, names).batches()).to_pydict()


@pytest.mark.parametrize(
    ("frame", "kind"),
    [(pd.DataFrame(ROWS), "pandas"), (pl.DataFrame(ROWS), "polars"), (pa.table(ROWS), "arrow")],
)
def test_frames(frame, kind):
    assert open_source(frame).kind == kind
    assert read(frame) == ROWS
    assert read(frame, ["b"]) == {"b": ROWS["b"]}


def test_a_source_can_be_read_again_and_is_passed_through():
    source = open_source(pa.table(ROWS))
    assert open_source(source) is source
    assert [sum(b.num_rows for b in source.batches()) for _ in range(2)] == [3, 3]


def test_mixed_objects_become_text():
    frame = pd.DataFrame({"a": [1, "two", None]}, dtype=object)
    assert read(frame) == {"a": ["1", "two", None]}


def test_nothing_is_inferred_from_the_values_of_a_csv(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n007,NA\n1e3,\n")
    assert read(path) == {"a": ["007", "1e3"], "b": ["NA", None]}
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed) == read(path)


def test_folders_are_read_in_order(tmp_path):
    for place, name in enumerate(("b.parquet", "a.parquet")):
        pq.write_table(pa.table({"x": [place]}), tmp_path / name)
    (tmp_path / "notes.txt").write_text("not a table")
    assert read(tmp_path) == {"x": [1, 0]}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.csv", b"", "is empty"),
        ("rows.csv", "a,b\n1,Müller\n".encode("latin1"), "UTF-8"),
        ("rows.csv", b"a,b\n1,2\n1,2,secret\n", "more or fewer fields"),
        ("rows.csv", b"a,a\n1,2\n", "same name"),
        ("rows.parquet", b"secret", "Parquet"),
        ("rows.xlsx", b"secret", "must end in"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SourceError, match=message) as caught:
        list(open_source(path).whole())
    assert "secret" not in str(caught.value) and "ller" not in str(caught.value)


def test_semicolons_are_told(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("age;wage\n30;secret,5\n")
    for names in (None, ["age", "wage"]):
        with pytest.raises(SourceError, match="looks separated by semicolons") as caught:
            open_source(path, names)
    assert "secret" not in str(caught.value)
    command = re.search(r"`(.+)`", str(caught.value)).group(1).replace("python", sys.executable)
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    assert read(tmp_path / "commas.csv") == {"age": ["30"], "wage": ["secret,5"]}
    # A column may have such a name, if the schema says so.
    assert open_source(path, ["age;wage"]).columns == ("age;wage",)


def test_a_damaged_csv_is_read_and_its_damage_counted(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b'a,b\n1,x\n1,2,secret\n\xff,y\n"3\n4",z\n5\n6,"open\n')
    assert read(path) == {"a": ["1", "\ufffd", "3\n4", "6"], "b": ["x", "y", "z", "open\n"]}
    schema = Schema({"b": Categorical(values=["x", "y", "z"])})
    found = open_source(path, schema).check(schema)
    assert (found.rows, found.bad_rows, found.lines, found.utf8) == (4, 1, 2, False)
    assert not found.ok
    assert "2 lines have more or fewer fields" in found.describe()
    one = dataclasses.replace(found, lines=1).describe()
    assert "1 line has more or fewer fields than the header, so it is no row." in one
    assert "not UTF-8" in found.describe()
    assert "secret" not in found.describe()


def test_a_record_that_is_too_long_is_no_row(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 16)
    monkeypatch.setattr(csv, "LONGEST", 64)
    path = tmp_path / "rows.csv"
    for length, rows in ((40, 3), (90, 2)):
        path.write_bytes(b'a,b\n1,2\n3,"' + b"x" * length + b'"\n5,6\n')
        batches = open_source(path).batches(faults := csv.Faults())
        assert sum(batch.num_rows for batch in batches) == rows
        assert faults.records == 3 - rows


def test_what_is_not_there(tmp_path):
    with pytest.raises(SourceError, match="no file or folder"):
        open_source(tmp_path / "nowhere.csv")
    with pytest.raises(SourceError, match="holds no"):
        open_source(tmp_path)
    with pytest.raises(SchemaError, match="lacks 1 column"):
        open_source(pa.table(ROWS), ["a", "c"])
    with pytest.raises(SourceError, match="Cannot read rows from a dict"):
        open_source(ROWS)


def test_row_groups_are_not_held_until_the_file_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("nacre.rows.source.IN_ONE_GO", 30_000)
    rows = pa.table({"a": np.random.default_rng(0).integers(0, 2**60, 200_000)})
    pq.write_table(rows, tmp_path / "many.parquet", row_group_size=10_000, use_dictionary=False)
    before, held, found = pa.total_allocated_bytes(), [], []
    for batch in open_source(tmp_path / "many.parquet", ["a"]).batches():
        held.append(pa.total_allocated_bytes() - before)
        found.append(batch.column(0).to_numpy().copy())
        del batch
    assert np.array_equal(np.concatenate(found), rows["a"].to_numpy())
    # Threads that read ahead may hold a few groups more; what stays would be there to the end.
    assert min(held[len(held) // 2 :]) < 0.75 * rows.nbytes
