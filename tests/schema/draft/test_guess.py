"""What a draft guesses of codes, identifiers, dates and tails; every row still fits."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import nacre
from nacre.schema import Categorical, Datetime, Integer, Ordinal, Real, Schema, SchemaError, survey

N = 400
RNG = np.random.default_rng(0)
AMOUNTS = RNG.integers(0, 300, N)


def column(cells, name="x", **options):
    table = pa.table({name: cells, "amount": AMOUNTS[: len(cells)]})
    found = survey(table, **options)
    assert found.schema.check(table).ok
    return found.schema.columns.get(name)


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("zip", [98103, 98115, 98199, 98004] * 100, ["98004", "98103", "98115", "98199"]),
        ("admission_type_id", [1, 2, 3, 6] * 100, ["1", "2", "3", "6"]),
        ("x", [94, 95] * 200, ["94", "95"]),
        ("x", ["1", "2"] * 200, ["1", "2"]),
    ],
)
def test_codes_in_whole_numbers_are_listed(name, cells, expected):
    assert column(cells, name) == Categorical(values=expected)


def test_amounts_stay_numbers():
    assert column([0, 1, 2, 3] * 100) == Integer(low=0, high=3)
    assert column([0, 1, 2, 50] * 100, most_values=3) == Integer(low=0, high=50)
    assert column([1, 2, 4, 8, 20] * 80) == Ordinal(values=["1", "2", "4", "8", "20"])
    rare = [*[1, 2, 4, 8] * 99, 20, 20, 20, 20]  # few rows hold it, so others may do
    assert column(rare) == Integer(low=1, high=20)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("row", list(range(1000, 1000 + N))),
        ("row", RNG.permutation(5 * N)[:N].tolist()),  # by chance many would be equal
        ("patient_id", (RNG.integers(0, 150, N) * 7919 + 10**6).tolist()),
        ("mail", [f"{i}@example.org" for i in range(N)]),
    ],
)
def test_identifiers_are_left_out_and_named(name, cells):
    table = pa.table({name: cells, "amount": AMOUNTS})
    found = survey(table, most_values=100)
    assert found.schema.names == ("amount",)
    assert list(found.identifiers) == [name]
    assert f"  # left out: {name}: " in found.to_yaml()
    assert f"'{name}': " in found.describe()
    assert name in survey(table, keep=name, most_values=N).schema.names


def test_wide_measurements_are_no_identifiers():
    weights = RNG.permutation(10**6)[:N].tolist()
    assert column(weights) == Integer(low=0, high=1_000_000)
    with pytest.raises(SchemaError, match=r"'amuont' is to be kept.*Did you mean 'amount'\?"):
        survey(pa.table({"amount": AMOUNTS}), keep=["amuont"])


def test_codes_for_missing_values():
    numbers = RNG.integers(0, 90, N)
    assert column(np.where(RNG.random(N) < 0.2, -9, numbers)) == Integer(
        low=0, high=89 + 1, missing=["-9"]
    )
    texts = np.where(RNG.random(N) < 0.2, "N", numbers.astype(str))
    assert column(texts).missing == ("N",)
    assert column([-1, 0, 1, 2] * 100) == Integer(low=-1, high=2)  # it may be a score
    assert column(["?", "a", "b", "c"] * 100) == Categorical(values=["a", "b", "c"], missing=["?"])
    assert column(RNG.integers(-20, 20, N)).missing == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20141013T000000", "%Y%m%dT%H%M%S"),
        ("20141013", "%Y%m%d"),
        ("13.10.2014", "%d.%m.%Y"),
        ("10/13/2014", "%m/%d/%Y"),
        ("13/10/2014 08:30", "%d/%m/%Y %H:%M"),
    ],
)
def test_dates_in_other_formats(text, expected):
    found = column([text] * 100)
    assert isinstance(found, Datetime)
    assert found.format == expected


def test_days_as_whole_numbers_and_days_that_may_be_months():
    assert column([20240131, 20240201] * 50).format == "%Y%m%d"
    assert column([20240131, 20240232] * 50) == Categorical(values=["20240131", "20240232"])
    found = survey(pa.table({"x": ["01/02/2024", "03/04/2024"] * 50, "amount": AMOUNTS[:100]}))
    assert found.schema.columns["x"].format == "%d/%m/%Y"
    assert "it could be %m/%d/%Y, too" in found.to_yaml()


def test_steps_spikes_and_tails():
    rents = column(50 * RNG.integers(1, 80, N))
    assert (rents.low % 50, rents.high % 50, rents.step) == (0, 0, 50)
    assert column(RNG.integers(0, 41, N) / 4) == Real(low=0, high=10, decimals=2, step=0.25)
    incomes = np.where(RNG.random(N) < 0.2, 1250, RNG.integers(-2000, 50_000, N))
    assert column(incomes).spikes == (1250,)
    # The middle of a bell is held by as many rows, and so are its neighbors.
    bell = RNG.normal(132, 18, 5000).round()
    heaped = np.where(RNG.random(5000) < 0.1, 120, bell)
    found = survey(pa.table({"bell": bell, "heaped": heaped})).schema.columns
    assert (found["bell"].spikes, found["heaped"].spikes) == ((), (120,))
    tail = np.append(RNG.integers(0, 100, 4999), 10**6)
    found = survey(pa.table({"x": tail}))
    assert "`high: 100, clamp: true`" in found.to_yaml()
    cut = Integer(low=0, high=100, clamp=True)
    assert Schema({"x": cut}).check(pa.table({"x": tail})).ok


def test_ranges_are_ordered():
    assert column(["20-29", "<20", "30-39", "40+"] * 100) == Ordinal(
        values=["<20", "20-29", "30-39", "40+"]
    )


def test_rare_values_are_gathered_on_request():
    cells = ["a"] * 200 + ["b"] * 195 + ["c"] * 4 + ["d"]
    assert column(cells, rare="other") == Categorical(values=["a", "b"], other=True)
    with pytest.raises(nacre.NacreError, match="'keep' or 'other'"):
        column(cells, rare="drop")


def test_decimal_commas_are_named():
    found = survey(pa.table({"x": [f"{i},5" for i in range(N)], "amount": AMOUNTS}))
    assert "decimal comma" in found.left_out["x"]


def test_of_few_rows_nothing_is_guessed():
    assert survey(pa.table({"id": [7, 13, 84]})).schema.columns["id"] == Integer(low=7, high=84)


def test_a_frame_in_python(tmp_path):
    frame = pd.DataFrame({"id": range(N), "a": AMOUNTS, "b": RNG.permutation(AMOUNTS)})
    frame["c"] = frame["a"] + frame["b"]
    found = nacre.draft(frame, label="a")
    found.write(tmp_path / "draft.yaml")
    schema = Schema.read(tmp_path / "draft.yaml")
    assert schema == found.schema
    assert (schema.provenance, schema.reviewed, schema.label) == ("data", False, "a")
    with pytest.raises(SchemaError, match="nobody has reviewed"):
        schema.require_usable()
    persons = nacre.draft(frame, unit={"column": "id", "rows": 3})
    assert persons.schema.unit.rows == 3 and "held by 10 persons" in persons.describe()


@pytest.mark.parametrize(
    ("cell", "step", "form"),
    [
        ("2024-03-{:02d} 08:39", "1min", None),  # as files are written anyway
        ("2024-03-{:02d} 08:39:00", "1min", "%Y-%m-%d %H:%M:%S"),
        ("2024-03-{:02d}T08:39:10", "1s", "%Y-%m-%dT%H:%M:%S"),
        ("2024-03-{:02d}T08:39:10.5", "1ms", None),
    ],
)
def test_times_are_written_again_as_they_came(cell, step, form):
    column = survey(pa.table({"at": [cell.format(k % 28 + 1) for k in range(60)]})).schema
    assert (column.columns["at"].step, column.columns["at"].format) == (step, form)
