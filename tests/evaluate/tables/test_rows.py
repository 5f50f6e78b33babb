"""Rows: exact binning, missing values, every kind of source."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from nacre.evaluate.tables.reading import read
from nacre.evaluate.tables.rows import Rows
from nacre.schema import Integer, Real, Schema


def test_bins_are_numpys(real, schema):
    rows = read(real, schema, "The table")
    for name, low, high in (("age", 17, 90), ("size", -1, 1)):
        expected = np.histogram(real[name], bins=20, range=(low, high))[0]
        found = np.bincount(rows.bin(name).codes, minlength=20)
        # A real is rounded to the nearest of 2^30 ticks, which may move it over an edge.
        assert np.abs(found - expected).max() <= (0 if name == "age" else 1)


def test_hundred_bins_of_integers_are_numpys():
    values = np.arange(0, 1001)
    rows = read(pa.table({"x": values}), Schema({"x": Integer(low=0, high=1000)}), "The table")
    expected = np.histogram(values, bins=100, range=(0, 1000))[0]
    assert np.bincount(rows.bin("x", 100).codes, minlength=100).tolist() == expected.tolist()


def test_few_whole_numbers_keep_one_code_each():
    rows = read(
        pa.table({"x": list(range(2, 8)) * 3}), Schema({"x": Integer(low=2, high=7)}), "The table"
    )
    codes, size = rows.bin("x")
    assert size == 6
    assert codes.tolist() == list(range(6)) * 3


def test_missing_numbers_have_a_code_of_their_own(real, schema):
    rows = read(real, schema, "The table")
    codes, size = rows.bin("wage")
    assert size == 21
    assert (codes == 20).sum() == real["wage"].isna().sum()
    assert np.isnan(rows.unit("wage")).sum() == real["wage"].isna().sum()
    assert np.nanmax(np.abs(rows.unit("wage") * 1000 - real["wage"])) < 1e-3


def test_rows_are_narrow(real, schema):
    rows = read(real, schema, "The table")
    assert {column.dtype.itemsize for column in rows.codes} == {1}
    assert max(column.dtype.itemsize for column in rows.ticks) == 4


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "csv", "parquet", "folder"])
def test_every_source_gives_the_same_rows(kind, real, schema, tmp_path):
    frame = real.head(200)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    source = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_arrow(table),
        "arrow": lambda: table,
        "csv": lambda: frame.to_csv(tmp_path / "t.csv", index=False) or tmp_path / "t.csv",
        "parquet": lambda: frame.to_parquet(tmp_path / "t.parquet") or str(tmp_path / "t.parquet"),
        "folder": lambda: _folder(frame, tmp_path),
    }[kind]()
    rows, expected = read(source, schema, "The table"), read(frame, schema, "The table")
    assert len(rows) == 200
    for found, wanted in zip(
        (*rows.ticks, *rows.codes), (*expected.ticks, *expected.codes), strict=True
    ):
        assert found.tolist() == wanted.tolist()


def _folder(frame, path):
    frame.head(120).to_parquet(path / "a.parquet")
    frame.tail(80).to_parquet(path / "b.parquet")
    return path


def test_rows_that_do_not_fit_are_counted_not_shown(real, schema):
    frame = real.head(50).copy()
    frame.loc[3, "sex"] = "SECRET"
    rows = read(frame, schema, "The table")
    assert (len(rows), rows.left_out) == (49, 1)


def test_no_row_fits():
    schema = Schema({"x": Real(low=0, high=1)})
    with pytest.raises(ValueError, match="2 were read and none fits"):
        read(pa.table({"x": ["SECRET", "SECRET"]}), schema, "The synthetic table")


def test_a_missing_column_is_named(real, schema):
    with pytest.raises(ValueError, match="The synthetic table.*sex"):
        read(real.drop(columns="sex"), schema, "The synthetic table")


def test_split_and_sample_are_seeded_and_disjoint(real, schema):
    rows = read(real, schema, "The table")
    train, test = rows.split(0.2, np.random.default_rng(5))
    again = rows.split(0.2, np.random.default_rng(5))[1]
    assert (len(train), len(test)) == (2400, 600)
    assert test.ticks[0].tolist() == again.ticks[0].tolist()
    together = np.sort(np.concatenate([train.ticks[2], test.ticks[2]]))
    assert together.tolist() == np.sort(rows.ticks[2]).tolist()
    assert len(rows.sample(10, np.random.default_rng(0))) == 10
    assert rows.sample(10**6, np.random.default_rng(0)) is rows


def test_collect_keeps_order(real, schema):
    whole = read(real, schema, "The table")
    parts = [read(part, schema, "The table") for part in (real.iloc[:1000], real.iloc[1000:])]
    assert Rows.collect(schema, parts).ticks[2].tolist() == whole.ticks[2].tolist()
