"""The holder's check counts by column and reason, and shows no value."""

import pyarrow as pa
import pytest

from nacre.schema import Boolean, Categorical, Datetime, Integer, Schema, SchemaError

SCHEMA = Schema(
    {
        "age": Integer(low=17, high=90),
        "sex": Categorical(values=["F", "M"]),
        "job": Categorical(values=["a"], other=True, nullable=True),
        "seen": Datetime(low="2024-01-01", high="2024-12-31"),
        "member": Boolean(nullable=True),
    }
)
ROWS = pa.table(
    {
        "age": ["20", "20.5", "secret", "", "180", "21"],
        "sex": ["F", "M", "hidden", None, "F", "M"],
        "job": ["a", "anything", None, "", "a", "a"],
        "seen": ["2024-01-01", "2023-01-01", "private", "2024-02-30", "2024-01-01", "2024-01-01"],
        "member": ["yes", None, "quiet", "no", "0", "1"],
    }
)
COUNTS = {
    "age": {"missing": 1, "not a number": 1, "out of range": 1, "not a whole number": 1},
    "sex": {"missing": 1, "unknown value": 1},
    "seen": {"out of range": 1, "not a date": 2},
    "member": {"not true or false": 1},
}


def test_counts_by_column_and_reason():
    check = SCHEMA.check(ROWS)
    assert check.columns == COUNTS
    assert (check.rows, check.bad_rows, check.refused_rows) == (6, 4, 2)
    assert not check.ok


def test_refused_rows_are_those_that_encode_leaves_out():
    assert (~SCHEMA.encode(ROWS).valid).sum() == SCHEMA.check(ROWS).refused_rows


def test_a_stream_gives_the_same():
    assert SCHEMA.check(iter(ROWS.to_batches(max_chunksize=2))) == SCHEMA.check(ROWS)
    assert SCHEMA.check(ROWS.to_reader(max_chunksize=1)) == SCHEMA.check(ROWS)


def test_description_says_what_to_do_and_shows_no_value():
    text = SCHEMA.check(ROWS).describe()
    assert text.startswith(
        "4 of 6 rows do not fit the schema; --bad-rows zero would use 2 with the value clamped, "
        "rounded or taken as missing and count 2 as nothing:"
    )
    assert "'sex': 1 unknown value. List them in `values` if they are public" in text
    for value in ("secret", "hidden", "private", "quiet", "180", "2023", "20.5"):
        assert value not in text


def test_a_nullable_number_takes_what_is_none_as_missing():
    schema = Schema({"age": Integer(low=0, high=90, nullable=True)})
    text = schema.check(pa.table({"age": ["20", "unknown", "-", "21"]})).describe()
    assert "would use 2 with the value taken as missing:" in text
    assert "nullable" not in text and "clamped" not in text
    only = schema.check(pa.table({"age": ["20", "95"]})).describe()
    assert "would use 1 with the value clamped:" in only


def test_rows_that_fit():
    check = SCHEMA.check(ROWS.slice(5))
    assert check.ok
    assert check.describe() == "All 1 rows fit the schema."


def test_missing_columns_even_without_rows():
    for rows in (pa.table({"age": [1]}), pa.table({"age": pa.array([], pa.int64())})):
        with pytest.raises(
            SchemaError, match="lacks 4 columns of the schema: 'sex', 'job', 'seen'"
        ):
            SCHEMA.check(rows)


def test_all_null_column():
    check = Schema({"x": Integer(low=0, high=1)}).check(pa.table({"x": pa.nulls(3)}))
    assert check.columns == {"x": {"missing": 3}}
