"""A small table of every kind of column, and synthetic ones of known badness."""

import numpy as np
import pandas as pd
import pytest

from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.reading import read
from nacre.evaluate.tables.rows import Rows
from nacre.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real, Schema


@pytest.fixture(scope="session")
def schema() -> Schema:
    return Schema(
        {
            "age": Integer(low=17, high=90),
            "wage": Real(low=0, high=1000, decimals=2, nullable=True),
            "size": Real(low=-1, high=1),
            "sex": Categorical(values=["Female", "Male"]),
            "job": Categorical(values=["a", "b", "c", "d"], other=True, nullable=True),
            "degree": Ordinal(values=["low", "mid", "high"]),
            "member": Boolean(),
            "seen": Datetime(low="2000-01-01", high="2024-12-31", step="1d"),
            "income": Categorical(values=["<=50K", ">50K"]),
        },
        label="income",
    )


@pytest.fixture(scope="session")
def make_frame():
    def make(n: int, seed: int = 0, broken: bool = False) -> pd.DataFrame:
        """Rows with a learnable label; `broken` draws each column by itself."""
        rng = np.random.default_rng(seed)
        age = rng.integers(17, 91, n)
        degree = np.clip((age - 17) // 25 + rng.integers(-1, 2, n), 0, 2)
        score = (age - 50) / 20 + degree - 1 + rng.normal(0, 0.7, n)
        wage = np.round(np.clip(300 + 120 * score + rng.normal(0, 50, n), 0, 1000), 2)
        frame = pd.DataFrame(
            {
                "age": age,
                "wage": np.where(rng.random(n) < 0.1, np.nan, wage),
                "size": rng.uniform(-1, 1, n),
                "sex": np.where(rng.random(n) < 0.4, "Female", "Male"),
                "job": rng.choice(np.array(["a", "b", "c", "x", None], object), n),
                "degree": np.array(["low", "mid", "high"])[degree],
                "member": rng.random(n) < 0.3,
                "seen": np.datetime64("2010-01-01") + rng.integers(0, 3000, n).astype("m8[D]"),
                "income": np.where(score > 0.8, ">50K", "<=50K"),
            }
        )
        if broken:
            for column in frame:
                frame[column] = rng.permutation(frame[column].to_numpy())
        return frame

    return make


@pytest.fixture(scope="session")
def real(make_frame) -> pd.DataFrame:
    return make_frame(3000, seed=1)


@pytest.fixture(scope="session")
def good(make_frame) -> pd.DataFrame:
    return make_frame(2500, seed=2)


@pytest.fixture(scope="session")
def broken(make_frame) -> pd.DataFrame:
    return make_frame(2500, seed=3, broken=True)


@pytest.fixture(scope="session")
def held(make_frame) -> pd.DataFrame:
    return make_frame(1500, seed=4)


@pytest.fixture(scope="session")
def compare(schema, held):
    def make(real, synthetic, test=None, **settings) -> TableComparison:
        rows: list[Rows] = [
            read(t, settings.get("schema", schema), "The table")
            for t in (real, synthetic, held if test is None else test)
        ]
        settings.pop("schema", None)
        first = TableComparison(
            name="real",
            real=rows[0],
            synthetic=rows[0],
            train=rows[0],
            test=rows[2],
            label=settings.pop("label", "income"),
            models=settings.pop("models", ("logistic regression", "decision tree")),
            jobs=1,
        )
        import dataclasses

        return dataclasses.replace(first, name="s", synthetic=rows[1], real_trained=first)

    return make


@pytest.fixture(scope="session")
def comparison(compare, real, broken) -> TableComparison:
    return compare(real, broken)
