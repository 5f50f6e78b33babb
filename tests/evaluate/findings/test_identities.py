"""Facts that the real rows keep and the synthetic rows break are named, with what to declare."""

import re

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
        "total = nights * price",
        "departure = arrival + nights",
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
    assert found.text.startswith("Facts that all 4,000 real rows keep are broken here: of the ")
    assert re.search("1[0-9]% keep `floor determined by room`", found.text)
    assert "of those in which one of them is missing keep `agent, company are" in found.text
    nearly = r"Nearly all real rows keep `departure = arrival \+ nights` \(99.\d%, here <1%\)"
    assert re.search(nearly, found.text)
    assert "100% of the synthetic rows break one of these." in found.text
    assert "as `facts` (computed exactly, at no cost)" in found.text
    assert not list(impossible_findings(shuffled))  # nothing is said twice


def test_a_look_up_of_codes_that_may_be_missing_is_found():
    rng, shops = np.random.default_rng(5), [f"{t}{k}" for t in "ABC" for k in range(6)]
    schema = Schema(
        {
            "shop": Categorical(values=shops, nullable=True),
            "town": Categorical(values=list("ABC")),
            "kind": Categorical(values=["crash", "theft"]),
        }
    )
    shop = rng.choice(shops, 4000)
    town = np.array([each[0] for each in shop])
    crash = rng.random(4000) < 0.4
    kind = np.where(crash, "crash", "theft")
    real = pd.DataFrame({"shop": np.where(crash, shop, None), "town": town, "kind": kind})
    both = [real, real.assign(town=rng.permutation(town))]
    real, other = (read(frame, schema, "a table") for frame in both)
    comparison = TableComparison(
        name="s", real=real, synthetic=other, train=real, test=real, label=None, models=()
    )
    (found,) = (each for each in comparison.identities if each.fact.startswith("town"))
    assert found.fact == "town determined by shop if known"
    assert found.real == 1
    assert found.synthetic == pytest.approx(1 / 3, abs=0.04)
    (said,) = identity_findings(comparison)
    assert "of those in which it is known keep `town determined by shop if known`" in said.text
    Schema(schema.columns, facts=[{found.fact: {shop: shop[0] for shop in shops}}])


def test_stays_weighted_sums_orders_and_many_codes_are_counted():
    rng, codes = np.random.default_rng(4), [f"{c}{k}" for c in "ABCD" for k in range(10, 60)]
    moment = {"low": "2024-01-01", "high": "2025-03-01", "step": "1min"}
    schema = Schema(
        {
            "code": Categorical(values=codes),
            "chapter": Categorical(values=list("ABCD")),
            "start": Datetime(**moment),
            "wait": Integer(low=0, high=900),
            "stay": Integer(low=0, high=1400),
            "end": Datetime(**moment),
            "fee": Categorical(values=["120", "350", "900"]),
            "cost": Real(low=0, high=4000, decimals=2),
        }
    )
    code, wait = rng.choice(codes, 6000), rng.integers(0, 300, 6000)
    stay, fee = wait + rng.integers(1, 400, 6000), rng.choice([120, 350, 900], 6000)
    start = np.datetime64("2024-01-01T00:00:00") + 60 * rng.integers(0, 500_000, 6000)
    real = pd.DataFrame(
        {
            "code": code,
            "chapter": [each[0] for each in code],
            "start": start,
            "wait": wait,
            "stay": stay,
            "end": start + 60 * stay,
            "fee": fee.astype(str),
            "cost": fee + 1.75 * stay,
        }
    )
    both = [real, real.apply(lambda column: rng.permutation(column.to_numpy()))]
    real, other = (read(frame, schema, "a table") for frame in both)
    comparison = TableComparison(
        name="s", real=real, synthetic=other, train=real, test=real, label=None, models=()
    )
    found = {each.fact: each for each in comparison.identities}
    assert list(found) == [
        "end = start + stay minutes",
        "cost = 1.75 * stay + fee",
        "chapter determined by code",
        "wait < stay",
    ]
    assert all(each.real == 1 for each in found.values())
    assert found["chapter determined by code"].synthetic == pytest.approx(0.25, abs=0.03)
    assert found["wait < stay"].synthetic == pytest.approx(
        (both[1]["wait"] < both[1]["stay"]).mean(), abs=1e-12
    )
    (said,) = identity_findings(comparison)
    assert "0% keep `end = start + stay minutes`" in said.text
    assert "or as `constraints`" in said.text


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


def test_gaps_with_a_reason_are_found_whatever_the_words():
    """A gap told by several values, and one that lies in another: both are said and shared."""
    schema = Schema(
        {
            "sector": Categorical(values=["social", "private", "mid"]),
            "subsidy": Integer(low=0, high=99, nullable=True),
            "built": Integer(low=1900, high=2020, nullable=True),
            "energy": Categorical(values=["A", "B"], nullable=True),
        }
    )
    rng = np.random.default_rng(5)
    sector, unknown = rng.choice(["social", "private", "mid"], N), rng.random(N) < 0.1
    real = pd.DataFrame(
        {
            "sector": sector,
            "subsidy": np.where(sector == "social", rng.integers(0, 100, N), np.nan),
            "built": np.where(unknown, np.nan, rng.integers(1900, 2021, N)),
            "energy": np.where(unknown | (rng.random(N) < 0.2), None, rng.choice(["A", "B"], N)),
        }
    )
    shuffled = real.apply(lambda column: rng.permutation(column.to_numpy()))
    tables = (read(each, schema, "a table") for each in (real, shuffled))
    real_rows, other = tables
    comparison = TableComparison(
        name="s",
        real=real_rows,
        synthetic=other,
        train=real_rows,
        test=real_rows,
        label=None,
        models=(),
    )
    exactly, within = "subsidy is missing exactly when sector != social", "energy is missing if"
    found = {each.fact: each for each in comparison.identities}
    assert list(found) == [exactly, f"{within} built is missing"]
    gone = shuffled["built"].isna()
    kept = shuffled["energy"].isna()[gone].mean()
    assert found[f"{within} built is missing"].synthetic == pytest.approx(kept, abs=1e-12)
    (said,) = identity_findings(comparison)
    assert f"of those in which the other is missing keep `{within} built is missing`" in said.text
    assert "as `facts` (computed exactly, at no cost) or as `constraints`" in said.text
    assert f"of those in which it is missing or should be keep `{exactly}`" in said.text
