"""Tables for engines, in several files with several row groups, and clusters that run them."""

import itertools
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.schema import Categorical, Datetime, Integer, Real, Schema

ROWS = 3000
SCHEMA = Schema(
    {
        "age": Integer(low=0, high=99),
        "wage": Real(low=0, high=100, decimals=2, nullable=True),
        "town": Categorical(values=["Aa", "Bb", "Cc"], other=True),
        "seen": Datetime(low="2020-01-01", high="2024-12-31"),
        "paid": Categorical(values=["no", "yes"]),
    },
    label="paid",
)


def made(rows=ROWS, seed=0):
    """Rows that fit the schema."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    wage = np.round(rng.uniform(0, 100, rows), 2)
    towns = np.array(["Aa", "Bb", "Cc", "elsewhere"])[rng.integers(0, 4, rows)]
    days = np.datetime64("2020-01-01") + rng.integers(0, 1800, rows)
    return pa.table(
        {
            "age": age,
            "wage": pa.array(wage, mask=rng.random(rows) < 0.1),
            "town": towns,
            "seen": days.astype("datetime64[s]"),
            "paid": np.where(age + rng.normal(0, 20, rows) > 50, "yes", "no"),
        }
    )


@pytest.fixture(scope="session")
def table():
    return made()


@pytest.fixture(scope="session")
def whole(table):
    """What one process answers."""
    from tests.engines.asking import answers

    return answers(table)


@pytest.fixture(scope="session")
def folder(tmp_path_factory, table):
    """The same rows in five files, each of several row groups."""
    found = tmp_path_factory.mktemp("parts")
    edges = [0, 100, 1100, 1101, 2500, ROWS]
    for place, (start, stop) in enumerate(itertools.pairwise(edges)):
        part = table.slice(start, stop - start)
        pq.write_table(part, found / f"part{place}.parquet", row_group_size=400)
    return found


@pytest.fixture(scope="session", autouse=True)
def workers_see_the_tests():
    """Workers are processes of their own: they import nacre and these tests from here."""
    here = Path(__file__).resolve().parents[2]
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(here / "src"), str(here), before])
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    yield
    os.environ["PYTHONPATH"] = before
