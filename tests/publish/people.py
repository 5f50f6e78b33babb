"""A small table of every kind of column, and one model with histograms and one without."""

import dataclasses

import numpy as np
import pandas as pd
import pyarrow as pa

import nacre
from nacre.evaluate.tables.rows import Rows
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.rows import TableEncoder
from nacre.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real, Schema

COLUMNS = {
    "age": Integer(low=0, high=99),
    "wage": Real(low=0, high=1000, decimals=2, nullable=True),
    "height": Real(low=1.2, high=2.2),
    "job": Categorical(values=tuple("abcdefghijklmn"), other=True, nullable=True),
    "degree": Ordinal(values=("low", "mid", "high")),
    "member": Boolean(),
    "seen": Datetime(low="2000-01-01", high="2024-12-31", step="1d"),
    "income": Categorical(values=("<=50K", ">50K")),
}
SCHEMA = Schema(COLUMNS, label="income")
SMALL = Mosaic(steps=5, components=4, fits=1)


def people(n: int = 500, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    days = rng.integers(0, 9000, n).astype("timedelta64[D]")
    return pd.DataFrame(
        {
            "age": age,
            "wage": np.where(rng.random(n) < 0.2, np.nan, rng.random(n).round(2) * 900),
            "height": rng.uniform(1.2, 2.2, n),
            "job": rng.choice(np.array([*"aaaabbbcdef", "zzz", None], object), n),
            "degree": rng.choice(["low", "mid", "high"], n),
            "member": rng.random(n) < 0.3,
            "seen": np.datetime64("2000-01-01") + days,
            "income": np.where(rng.random(n) < (age / 100) ** 2, ">50K", "<=50K"),
        }
    )


def encoded(frame: pd.DataFrame, schema: Schema = SCHEMA) -> Rows:
    return Rows.narrow(schema, schema.encode(pa.Table.from_pandas(frame, preserve_index=False)))


def seen_as(model: nacre.Model, schema: Schema) -> nacre.Model:
    """The same model as if it had been fitted under this schema, which has the same columns."""
    return dataclasses.replace(model, encoder=TableEncoder.of(schema))
