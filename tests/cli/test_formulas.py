"""Cells that a spreadsheet would run: told, and made harmless when asked."""

import pyarrow as pa
import pytest

from nacre.writer import Writer

TABLE = pa.table(
    {
        "=name": pa.array(["=1+1", "plain", None]).dictionary_encode(),
        "at": ["@SUM(A1)", "\tx", "a@b.c"],
        "dash": ["a-b", "1-2", "x=y"],
        "number": [-1, 2, -3],
        "real": [-0.5, 0.5, None],
    }
)


def written(tmp_path, **more):
    path = tmp_path / "out.csv"
    with Writer(path, like=path, **more) as writer:
        writer.write(TABLE)
        writer.write(TABLE)
    return path.read_bytes().decode(), writer.formulas


def test_they_are_told_and_written_as_they_are(tmp_path):
    text, told = written(tmp_path)
    assert told == {"=name", "at"}
    assert text.splitlines()[1] == "=1+1,@SUM(A1),a-b,-1,-0.5"


def test_safe_csv_puts_an_apostrophe_before_texts_and_no_number(tmp_path):
    text, told = written(tmp_path, safe=True)
    assert told == set()
    lines = text.splitlines()
    assert lines[0] == '"\'=name","at","dash","number","real"'
    assert lines[1] == '"\'=1+1","\'@SUM(A1)","a-b",-1,-0.5'
    assert lines[2] == '"plain","\'\tx","1-2",2,0.5'
    assert lines[4] == lines[1]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"])
def test_every_beginning_that_spreadsheets_run(start, tmp_path):
    path = tmp_path / "out.csv"
    with Writer(path, like=path, safe=True) as writer:
        writer.write(pa.table({"a": [f"{start}cmd|' /C calc'!A0"]}))
    assert path.read_bytes().splitlines()[1].lstrip(b'"').startswith(b"'")


def test_no_text_is_divided_where_cells_end_at_semicolons(tmp_path):
    path = tmp_path / "out.csv"
    with Writer(path, like=path, safe=True) as writer:
        writer.write(pa.table({"a;=1": ["x;=1+1"]}))
    assert path.read_text() == '"a;=1"\n"x;=1+1"\n'
