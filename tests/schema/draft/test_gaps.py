"""Gaps with a reason: values that say where a column is missing, and gaps within gaps."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import nacre

N = 4000
SECTORS = ["social", "private", "mid", "coop", "city"]


def rents(seed=0, **changed):
    """A subsidy in one sector only; no label of energy where nobody knows when it was built."""
    rng = np.random.default_rng(seed)
    sector = rng.choice(SECTORS, N, p=[0.3, 0.3, 0.2, 0.1, 0.1])
    unknown = rng.random(N) < 0.05
    columns = {
        "sector": sector,
        "subsidy": np.where(sector == "social", rng.integers(0, 400, N), np.nan),
        "built": np.where(unknown, np.nan, rng.integers(1900, 2020, N)),
        "energy": np.where(unknown | (rng.random(N) < 0.07), None, rng.choice(list("XYZ"), N)),
    }
    return pd.DataFrame(columns | changed)


def offered(frame, **options):
    found = nacre.draft(frame, **options).suggested
    return [each for each in (*found.constraints, *found.facts) if " is missing " in str(each)]


def only(frame, sectors):
    """The subsidy in these sectors, and in no other."""
    frame["subsidy"] = np.where(frame["sector"].isin(sectors), 17.0 + np.arange(N) % 90, np.nan)
    return offered(frame.drop(columns=["built", "energy"]))


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        (["social"], "!= social"),
        (["social", "mid"], "not in [mid, social]"),
        (["social", "mid", "city"], "in [coop, private]"),
        (["social", "mid", "city", "coop"], "= private"),
    ],
)
def test_a_gap_is_told_with_as_few_values_as_will_do(present, expected):
    assert only(rents(), present) == [f"subsidy is missing exactly when sector {expected}"]


def test_what_is_offered_can_be_taken_over_and_one_row_is_enough_to_leave_it_out():
    frame = rents()
    found = nacre.draft(frame)
    said = offered(frame)
    assert said == [
        "energy is missing if built is missing",
        "subsidy is missing exactly when sector != social",
    ]
    schema = nacre.Schema(found.schema.columns, constraints=said[:1], facts=said[1:])
    assert schema.check(pa.Table.from_pandas(frame)).ok
    frame.loc[frame["sector"].eq("mid").idxmax(), "subsidy"] = 5
    frame.loc[frame["built"].isna().idxmax(), "energy"] = "X"
    assert not offered(frame)


def test_a_list_that_says_it_in_fewer_words_is_taken():
    frame = rents()
    frame.insert(0, "office", frame["sector"] + np.where(np.arange(N) % 2, " a", " b"))
    assert "subsidy is missing exactly when sector != social" in offered(frame)


def test_values_that_few_rows_hold_are_not_named():
    frame = rents()
    frame.loc[:5, "sector"] = "rare"
    assert only(frame, ["social", "mid", "rare"]) == [
        "subsidy is missing exactly when sector in [city, coop, private]"
    ]
    assert only(frame, ["rare"]) == []


def test_many_values_are_not_listed():
    office = np.random.default_rng(0).integers(0, 30, N)
    frame = pd.DataFrame({"office": [f"o{each}" for each in office]})
    frame["phone"] = np.where(office < 15, np.nan, np.arange(N) % 90)
    assert offered(frame) == []
    frame["phone"] = np.where(office < 7, np.nan, np.arange(N) % 90)
    assert "in [o0, o1, o2, o3, o4, o5, o6]" in offered(frame)[0]


def test_a_column_instead_of_another():
    electric = np.random.default_rng(0).random(N) < 0.3
    frame = pd.DataFrame({"plug": np.where(electric, "ccs", None)})
    frame["fuel"] = np.where(electric, np.nan, np.arange(N) % 90)
    assert offered(frame) == ["plug is missing exactly when fuel is not missing"]


def test_gaps_within_gaps_are_told_once():
    """The third diagnosis is missing wherever the second is; a fourth, wherever the third is."""
    rng = np.random.default_rng(0)
    gone = np.stack([rng.random(N) < 0.2, rng.random(N) < 0.4, rng.random(N) < 0.6], axis=1)
    gone = np.logical_or.accumulate(gone, axis=1)
    frame = pd.DataFrame(
        {f"diag{i + 2}": np.where(gone[:, i], None, rng.choice(list("uvwx"), N)) for i in range(3)}
    )
    assert offered(frame) == [
        "diag4 is missing if diag3 is missing",
        "diag3 is missing if diag2 is missing",
    ]


def test_gaps_that_are_usual_or_luck_say_nothing():
    rng = np.random.default_rng(0)
    gone = rng.random(N) < 0.97
    few = np.flatnonzero(gone)[:40]
    usual, rare = np.where(gone, None, "yes"), np.arange(N) % 90 + 0.5
    rare[few] = np.nan
    assert not offered(pd.DataFrame({"usual": usual, "rare": rare}))


def test_what_sums_and_other_gaps_say_is_not_said_again():
    frame = rents()
    frame["parts"] = frame["built"] * 2 + 3
    rng = np.random.default_rng(1)
    fee, tax = (np.where(rng.random(N) < 0.1, np.nan, rng.integers(5, 900, N)) for _ in range(2))
    frame = pd.DataFrame({"fee": fee, "tax": tax, "total": fee + tax})
    assert nacre.draft(frame).suggested.facts == ("total = fee + tax",)
    assert not offered(frame)
    kind = rng.choice(["a", "b", "c"], N)
    told = {each: np.where(np.isin(kind, list(each)), None, "x") for each in ("a", "ab")}
    assert offered(pd.DataFrame({"kind": kind, **told})) == [
        'a is missing exactly when kind = "a"',
        "ab is missing exactly when kind != c",
    ]


@pytest.mark.parametrize("persons", [1, 12])
def test_persons_are_counted_on_both_sides(persons):
    """Sixty rows in which the subsidy is there, and as many of no year, may be one person's."""
    frame = rents(subsidy=np.nan, energy="X", built=1950.0 + np.arange(N) % 50)
    frame["energy"] = frame["energy"].astype(object)
    frame["who"] = np.arange(N) // 4
    rows = frame.iloc[np.arange(120) % persons * 4].copy()
    subsidized = rows.assign(sector="social", subsidy=np.arange(120.0) % 40)
    frame = frame[frame["sector"] != "social"]
    unknown = rows.assign(sector="mid", built=np.nan, energy=None)
    without = frame.assign(energy=np.where(np.arange(len(frame)) % 9, "X", None))
    found = offered(pd.concat([without, subsidized, unknown]), unit={"column": "who", "rows": 5})
    assert ("subsidy is missing exactly when sector != social" in found) is (persons == 12)
    assert ("energy is missing if built is missing" in found) is (persons == 12)


def test_the_side_without_names_is_held_by_many_persons_too():
    frame = rents(energy=None, built=1950).drop(columns=["energy", "built"])
    frame["who"] = np.arange(N)
    frame.loc[frame["sector"] != "social", "who"] = -1
    unit = {"column": "who", "rows": 5}
    assert not offered(frame, unit=unit)
    frame["who"] = np.arange(N)
    assert offered(frame, unit=unit)
