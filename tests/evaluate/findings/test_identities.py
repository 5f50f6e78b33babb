"""Facts that the real rows keep and the synthetic rows break are named, with what to declare."""

import numpy as np
import pandas as pd
import pytest

from nacre.evaluate.findings.identities import identity_findings
from nacre.evaluate.findings.impossible import impossible_findings
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.reading import read
from nacre.schema import Categorical, Datetime, Integer, Real, Schema

N = 4000
ROOMS = [f"{floor}{side}" for floor in range(1, 7) for side in "ab"]
DATE = {"low": "2024-01-01", "high": "2025-03-01"}
SCHEMA = Schema(
    {
        "arrival": Datetime(**DATE),
        "nights": Integer(low=0, high=30),
        "departure": Datetime(**DATE),
        "price": Real(low=0, high=500, decimals=2),
        "total": Real(low=0, high=20_000, decimals=2),
        "room": Categorical(values=ROOMS),
        "floor": Integer(low=1, high=6),
        "agent": Integer(low=0, high=9, nullable=True),
        "company": Categorical(values=["x", "y"], nullable=True),
        "guests": Integer(low=1, high=4),
    }
)


def stays(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    arrival = np.datetime64("2024-01-01") + rng.integers(0, 365, N)
    nights, price = rng.integers(0, 31, N), rng.integers(4000, 30000, N) / 100
    late = np.where(rng.random(N) < 0.004, 1, 0)  # a few rows break it: still nearly all
    room, gone = rng.choice(ROOMS, N), rng.random(N) < 0.2
    return pd.DataFrame(
        {
            "arrival": arrival,
            "nights": nights,
            "departure": arrival + nights + late,
            "price": price,
            "total": np.round(nights * price, 2),
            "room": room,
            "floor": [int(each[0]) for each in room],
            "agent": np.where(gone, np.nan, rng.integers(0, 10, N)),
            "company": np.where(gone, None, rng.choice(["x", "y"], N)),
            "guests": rng.integers(1, 5, N),
        }
    )


def compared(synthetic: pd.DataFrame) -> TableComparison:
    real, other = (read(frame, SCHEMA, "a table") for frame in (stays(0), synthetic))
    return TableComparison(
        name="s", real=real, synthetic=other, train=real, test=real, label=None, models=()
    )


@pytest.fixture(scope="module")
def shuffled() -> TableComparison:
    rng, frame = np.random.default_rng(1), stays(1)
    return compared(frame.apply(lambda column: rng.permutation(column.to_numpy())))


def test_each_kind_is_found(shuffled):
    found = {each.fact: each for each in shuffled.identities}
    assert list(found) == [
        "departure = arrival + nights",
        "total = nights * price",
        "floor determined by room",
        "agent, company are missing together",
    ]
    assert 0.99 < found["departure = arrival + nights"].real < 1
    assert found["departure = arrival + nights"].synthetic < 0.05
    assert found["floor determined by room"].real == 1
    assert 0.1 < found["floor determined by room"].synthetic < 0.25
    assert 0.05 < found["agent, company are missing together"].synthetic < 0.2


def test_it_is_said_in_plain_words(shuffled):
    (found,) = identity_findings(shuffled)
    assert found.level == "avoid"
    assert "`floor determined by room` holds in 100% of the real rows and 1" in found.text
    assert "of the real rows in which one of them is missing" in found.text
    assert "Declare those that are public as facts" in found.text
    assert not list(impossible_findings(shuffled))  # nothing is said twice


def test_nothing_is_said_where_they_hold():
    comparison = compared(stays(2))
    assert len(comparison.identities) == 4
    assert not list(identity_findings(comparison))


def test_unrelated_columns_have_none():
    rng = np.random.default_rng(3)
    schema = Schema(
        {
            **{f"n{i}": Integer(low=0, high=3) for i in range(6)},
            **{f"c{i}": Categorical(values=list("abc"), nullable=True) for i in range(6)},
            "one": Categorical(values=["a", "b"]),
        }
    )
    frame = pd.DataFrame(
        {f"n{i}": rng.integers(0, 4, N) * (rng.random(N) < 0.05) for i in range(6)}
        | {f"c{i}": rng.choice(["a", "b", "c", None], N) for i in range(6)}
        | {"one": np.where(np.arange(N) < 3, "a", "b")}
    )
    real = read(frame, schema, "a table")
    comparison = TableComparison(
        name="s", real=real, synthetic=real, train=real, test=real, label=None, models=()
    )
    assert comparison.identities == ()
