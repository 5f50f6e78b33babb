"""Files of rows: CSV has the decimals that a schema declares, Parquet the numbers as they are."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from nacre.rows import open_source
from nacre.schema import Datetime, Integer, Real, Schema
from nacre.schema.written import clocks, decimals
from nacre.writer import Writer

SCHEMA = Schema(
    {
        "price": Real(low=-1e6, high=1e6, decimals=2, nullable=True),
        "rate": Real(low=0, high=1, decimals=15),
        "coded": Real(low=0, high=99, decimals=1, missing=("-9",)),
        "free": Real(low=0, high=1),
        "n": Integer(low=0, high=9),
    }
)


def written(path, table):
    with Writer(path, like=path, decimals=decimals(SCHEMA)) as writer:
        writer.write(table)
    return path


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    price = np.round(rng.uniform(-1e6, 1e6, 5000), 2)
    price[:3] = [90, -0.0, 98.8]
    return pa.table(
        {
            "price": pa.array(price, mask=np.arange(5000) == 3),
            "rate": rng.integers(0, 10**15, 5000) / 1e15,
            "coded": np.full(5000, -9.0),
            "free": rng.random(5000),
            "n": rng.integers(0, 10, 5000),
        }
    )


def test_csv_has_the_declared_decimals_and_is_read_as_it_was(table, tmp_path):
    path = written(tmp_path / "rows.csv", table)
    lines = path.read_text().splitlines()
    assert [line.split(",")[0] for line in lines[1:5]] == ["90.00", "0.00", "98.80", ""]
    assert all(len(line.split(",")[1]) == 17 for line in lines[1:])
    assert {line.split(",")[2] for line in lines[1:]} == {"-9"}
    again = [SCHEMA.encode(batch) for batch in open_source(path, SCHEMA).whole()]
    meant = SCHEMA.encode(table)
    np.testing.assert_array_equal(np.concatenate([each.ticks for each in again]), meant.ticks)
    np.testing.assert_array_equal(np.concatenate([each.codes for each in again]), meant.codes)


def test_parquet_keeps_its_types(table, tmp_path):
    path = written(tmp_path / "rows.parquet", table)
    assert pyarrow.parquet.read_table(path).equals(table)


@pytest.mark.parametrize(
    ("step", "said"),
    [("1d", "2024-03-01"), ("15min", "2024-03-01 00:00"), ("1s", "2024-03-01 00:00:00")],
)
def test_times_are_written_as_finely_as_their_step(tmp_path, step, said):
    schema = Schema({"at": Datetime(low="2024-01-01", high="2024-12-31", step=step)})
    rows = schema.decode(schema.encode(pa.table({"at": ["2024-03-01"]})))
    path = tmp_path / "rows.csv"
    with Writer(path, like=path, clocks=clocks(schema)) as writer:
        writer.write(rows)
    assert path.read_text() == f"at\n{said}\n"
    assert open_source(path, schema).check(schema).ok
