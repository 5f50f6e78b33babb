"""Conditions for sampling, from Python values and from the command line's text."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from nacre.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real, Schema
from nacre.schema.constraints.condition import ColumnValues
from nacre.schema.constraints.given import given, read_given

COLUMNS = {
    "age": Integer(low=17, high=90),
    "wage": Real(low=0, high=1000, decimals=2, nullable=True),
    "height": Real(low=1, high=2),
    "job": Categorical(values=["cook", "cook, chef", "a..b", "<=50K"], other=True, nullable=True),
    "pain": Ordinal(values=["none", "mild", "strong"]),
    "member": Boolean(),
    "seen": Datetime(low="2020-01-01", high="2024-12-31", step="1h"),
}
ROW = {
    "age": 30,
    "wage": 10.5,
    "height": 1.5,
    "job": "cook",
    "pain": "mild",
    "member": True,
    "seen": datetime.datetime(2022, 5, 4, 15),
}


def fits(where, **changes):
    """Whether a row satisfies a condition."""
    rows = Schema(COLUMNS).encode(pa.Table.from_pylist([ROW | changes]))
    (rule,) = given(where, COLUMNS)
    return bool(rule.holds(ColumnValues.of(COLUMNS, rows))[0])


@pytest.mark.parametrize(
    ("where", "bad"),
    [
        ({"age": 30}, {"age": 31}),
        ({"age": np.int64(30)}, {"age": 31}),
        ({"age": "30"}, {"age": 31}),
        ({"age": (30, 40)}, {"age": 41}),
        ({"age": (20, 30)}, {"age": 31}),
        ({"age": (29.5, 400)}, {"age": 29}),
        ({"age": (None, 30)}, {"age": 31}),
        ({"age": (30, None)}, {"age": 29}),
        ({"age": [20, 30]}, {"age": 25}),
        ({"wage": 10.5}, {"wage": 10.51}),
        ({"wage": (0, 10.5)}, {"wage": None}),
        ({"wage": (0, 10.5)}, {"wage": 10.51}),
        ({"height": (1.5, 1.6)}, {"height": 1.4}),
        ({"job": "cook"}, {"job": "cook, chef"}),
        ({"job": ["cook", "other"]}, {"job": None}),
        ({"job": {"cook", "other"}}, {"job": "<=50K"}),
        ({"pain": ("mild", None)}, {"pain": "none"}),
        ({"member": True}, {"member": False}),
        ({"member": "yes"}, {"member": False}),
        ({"seen": "2022-05-04"}, {"seen": datetime.datetime(2022, 5, 5)}),
        ({"seen": ("2022-05-04", "2022-05-04")}, {"seen": datetime.datetime(2022, 5, 3, 23)}),
        ({"seen": (None, datetime.date(2022, 5, 4))}, {"seen": datetime.datetime(2022, 5, 5)}),
        ({"seen": (None, pd.Timestamp("2022-05-04 15:00"))},
         {"seen": datetime.datetime(2022, 5, 4, 16)}),
        ({"seen": (np.datetime64("2022-05-04"), None)}, {"seen": datetime.datetime(2022, 5, 3)}),
    ],
)  # fmt: skip
def test_conditions(where, bad):
    assert fits(where)
    assert not fits(where, **bad)


def test_missing_is_none():
    assert fits({"wage": None}, wage=None)
    assert not fits({"wage": None})
    assert fits({"wage": [None, 10.5]}, wage=None)
    assert fits({"wage": [None, 10.5]})
    assert not fits({"wage": [None, 10.5]}, wage=1.0)
    assert fits({"job": None}, job=None)
    assert fits({"job": [None]}, job=None)
    assert not fits({"job": [None]})


@pytest.mark.parametrize(
    "gap", [None, float("nan"), np.float32("nan"), np.datetime64("NaT"), pd.NA, pd.NaT]
)
def test_every_way_to_write_missing(gap):
    assert fits({"wage": gap}, wage=None) and not fits({"wage": gap})
    assert fits({"job": [gap, "cook"]}, job=None) and fits({"job": [gap, "cook"]})


@pytest.mark.parametrize("word", ["missing", " Missing "])
def test_the_word_missing_is_missing(word):
    assert fits({"wage": word}, wage=None) and not fits({"wage": word})
    assert fits({"job": word}, job=None) and not fits({"job": word})
    assert fits({"job": ["cook", word]}, job=None) and fits({"job": ["cook", word]})


@pytest.mark.parametrize("nullable", [True, False])
def test_a_value_of_the_name_missing_is_that_value(nullable):
    columns = {"tooth": Categorical(values=["missing", "sound"], nullable=nullable)}
    rows = Schema(columns).encode(pa.table({"tooth": ["missing", "sound"]}))
    for said in ("missing", "missing,missing"):
        (rule,) = given(read_given({"tooth": said}, columns), columns)
        assert rule.holds(ColumnValues.of(columns, rows)).tolist() == [True, False]
    asked = read_given({"tooth": ""}, columns)
    if nullable:
        gap = Schema(columns).encode(pa.table({"tooth": pa.array([None, "missing"])}))
        (rule,) = given(asked, columns)
        assert rule.holds(ColumnValues.of(columns, gap)).tolist() == [True, False]
    else:
        with pytest.raises(ValueError, match="'tooth' is never missing"):
            given(asked, columns)


def test_a_value_in_other_letters_is_asked_back():
    columns = {"tooth": Categorical(values=["Missing", "sound"], nullable=True)}
    with pytest.raises(ValueError, match="Did you mean 'Missing'"):
        given({"tooth": "missing"}, columns)


def test_codes_for_missing_are_missing():
    columns = {
        "wage": Integer(low=0, high=9, missing=["-9", "N"]),
        "job": Categorical(values=["a"], missing=["?"]),
    }
    table = pa.table({"wage": ["N", "3"], "job": ["a", "?"]})
    rows = ColumnValues.of(columns, Schema(columns).encode(table))
    for said, held in (
        ({"wage": "N"}, [True, False]),
        ({"wage": "-9"}, [True, False]),
        ({"wage": "-9,3"}, [True, True]),
        ({"job": "?"}, [False, True]),
        ({"job": "a,?"}, [True, True]),
    ):
        (rule,) = given(read_given(said, columns), columns)
        assert rule.holds(rows).tolist() == held


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"x": 1}, "There is no column 'x'. The columns are 'age'"),
        ({"age": None}, "'age' is never missing"),
        ({"age": [30, None]}, "'age' is never missing"),
        ({"age": "missing"}, "'age' is never missing, as .* `nullable: true`. Ask for values"),
        ({"age": []}, "an empty list leaves no row"),
        ({"age": (1, 2, 3)}, r"a tuple is a range \(low, high\)"),
        ({"age": (None, None)}, "a tuple is a range"),
        ({"age": (40, 30)}, "the range from 40 to 30 is empty"),
        ({"age": (100, 200)}, "the range from 100 to 200 lies outside: 'age' goes from 17 to 90"),
        ({"age": 3}, "3 is never its value"),
        ({"age": 30.5}, "never 30.5: its values are whole"),
        ({"age": "x"}, "'x' is not a number"),
        ({"age": object}, "is not a number"),
        ({"age": True}, "True is not a number"),
        ({"age": float("nan")}, "'age' is never missing"),
        ("age=30", r"must be a dictionary of conditions by column, such as .*, got a str"),
        ([("age", 30)], "got a list"),
        ({"height": 1.5}, "use a range"),
        ({"job": "baker"}, "'baker' is not among the schema's values: 'cook', "),
        ({"job": ("cook", "other")}, "has no order, so it has no range. Give a list"),
        ({"member": 2}, "2 is not among the schema's values: 'false', 'true'"),
        ({"seen": "May"}, "'May' is not a date"),
        ({"seen": 5}, "5 is not a date"),
        ({"seen": "2019-12-31"}, "never its value: 'seen' goes from 2020-01-01"),
        ({"age": 10**40}, "never its value"),
    ],
)
def test_what_cannot_be_asked_for_is_told(where, message):
    with pytest.raises(ValueError, match=message):
        given(where, COLUMNS)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("age=30", "30"),
        ("age=30..40", ("30", "40")),
        ("age=30 .. 40", ("30", "40")),
        ("age=..40", (None, "40")),
        ("age=30..", ("30", None)),
        ("age=30,31", ["30", "31"]),
        ("wage=1.5..2.5", ("1.5", "2.5")),
        ("wage=", None),
        ("wage=missing", "missing"),
        ("seen=..2022-01-01", (None, "2022-01-01")),
        ("job=cook,missing", ["cook", "missing"]),
        ("job=cook", "cook"),
        ("job=cook, chef", "cook, chef"),
        ("job=a..b", "a..b"),
        ("job=cook,a..b", ["cook", "a..b"]),
        ('job="cook, chef",other', ["cook, chef", "other"]),
        ("job=<=50K", "<=50K"),
        ("pain=mild..strong", ("mild", "strong")),
        ("seen=2022-01-01..2022-12-31", ("2022-01-01", "2022-12-31")),
        ("member=yes", "yes"),
    ],
)
def test_text(text, value):
    name, _, rest = text.partition("=")
    assert read_given({name: rest}, COLUMNS) == {name: value}
    given({name: value}, COLUMNS)


@pytest.mark.parametrize(
    ("name", "text"), [("job", 'cook,"x'), ("job", ","), ("job", "cook..x"), ("age", "x..y")]
)
def test_text_that_says_nothing_is_refused(name, text):
    with pytest.raises(ValueError, match=f"'{name}': "):
        given(read_given({name: text}, COLUMNS), COLUMNS)


def test_a_misspelt_column_is_recognized():
    columns = {"ward": Categorical(values=["a"])}
    with pytest.raises(ValueError, match="no column 'wrd'. Did you mean 'ward'?"):
        given({"wrd": "a"}, columns)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("3.12.2014", [3]),
        ("2014-12-03", [3]),
        ("02.12.2014..04.12.2014", [2, 3, 4]),
        ("2014-12-04..", [4, 5]),
        ("1.12.2014,5.12.2014", [1, 5]),
    ],
)
def test_dates_may_be_written_as_the_table_writes_them(text, days):
    columns = {"seen": Datetime(low="2014-12-01", high="2014-12-05", format="%d.%m.%Y")}
    schema = Schema(columns)
    rows = schema.encode(pa.table({"seen": [f"{day:02}.12.2014" for day in range(1, 6)]}))
    (rule,) = given(read_given({"seen": text}, columns), columns)
    held = rule.holds(ColumnValues.of(columns, rows))
    assert (np.flatnonzero(held) + 1).tolist() == days


def test_a_number_may_be_a_date_and_a_time_is_no_whole_day():
    columns = {"day": Datetime(low="2014-01-01", high="2014-12-31", format="%Y%m%d")}
    (rule,) = given({"day": 20141203}, columns)
    written = {
        "at": Datetime(low="2014-01-01", high="2014-12-31", step="1h", format="%d.%m.%Y %H:%M")
    }
    (hour,) = given({"at": "03.12.2014 18:00"}, written)
    (low, high), (first, last) = rule.demands[0].spans[0], hour.demands[0].spans[0]
    assert high - low == 24 * 3600 * 10**6 - 1
    assert first == last == low + 18 * 3600 * 10**6
    with pytest.raises(ValueError, match="nor written as %Y%m%d"):
        given({"day": "3/12/2014"}, columns)
