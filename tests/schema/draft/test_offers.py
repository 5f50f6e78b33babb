"""What a draft offers a column to be instead: ordered words, codes for missing values."""

import numpy as np
import pandas as pd
import pytest
import yaml

import nacre
from nacre.schema import Categorical, Integer, Ordinal, Real
from nacre.schema.document import column as as_column
from nacre.schema.draft.scales import ordered_words

N = 600
RNG = np.random.default_rng(0)


def drafted(cells, name="x"):
    """The column, and what the line that is offered above it makes of it; None if there is none."""
    found = nacre.draft(pd.DataFrame({name: cells, "amount": RNG.integers(0, 300, len(cells))}))
    text = found.to_yaml()
    lines = [line for line in text.splitlines() if line.startswith(f"  # {name}: {{")]
    offered = [as_column(yaml.safe_load(line.removeprefix("  # "))[name]) for line in lines]
    return found.schema.columns[name], (offered or [None])[0], text


@pytest.mark.parametrize(
    "ordered",
    [
        ["low", "medium", "high"],
        ["None", "Mild", "Moderate", "Severe"],
        ["S", "M", "L", "XL"],
        ["I", "II", "III", "IV", "V"],
        ["Grade 1", "Grade 2", "Grade 3"],
        ["never", "sometimes", "always"],
        ["strongly_disagree", "disagree", "neutral", "agree", "strongly_agree"],
        ["under 5 years", "5 to 14 years", "15 to 64 years", "65 and over"],
    ],
)
def test_words_that_have_an_order_are_offered_as_ordinal(ordered):
    column, offer, _ = drafted((ordered * N)[:N][::-1])
    assert column == Categorical(values=sorted(ordered))  # which no guess has changed
    assert offer == Ordinal(values=ordered)


@pytest.mark.parametrize(
    "values",
    [
        ["A", "B", "C"],  # wards, not grades
        ["small", "large"],  # of two the order says nothing
        ["low", "medium", "unknown"],
        ["high", "higher", "low"],  # of which two have one place
        ["red", "green", "blue"],
        ["Type I", "Type II", "Type III"],
        ["route 5", "route 12", "route 7 to 9"],
    ],
)
def test_other_words_are_not(values):
    assert drafted((values * N)[:N])[1] is None


def test_letters_are_grades_where_the_name_says_so():
    assert ordered_words("exam_grade", ["A", "B", "C+"]) == ["C+", "B", "A"]
    assert ordered_words("ward", ["A", "B", "C+"]) is None


def test_letters_in_a_row_are_offered_as_ordinal_and_not_decided():
    column, offer, text = drafted((list("ABCDEFG") * N)[:N], "energy")
    assert column == Categorical(values=list("ABCDEFG"))
    assert offer == Ordinal(values=list("ABCDEFG"))
    assert "# grades, from one end to the other? Then `type: ordinal`:" in text
    assert drafted((list("abcde") * N)[:N], "deck")[1] == Ordinal(values=list("abcde"))
    assert drafted((list("ABCDEFG") * N)[:N], "grade")[1] == Ordinal(values=list("GFEDCBA"))
    for others in ("ABCD", "ABCDEFH", "ABCDe"):  # too few, one left out, not of one kind
        assert drafted((list(others) * N)[:N], "energy")[1] is None


def test_an_order_keeps_gaps_and_names_nothing_that_few_rows_hold():
    cells = ["low", "medium", "high", None] * 100
    assert drafted(cells)[1] == Ordinal(values=["low", "medium", "high"], nullable=True)
    _, offer, text = drafted([*["low", "medium", "high"] * 100, *["extreme"] * 9])
    assert offer is None
    assert "# in an order, by its words? Then `type: ordinal`, values from lowest to" in text


def test_an_order_does_not_bring_back_what_was_gathered():
    cells = [*["low", "medium", "high"] * 100, *["extreme"] * 9]
    found = nacre.draft(pd.DataFrame({"x": cells}), rare="other")
    assert found.schema.columns["x"].other
    assert "extreme" not in found.to_yaml()


def test_values_far_from_all_others_are_offered_as_codes():
    ages = np.tile(np.arange(18, 90), 10)
    column, offer, text = drafted([*ages, *[999] * 12])
    assert column == Integer(low=18, high=999)
    assert offer == Integer(low=18, high=90, missing=("999",))
    assert "# 999: far from all other values. A code for a missing one?" in text
    two = drafted([*ages, *[998] * 12, *[999] * 12])[1]
    assert two == Integer(low=18, high=90, missing=("998", "999"))
    warm = RNG.normal(12, 8, N).round(1)
    below = drafted([*warm, *[-999.0] * 20])[1]
    assert isinstance(below, Real) and below.missing == ("-999",) and below.low >= -30
    both = drafted([*warm, *[-999.0] * 20, *[999.0] * 20])[1]
    assert both.missing == ("-999", "999")


def test_no_bound_is_offered_that_cannot_be_rounded():
    held = 1.234567890123456e15 + 3e12 * np.arange(N)  # one row each
    for far in (9e18, -9e18):
        _, offer, text = drafted([*held, *[far] * 12])
        assert offer is None
        assert "far from all other" not in text
    small = drafted([*held / 1e15, *[9e3] * 12])[1]
    assert small.missing == ("9000",) and small.high == 3.1


def test_no_tail_is_told_that_cannot_be_rounded():
    held = 1.234567890123456e15 + 3e11 * RNG.random(4000)
    assert "cut the tail" not in drafted([*held, 9e18])[2]
    assert "cut the tail" not in drafted([*[1] * 4000, 50])[2]  # with no distance to round by
    assert "cut the tail" in drafted([*held / 1e12, 9e6])[2]


def test_what_may_be_somebodys_own_is_not_offered():
    ages = RNG.integers(18, 90, N)
    assert drafted([*ages, *[999] * 9])[1] is None  # few rows hold it
    assert drafted([*ages, *[120] * 30])[1] is None  # a little beyond the others
    assert drafted(np.exp(RNG.normal(5, 2, N)).round())[1] is None  # a long tail
    assert drafted([*[1, 2, 4] * 100, *[99] * 30])[1] is None  # too few others to tell
