"""Codes for missing values, date formats and clamped tails, in and out."""

import datetime

import pandas as pd
import pyarrow as pa
import pytest

from nacre.rows import Stream, TableEncoder
from nacre.schema import (
    Boolean,
    Categorical,
    Datetime,
    Integer,
    Ordinal,
    Real,
    Schema,
    SchemaError,
)
from nacre.schema.constraints.given import given

SCHEMA = Schema.parse("""
nacre: 1
columns:
  age: {type: integer, low: 0, high: 120, missing: [-9, N]}
  wage: {type: real, low: 0, high: 10, decimals: 1, missing: [N, ""], clamp: true}
  ward: {type: categorical, values: [x, y], missing: ["?"]}
  pain: {type: ordinal, values: [1, 2], missing: [9]}
  smoker: {type: boolean, missing: [U]}
  seen: {type: datetime, low: 2014-01-01, high: 2015-01-01, step: 1s, format: "%Y%m%dT%H%M%S"}
  born: {type: datetime, low: 1900-01-01, high: 2015-01-01, format: "%m/%d/%Y", missing: ["0"]}
  left: {type: datetime, low: 1900-01-01, high: 2015-01-01, missing: ["9999-12-31"]}
""")
TABLE = pa.table(
    {
        "age": ["1", "-9", "N", "-9.0"],
        "wage": ["1.5", "N", "", "99"],
        "ward": ["x", "?", None, "y"],
        "pain": [1, 2, 9, 1],
        "smoker": ["yes", "U", "no", None],
        "seen": ["20141013T000000", "20140101T235959", "20140203T010203", "20150101T000000"],
        "born": ["1/5/1970", "12/31/2014", "0", "01/01/2015"],
        "left": ["2014-05-06", "9999-12-31", None, "2000-01-01"],
    }
)


def test_codes_come_back_as_the_first_one():
    assert SCHEMA.check(TABLE).ok
    back = SCHEMA.decode(SCHEMA.encode(TABLE))
    assert back.to_pydict() == {
        "age": [1, -9, -9, -9],
        "wage": ["1.5", "N", "N", "10"],
        "ward": ["x", "?", "?", "y"],
        "pain": ["1", "2", "9", "1"],
        "smoker": ["true", "U", "false", "U"],
        "seen": TABLE["seen"].to_pylist(),
        "born": ["01/05/1970", "12/31/2014", "0", "01/01/2015"],
        "left": [
            datetime.date(2014, 5, 6),
            datetime.date(9999, 12, 31),
            datetime.date(9999, 12, 31),
            datetime.date(2000, 1, 1),
        ],
    }
    assert SCHEMA.decode(SCHEMA.encode(back)) == back
    assert SCHEMA.decode(SCHEMA.encode(back[:0])).schema == back.schema  # whatever is in it


def test_the_schema_comes_back_and_older_ones_keep_their_digest():
    assert Schema.parse(SCHEMA.to_yaml()) == SCHEMA
    assert Schema.from_dict(SCHEMA.to_dict()) == SCHEMA
    assert Integer(low=0, high=9, nullable=True).to_dict() == {
        "type": "integer",
        "low": 0,
        "high": 9,
        "nullable": True,
    }


KINDS = [pa.int64(), pa.float64(), pa.string(), pa.large_string(), pa.string_view(), pa.binary()]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_code_is_found_in_every_type(kind):
    column = Integer(low=0, high=9, missing=["-9"])
    cells = pa.array(["-9", "3"]).cast(kind)
    assert column.read(cells).missing.tolist() == [True, False]
    if not pa.types.is_string_view(kind):  # which Arrow cannot encode so
        assert column.read(cells.dictionary_encode()).missing.tolist() == [True, False]
    days = Datetime(low="2024-01-01", high="2024-12-31", format="%Y%m%d")
    assert days.accepts(kind)
    assert days.read(pa.array(["20240102", None]).cast(kind)).values[0] == 1


def test_a_code_may_be_asked_for():
    (rule,) = given({"age": "N"}, SCHEMA.columns)
    assert rule.text == "age is missing"


def test_what_is_not_in_the_format_does_not_fit():
    column = Datetime(low="2014-01-01", high="2014-12-31", format="%d.%m.%Y")
    cells = pa.array(["01.02.2014", "2014-02-01", "30.02.2014", "1.2.2014", ""])
    counts = Schema({"x": column}).check(pa.table({"x": cells})).columns["x"]
    assert counts == {"missing": 1, "not a date": 2}


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (Categorical(values=["a", "b"], missing=["a"]), "'a' is listed in `values` and in"),
        (Integer(low=0, high=1, missing="N"), "missing='N' must be a list of codes"),
        (Ordinal(values=["a"], missing=["N", "N"]), "'N' for a missing value is listed twice"),
        (Boolean(missing=[None]), "is not text"),
        (Real(low=0, high=1, clamp="maybe"), "clamp='maybe' must be true or false"),
        (Datetime(low="2014-01-01", high="2015-01-01", format="%d.%m"), "year, month and day"),
        (Datetime(low="2014-01-01", high="2015-01-01", format="%Y%b%d"), "%b is not known"),
        (Datetime(low="2014-01-01", high="2015-01-01", format="%Y%m%d%d"), "a part twice"),
        (Datetime(low="2014-01-01", high="2015-01-01", format="%Y%m%d %H"), "%H and %M"),
        (Datetime(low="2014-01-01", high="2015-01-01", format=3), "must be text"),
    ],
)
def test_problems(column, said):
    with pytest.raises(SchemaError, match=said):
        Schema({"x": column})


def test_one_text_among_points_in_time_changes_no_other_row():
    """A frame makes objects of all where one is text; the format then reads all, or none."""
    column = Datetime(low="2014-01-01", high="2014-12-31", format="%Y-%d-%m %H:%M:%S", step="1s")
    encoder = TableEncoder.of(Schema({"seen": column, "member": Boolean()}))
    times = [pd.Timestamp(2014, 3, day, 10, 11, 12) for day in (4, 5, 6)]
    found = []
    for more in ([], ["2014-07-03 10:11:12"]):
        frame = pd.DataFrame({"seen": [*times, *more], "member": True})
        block = Stream(encoder, frame).whole()
        found.append((block.rows.numbers[:3].tolist(), block.valid[:3].tolist()))
    assert found[0] == found[1]
