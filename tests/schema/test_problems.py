"""Every problem of a schema is reported at once, and says what to do."""

import pickle

import pytest

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


def problems(**columns) -> list[str]:
    with pytest.raises(SchemaError) as caught:
        Schema(columns)
    return list(caught.value.problems)


def test_all_problems_in_one_error():
    with pytest.raises(SchemaError) as caught:
        Schema(
            {
                "age": Integer(low=120, high=0),
                "sex": Categorical(values=[]),
                "job": Categorical(values=["a", "a"]),
            }
        )
    assert str(caught.value) == (
        "The schema has 3 problems:\n"
        "  'age': low=120 must be below high=0.\n"
        "  'sex': no values given. List every value it may take; they are never learnt from the "
        "data, as that would leak rare ones.\n"
        "  'job': value 'a' is listed twice."
    )


@pytest.mark.parametrize(
    ("column", "part"),
    [
        (Integer(low=0, high=0), "low=0 must be below high=0"),
        (Integer(low="a", high=1), "low='a' must be a whole number"),
        (Integer(low=0.5, high=1), "low=0.5 must be a whole number"),
        (Integer(low=True, high=2), "low=True must be a whole number"),
        (Integer(low=0, high=2**53), "beyond 2^53 - 1"),
        (Integer(low=None, high=1), "low=None must be a whole number"),
        (Integer(low=0, high=1, nullable="maybe"), "nullable='maybe' must be true or false"),
        (Real(low=float("nan"), high=1), "low=nan must be a finite number"),
        (Real(low=0, high=float("inf")), "high=inf must be a finite number"),
        (Real(low=-1.7e308, high=1.7e308), "too wide"),
        (Real(low=0, high=1, decimals=-1), "decimals=-1 must be a number from 0 to 15"),
        (Real(low=0, high=1, decimals=1.5), "decimals=1.5"),
        (Real(low=0, high=1e14, decimals=3), "needs more than 15 digits"),
        (Real(low=0.005, high=1, decimals=2), "low=0.005 has more than decimals=2 decimals"),
        (Categorical(values="abc"), "values='abc' must be a list"),
        (Categorical(values=["a", None]), "an empty value is listed"),
        (Categorical(values=["a", " "]), "an empty value is listed"),
        (Categorical(values=["a", " a"]), "value 'a' is listed twice"),
        (Categorical(values=["a", ["b"]]), "value a list is not text"),
        (Categorical(values=["a"], other="x"), "other='x' must be true or false"),
        (Ordinal(values=[1, 1.0]), "value '1' is listed twice"),
        (Boolean(nullable=3), "nullable=3 must be true or false"),
        (Datetime(low="2024", high="2025-01-01"), "low='2024' must be a date"),
        (Datetime(low="2024-02-30", high="2025-01-01"), "low='2024-02-30' must be a date"),
        (Datetime(low="2025-01-02", high="2025-01-01"), "low=2025-01-02 must be before"),
        (Datetime(low="2025-01-01", high="2025-01-01"), "step=1d is longer than"),
        (Datetime(low="2024-01-01", high="2025-01-01", step="1 moon"), "step='1 moon' must be"),
        (Datetime(low="2024-01-01", high="2025-01-01", step="0d"), "step='0d' must be"),
        ("integer", "'integer' is not a column type"),
    ],
)
def test_each_problem(column, part):
    (problem,) = problems(x=column)
    assert problem.startswith("'x': ")
    assert part in problem


def test_no_columns():
    with pytest.raises(SchemaError, match="no columns given"):
        Schema({})


def test_label_must_be_a_column():
    with pytest.raises(SchemaError, match="label 'income' is not a column. The columns are 'age'"):
        Schema({"age": Boolean()}, label="income")


def test_provenance_is_one_of_three():
    with pytest.raises(SchemaError, match="provenance='guess' must be one of"):
        Schema({"age": Boolean()}, provenance="guess")


def test_error_survives_pickling():
    # Engines send errors between processes.
    error = SchemaError(["one", "two"])
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_equal_facts_written_differently_are_equal():
    assert Integer(low="17", high=90.0) == Integer(low=17, high=90)
    assert Real(low=-0.0, high="1e3") == Real(low=0, high=1000)
    assert Categorical(values=[1, 2.0, True, " x "]) == Categorical(values=["1", "2", "true", "x"])
    zoned = Datetime(low="2024-01-01T02:00+02:00", high="2024-12-31")
    assert zoned == Datetime(low="2024-01-01 00:00:00", high="2024-12-31")


@pytest.mark.parametrize("label", [{"a": 1}, ["a"], 3, True])
def test_a_label_that_is_no_name(label):
    with pytest.raises(SchemaError, match="must be the name of a column"):
        Schema({"a": Integer(low=0, high=1)}, label=label)


@pytest.mark.parametrize("provenance", [{"a": 1}, ["a"], 3])
def test_a_provenance_that_is_no_word(provenance):
    with pytest.raises(SchemaError, match="must be one of"):
        Schema({"a": Integer(low=0, high=1)}, provenance=provenance)
