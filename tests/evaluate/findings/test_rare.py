"""Rare values that are lost are named with their rows; those that chance leaves out are not."""

import json

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.evaluate.findings.rare import FEWEST, rare_findings
from nacre.evaluate.findings.values import value_findings
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.reading import read
from nacre.schema import Categorical, Integer, Ordinal, Schema, Unit

REGIONS = [f"r{i}" for i in range(300)]
SCHEMA = Schema(
    {
        "region": Categorical(values=REGIONS, other=True, nullable=True),
        "grade": Ordinal(values=["low", "mid", "high"]),
        "age": Integer(low=0, high=99),
    }
)


def draw(n, seed=0):
    """Of 300 regions the first have a fiftieth of the rows each, and the last hardly any."""
    rng = np.random.default_rng(seed)
    share = 0.98 ** np.arange(300)
    region = rng.choice(np.array([*REGIONS, "elsewhere", None], object), n,
                        p=[*(0.98 * share / share.sum()), 0.01, 0.01])  # fmt: skip
    grade = rng.choice(["low", "mid", "high"], n, p=[0.7, 0.295, 0.005])
    return pd.DataFrame({"region": region, "grade": grade, "age": rng.integers(0, 100, n)})


def compared(real, synthetic, schema=SCHEMA):
    rows, other = (read(frame, schema, "a table") for frame in (real, synthetic))
    return TableComparison(
        name="s", real=rows, synthetic=other, train=rows, test=rows, label=None, models=()
    )


def without(frame, column, value, share=1.0):
    """The table with `share` of the rows of a value given to the most frequent one."""
    gone = frame[column].isna() if value is None else frame[column] == value
    gone &= np.random.default_rng(9).random(len(frame)) < share
    return frame.assign(**{column: frame[column].mask(gone, frame[column].mode()[0])})


@pytest.mark.parametrize(
    ("column", "value", "name"),
    [
        ("grade", "high", "high"),
        ("region", "r60", "r60"),
        ("region", "elsewhere", "other"),
        ("region", None, "missing"),
    ],
)
def test_a_lost_value_is_named(column, value, name):
    (found,) = rare_findings(compared(draw(20_000), without(draw(20_000, 1), column, value)))
    assert (found.level, found.topic, found.rest) == ("care", "Rare values", ())
    assert "(1 of the " in found.text
    real = draw(20_000)[column]
    rows = int(real.isna().sum() if value is None else (real == value).sum())
    assert f": {column} = {name} (0 instead of {rows} rows). Do not" in found.text


def test_too_few_are_named_with_what_should_be_here():
    real, here = draw(20_000), without(draw(40_000, 1), "grade", "high", share=0.8)
    (found,) = rare_findings(compared(real, here))
    rows, expected = (here["grade"] == "high").sum(), 2 * (real["grade"] == "high").sum()
    assert f"grade = high ({rows} instead of {expected} rows)" in found.text
    half = without(draw(40_000, 1), "grade", "high", share=0.3)
    assert not list(rare_findings(compared(real, half)))


def test_the_others_stand_in_the_rest_those_of_most_rows_first():
    here = draw(20_000, 1)
    for value in REGIONS[30:60]:
        here = without(here, "region", value)
    (found,) = rare_findings(compared(draw(20_000), here))
    assert "(30 of the " in found.text and "and 24 more" in found.text and len(found.rest) == 24
    rows = [int(part.split(" of ")[-1].split()[0]) for part in found.rest]
    assert rows == sorted(rows, reverse=True)


@pytest.mark.parametrize("sizes", [(20_000, 20_000), (20_000, 4_000), (3_000, 30_000)])
def test_chance_is_not_told(sizes):
    told = [
        list(rare_findings(compared(draw(sizes[0], 2 * seed), draw(sizes[1], 2 * seed + 1))))
        for seed in range(25)
    ]
    assert sum(map(len, told)) <= 1  # a chance of 1% each


def test_what_few_rows_have_or_would_have_is_not_told():
    real, here = draw(20_000), draw(20_000, 1)
    few = real["region"].value_counts()
    few = few[few < FEWEST].index
    gone = here[~here["region"].isin(few)]
    assert len(few) > 50 and not list(rare_findings(compared(real, gone)))
    small = without(draw(400, 1), "grade", "high")  # two rows should be there
    assert not list(rare_findings(compared(real, small)))


def test_frequent_values_are_told_once():
    real, here = draw(20_000), without(draw(20_000, 1), "grade", "mid")
    table = compared(real, here)
    assert not list(rare_findings(table))
    assert "grade = mid (0% instead of 29%)" in next(value_findings(table)).text


def test_rows_of_one_person_are_no_chance_of_their_own():
    """Twelve persons with ten rows each of a value, and none among as many others, are chance."""
    schema = Schema(SCHEMA.columns, unit=Unit(column="who", rows=10))
    real, here = draw(20_000), without(draw(20_000, 1), "grade", "high")
    real = without(real, "grade", "high")
    real.loc[:119, "grade"] = "high"
    assert list(rare_findings(compared(real, here)))
    assert not list(rare_findings(compared(real, here, schema)))
    real.loc[:299, "grade"] = "high"
    (found,) = rare_findings(compared(real, here, schema))
    assert "that 200 real rows or more have" in found.text


def test_it_is_told_wherever_findings_are():
    real, here = draw(5_000), without(draw(5_000, 1), "region", "missing")
    here = without(here, "grade", "high")
    found = nacre.evaluate(real, here, SCHEMA, metrics=["tv1"])
    words = "grade = high (0 instead of "
    assert words in found.summary() and words in found.to_html()
    listed = json.loads(found.to_json())["findings"]["synthetic"]
    assert any(words in each["text"] and each["topic"] == "Rare values" for each in listed)
