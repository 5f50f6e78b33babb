"""A draft fits the rows it was read from, and a person must review it."""

import datetime
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.schema import (
    Boolean,
    Categorical,
    Datetime,
    Integer,
    Real,
    Schema,
    SchemaError,
    Time,
    as_types,
    draft,
    survey,
)


def column(cells, **options):
    return draft(pa.table({"x": cells}), **options).columns["x"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([3, 1, 2], Integer(low=1, high=3)),
        ([3, 1, None], Integer(low=1, high=3, nullable=True)),
        ([3.0, 1.0, None], Integer(low=1, high=3, nullable=True)),
        (["3", " 1", "NA"], Integer(low=1, high=3, nullable=True)),
        ([7, 7], Integer(low=7, high=8)),
        ([0, 1, 1], Categorical(values=["0", "1"])),
        (["0.0", "1.0", ""], Categorical(values=["0", "1"], nullable=True)),
        ([0.25, 1.5], Real(low=0.25, high=1.5, decimals=2)),
        (["0.25", "1.5"], Real(low=0.25, high=1.5, decimals=2)),
        (pa.array([0.1, 0.7], pa.float32()), Real(low=0.1, high=0.7, decimals=1)),
        ([0.1, 1 / 3, np.inf], Real(low=0.1, high=1 / 3)),
        ([1e15 / 3, 0.5], Real(low=0.5, high=1e15 / 3)),
        ([1e300, 2.0], Real(low=2.0, high=1e300)),
        ([2.5, 2.5], Real(low=2.5, high=3.5, decimals=1)),
        ([True, False], Boolean()),
        (["True", "false", None], Boolean(nullable=True)),
        (["yes", "no"], Categorical(values=["no", "yes"])),
        (["b", "a ", ""], Categorical(values=["a", "b"], nullable=True)),
        (["None", "Norm"], Categorical(values=["None", "Norm"])),
        (["007", "010"], Categorical(values=["007", "010"])),
        (pa.array(["b", "a"]).dictionary_encode(), Categorical(values=["a", "b"])),
        (["2024-01-05", "2024-01-01"], Datetime(low="2024-01-01", high="2024-01-05")),
        ([datetime.date(2024, 1, 1)], Datetime(low="2024-01-01", high="2024-01-02")),
        (
            ["2024-01-01T10:30", "2024-01-02", "null"],
            Datetime(
                low="2024-01-01T10:30:00", high="2024-01-02T00:00:00", step="1min", nullable=True
            ),
        ),
        (
            [datetime.datetime(2024, 1, 1, 5), datetime.datetime(2024, 1, 1, 7)],
            Datetime(low="2024-01-01T05:00:00", high="2024-01-01T07:00:00", step="1h"),
        ),
    ],
)
def test_types(cells, expected):
    assert column(cells) == expected


def test_a_label_of_few_numbers_has_classes():
    assert column([3, 1, 10], label="x") == Categorical(values=["1", "3", "10"])
    assert column(list(range(49)), label="x") == Integer(low=0, high=48)


def test_it_must_be_reviewed():
    schema = draft(pa.table({"x": [1, 2]}))
    assert (schema.provenance, schema.reviewed) == ("data", False)
    with pytest.raises(SchemaError, match="nobody has reviewed"):
        schema.require_usable()


def test_all_problems_at_once_without_values():
    table = pa.table(
        {
            "name": [f"person {i}" for i in range(200)],
            "gone": pa.nulls(200),
            "empty": [""] * 200,
            "list": [[1]] * 200,
            "large": [2**60 + 2**20 * i for i in range(200)],
            "far": [np.inf] * 200,
            "ok": [i % 100 for i in range(200)],
        }
    )
    with pytest.raises(SchemaError) as caught:
        draft(table)
    text = str(caught.value)
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        "'name'",
        "'gone'",
        "'empty'",
        "'list'",
        "'large'",
        "'far'",
    ]
    assert "more than 100 different texts. If it is a name, an identifier or free text" in text
    assert text.count("leave it out (--drop)") == 6
    assert "person 1" not in text
    schema = draft(table, drop=["name", "gone", "empty", "list", "large", "far"])
    assert schema.names == ("ok",)
    assert len(column(table["name"], most_values=200).values) == 200


def test_a_misspelt_column_to_drop_is_told():
    table = pa.table({"name": ["a", "b"], "age": [1, 2], "a": [1, 2]})
    for drop in (["nmae"], "nmae", ["age", "nmae"]):
        with pytest.raises(SchemaError, match=r"'nmae' is to be dropped.* Did you mean 'name'\?"):
            survey(table, drop=drop)
    assert survey(table, drop="name").schema.names == ("age", "a")


def test_one_bad_column_does_not_stop_the_others():
    people = [f"person {i % 150}" for i in range(200)]
    table = pa.table({"name": people, "ok": [i % 100 for i in range(200)]})
    found = survey(table)
    assert found.schema.names == ("ok",)
    assert list(found.left_out) == ["name"]
    assert found.describe().startswith("Left out of the draft:\n  'name': more than 100 different")
    text = found.to_yaml()
    assert "  # left out: name: more than 100 different texts." in text
    assert Schema.parse(text) == found.schema
    assert "person 1" not in text
    with pytest.raises(SchemaError, match="'name': more than 100"):
        survey(table, label="name")
    with pytest.raises(SchemaError, match="'name': more than 100"):
        survey(table.select(["name"]))


def test_many_values_are_listed_where_rows_are_many():
    codes = [f"C{i:03}" for i in range(200)]
    assert column(codes * 10) == Categorical(values=codes)
    with pytest.raises(SchemaError, match="more than 199 different texts"):
        column(codes * 9 + codes[:195])
    names = [f"N{i:05}" for i in range(1001)]
    with pytest.raises(SchemaError, match="more than 1,000 different texts"):
        column(names * 20)
    found = survey(pa.table({"x": codes * 11 + ["only one"]}))
    assert found.rare == {"x": ("only one",)}


@pytest.mark.parametrize("size", [7, 1000])
def test_a_few_odd_texts_among_numbers(size):
    table = pa.table({"age": ["unknown", "?", *(str(i % 90) for i in range(998))]})
    found = survey(table.to_batches(max_chunksize=size))
    assert found.schema.columns["age"] == Integer(low=0, high=89, nullable=True)
    assert list(found.odd) == ["age"]
    assert "'age': 2 of 1,000 values are not numbers" in found.describe()
    assert "  # odd: 2 of 1,000 values are not numbers." in found.to_yaml()
    assert "unknown" not in found.to_yaml()
    assert found.schema.check(table).refused_rows == 0


def test_odd_texts_that_are_values():
    many = column([*(str(i % 90) for i in range(900)), *["unknown", "refused", "never"] * 20])
    assert many == Integer(low=0, high=89, missing=["never", "refused", "unknown"])
    letters = column([*(str(i % 90) for i in range(900)), *list("abcdef") * 20])
    assert isinstance(letters, Categorical)  # so many that they are values
    few = column([*(str(i % 5) for i in range(900)), "more"])
    assert few == Categorical(values=["0", "1", "2", "3", "4", "more"])
    codes = column([*(f"{i % 90:03}" for i in range(900)), "A10"])
    assert isinstance(codes, Categorical)


def test_nothing_to_draft_from():
    with pytest.raises(SchemaError, match="no rows"):
        draft(pa.table({"x": pa.array([], pa.int64())}))
    with pytest.raises(SchemaError, match="no rows"):
        draft([])
    with pytest.raises(SchemaError, match="label 'y' is not a column. The table has 'x'"):
        draft(pa.table({"x": [1]}), label="y")


def test_parts_must_agree():
    with pytest.raises(SchemaError, match="same columns"):
        draft([pa.table({"x": [1]}), pa.table({"y": [1]})])


scalars = st.one_of(
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.integers(-5, 5),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.decimals(-1000, 1000, places=2).map(float),
)
kinds = st.one_of(
    st.lists(st.none() | scalars.map(float), min_size=1).map(lambda x: pa.array(x, pa.float64())),
    st.lists(st.none() | st.integers(-(2**53) + 1, 2**53 - 1), min_size=1).map(pa.array),
    st.lists(
        st.none() | st.dates(min_value=datetime.date(1, 1, 1), max_value=datetime.date(9999, 1, 1)),
        min_size=1,
    ).map(lambda x: pa.array(x, pa.date32())),
    st.lists(st.none() | st.datetimes(max_value=datetime.datetime(9999, 1, 1)), min_size=1).map(
        lambda x: pa.array(x, pa.timestamp("us"))
    ),
    st.lists(st.none() | st.text(max_size=4), min_size=1).map(lambda x: pa.array(x, pa.string())),
)


@settings(deadline=None, max_examples=200)
@given(kinds, st.booleans())
def test_every_row_fits_its_draft(cells, as_text):
    if as_text:
        cells = pc.cast(cells, pa.string())
    table = pa.table({"x": cells})
    try:
        schema = draft(table)
    except SchemaError as error:
        assert "no row has a" in str(error) or (as_text and "beyond 2^53 - 1" in str(error))
        return
    assert schema.check(table).ok
    assert draft(iter(table.to_batches(max_chunksize=2))) == schema


@pytest.mark.data
@pytest.mark.parametrize("name", ["adult", "cervical_cancer"])
def test_public_tables_come_back_as_they_were(name):
    folder = os.environ.get("NACRE_DATA")
    if not folder:
        pytest.skip("Set NACRE_DATA to the folder of public benchmark tables to run this.")
    table = pq.read_table(Path(folder) / name / f"{name}.parquet")
    schema = draft(table)
    assert schema.check(table).ok
    back = as_types(schema.decode(schema.encode(table)), table.schema)
    assert back.schema.types == table.schema.types
    for field in schema.names:
        if getattr(schema.columns[field], "decimals", 0) is not None:
            assert back[field].equals(table[field]), field


def crowd() -> pa.Table:
    n = 200
    return pa.table(
        {
            "plan": ["vip\nclub"] * 9 + ["basic"] * 10 + ["gold"] * (n - 19),
            "age": [17] * 3 + [40] * (n - 13) + [90] * 10,
            "code": ["1", "1.0"] * 4 + ["2"] * (n - 8),
            "paid": [0.5] * n,
            "seen": ["2020-01-01"] * 20 + ["2020-02-01"] * (n - 21) + ["2021-01-01"],
            "member": [True] + [False] * (n - 1),
        }
    )


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("texts", [False, True])
def test_facts_that_few_rows_hold_are_named(size, texts):
    table = crowd()
    if texts:
        table = table.cast(pa.schema([(name, pa.string()) for name in table.column_names]))
    found = survey(table.to_batches(max_chunksize=size), label="code")
    assert found.rare == {
        "plan": ("vip\nclub",),
        "age": (),
        "code": ("1",),
        "paid": (),
        "seen": (),
        "member": (),
    }
    # Bounds that few rows hold are no longer theirs.
    assert found.schema.columns["age"] == Integer(low=15, high=90)
    assert found.schema.columns["seen"] == Datetime(low="2020-01-01", high="2021-01-31")


def test_the_reviewer_gets_counts_and_the_draft_the_values():
    found = survey(crowd(), label="code")
    assert found.describe().splitlines() == [
        "Bounds that fewer than 10 rows hold were rounded outward in 2 columns, unless they are "
        "round: 'age', 'seen'.",
        "Held by fewer than 10 rows, and marked `# rare` in the draft: look at these first.",
        "  'plan': 1 of 3 values",
        "  'code': 1 of 2 values",
    ]
    text = found.to_yaml()
    assert '  # rare, fewer than 10 rows each: "vip\\nclub"\n  plan:' in text
    assert "  # fewer than 10 rows hold it, so rounded outward unless round: low\n  age:" in text
    assert Schema.parse(text) == found.schema == draft(crowd(), label="code")
    assert "rare" not in found.schema.to_yaml()
    assert survey(crowd().select(["paid"])).describe().startswith("Every value and bound")


def clock(minutes):
    return [f"{minute // 60:02d}:{minute % 60:02d}" for minute in minutes]


def test_times_of_day_are_drafted_from_text_and_from_types():
    minutes = [483, *range(490, 1060, 2), 1062]
    times = [datetime.time(minute // 60, minute % 60) for minute in minutes]
    seconds = [f"{text}:00" for text in clock(minutes)]
    table = {"text": clock(minutes), "typed": times, "long": seconds}
    table["shift"] = clock([360, 840, 1320] * 95 + [360, 840])
    table["some"] = [*clock(minutes[:-1]), ""]
    found = survey(pa.table(table))
    bounds = {"low": "08:00", "high": "18:00"}  # held by one row each, so rounded
    assert found.schema.columns == {
        "text": Time(**bounds),
        "typed": Time(**bounds),
        "long": Time(**bounds, format="%H:%M:%S"),
        "shift": Time(low="06:00", high="22:00", step="1h"),
        "some": Time(**bounds, nullable=True),
    }
    assert not any(found.rare.values())
    assert "taken for times of day" in found.describe()
    assert found.schema.check(pa.table(table)).ok
    assert Schema.parse(found.to_yaml()) == found.schema


def test_a_few_times_of_day_are_not_guessed_at():
    column = draft(pa.table({"at": ["08:00", "22:00"]})).columns["at"]
    assert column == Time(low="08:00", high="22:00")
    assert draft(pa.table({"at": ["23:59"] * 9})).columns["at"] == Time(low="23:58", high="23:59")


def test_lengths_beyond_a_day_are_no_times_of_day():
    table = pa.table({"at": [*clock(range(600)), "31:10"] * 2})
    assert isinstance(draft(table, most_values=1000).columns["at"], Categorical)
