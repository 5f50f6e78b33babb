"""Codes for missing values beside a few whole numbers, and real values that are none."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import nacre
from nacre.schema import Categorical, Integer, Ordinal, Schema
from nacre.schema.document import column as as_column
from nacre.schema.draft.coded import coded

N = 1200
ROOMS = [1, 2, 3, 4, 5, 6, 7, 8]


def drafted(values, name="x", **options):
    cells = np.resize(np.array(values), N)
    table = pd.DataFrame({name: cells, "amount": np.arange(N) % 300})
    found = nacre.draft(table, **options)
    assert found.schema.check(pa.Table.from_pandas(table)).ok
    return found.schema.columns[name], found.to_yaml()


@pytest.mark.parametrize(
    ("codes", "others", "expected"),
    [
        ([-9], ROOMS, Integer(low=1, high=8, missing=["-9"])),
        ([-1], ROOMS, Integer(low=1, high=8, missing=["-1"])),
        ([99], ROOMS, Integer(low=1, high=8, missing=["99"])),
        ([999], [0, 1, 2, 3], Integer(low=0, high=3, missing=["999"])),
        ([97, 98, 99], [0, 1, 2, 3, 4], Integer(low=0, high=4, missing=["97", "98", "99"])),
        ([-9, -1], [0, 1, 2], Integer(low=0, high=2, missing=["-1", "-9"])),
        ([-9, 99], [1, 2, 3], Integer(low=1, high=3, missing=["-9", "99"])),
        ([-9], [0, 1], Categorical(values=["0", "1"], missing=["-9"])),
        ([99], [1, 2], Categorical(values=["1", "2"], missing=["99"])),
    ],
)
def test_what_lies_apart_from_a_few_numbers_is_missing(codes, others, expected):
    column, text = drafted([*codes, *others])
    assert column == expected
    ends = f"apart from {others[0]} to {others[-1]}, taken for missing values"
    assert f"{', '.join(expected.missing)}: {ends}." in " ".join(text.split("\n  # "))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (list(range(10)), Integer(low=0, high=9)),
        ([-1, 0, 1], Integer(low=-1, high=1)),  # a score
        ([-2, -1, 0, 1, 2], Integer(low=-2, high=2)),
        ([-1, 1], Categorical(values=["-1", "1"])),
        ([1, 2, 4, 99], Ordinal(values=["1", "2", "4", "99"])),  # others have holes, too
        ([5, 6, 7, 99], Ordinal(values=["5", "6", "7", "99"])),  # and do not begin at 0 or 1
        ([1, 2, 3, 50], Ordinal(values=["1", "2", "3", "50"])),
        ([*ROOMS, 96, 97, 98, 99], Ordinal(values=list(map(str, [*ROOMS, 96, 97, 98, 99])))),
    ],
)
def test_real_values_are_not_taken_for_codes(values, expected):
    column, text = drafted(values)
    assert column == expected
    assert "missing" not in text.split("columns:")[1]


@pytest.mark.parametrize(
    ("values", "offer"),
    [
        ([-1, 0, 1, 2], Integer(low=0, high=2, missing=["-1"])),
        ([0, 1, 2, 3, 4, 5, 9], Integer(low=0, high=5, missing=["9"])),
        ([1, 2, 3, 8, 9], Integer(low=1, high=3, missing=["8", "9"])),
        ([-1, 0, 1, 2, 99], Integer(low=0, high=2, missing=["99", "-1"])),
    ],
)
def test_what_may_be_a_code_is_offered_and_not_decided(values, offer):
    column, text = drafted(values)
    assert set(column.missing) == set(offer.missing) - {"-1", "8", "9"}
    (line,) = [each for each in text.splitlines() if each.startswith("  # x: {")]
    taken = Schema.parse(f"nacre: 1\ncolumns:\n  {line.removeprefix('  # ')}\n")
    assert taken.columns["x"] == offer
    assert as_column(offer.to_dict()) == offer


def test_of_lists_and_labels_nothing_is_decided():
    values = ["1", "2", "3", "99"]
    assert drafted([1, 2, 3, 99], "ward_code")[0] == Categorical(values=values)
    assert drafted([1, 2, 3, 99], label="x")[0] == Categorical(values=values)


def test_a_number_that_few_rows_hold_is_no_code():
    assert coded({**dict.fromkeys("1234", 50), "99": 9}).codes == ()
    assert coded({**dict.fromkeys("1234", 50), "99": 10}).codes == (99,)
    assert coded({**dict.fromkeys("1234", 5), "99": 10}).codes == ()  # too few rows in all


def test_bounds_beside_a_code_are_marked_where_few_rows_hold_them():
    for code in (-9, 99):
        values = [*[code] * 40, *[1, 2, 3, 4, 5, 6] * 60, *[7] * 3]
        table = pd.DataFrame({"x": values, "amount": np.arange(len(values)) % 300})
        found = nacre.draft(table)
        column = found.schema.columns["x"]
        assert (column.low, column.high) == (1, 7)
        assert found.rare["x"] == ("high",)


@pytest.mark.parametrize("value", ["31415926535897932384", "1e+17", "inf", "-inf", "1e400"])
@pytest.mark.parametrize("rows", [1, 60])
def test_numbers_that_are_not_written_as_whole_ones_are_drafted(value, rows, tmp_path):
    """They ended a draft, with the value in the error."""
    cells = np.resize(["-9", "1", "2", "3", "99"], N)
    cells = [value] * rows + cells[rows:].tolist()
    path = tmp_path / "t.csv"
    pd.DataFrame({"x": cells, "amount": np.arange(N) % 300}).to_csv(path, index=False)
    assert "x" in nacre.draft(path).to_yaml()
