"""Columns that look-up tables compute are answered from the tables of what they follow from."""

import numpy as np
import pytest

from nacre.answers.answer import answer
from nacre.answers.computed import computed_measurements
from nacre.errors import NacreError
from nacre.histograms.crosstable import Axis, CrossTable
from nacre.histograms.measurement import MISSING
from nacre.schema import Categorical, Integer, Schema

SCHEMA = Schema(
    {
        "code": Categorical(values=("A1", "A2", "B1"), nullable=True),
        "group": Categorical(values=("A", "B", "C"), nullable=True),
        "price": Integer(low=0, high=9),
        "age": Integer(low=0, high=9, nullable=True),
        "child": Categorical(values=("no", "yes"), nullable=True),
        "sex": Categorical(values=("f", "m")),
    },
    facts=[
        {"group determined by code": {"A1": "A", "A2": "A", "B1": "B", "missing": "missing"}},
        {"price determined by group": {"A": 3, "B": 7, "C": 1, "missing": 0}},
        {"child determined by age": {"0..4": "yes", "5..9": "no", "missing": "missing"}},
    ],
)


def axis(name, *groups, low=None, high=None):
    cells = np.arange(len(groups))
    return Axis(
        name,
        cells if low is None else np.array(low),
        cells if high is None else np.array(high),
        np.array(groups),
    )


CODE = axis("code", 0, 1, 2, 3)
SEX = axis("sex", 0, 1)
COUNTS = np.array([[10.0, 20], [30, 40], [50, 60], [1, 2]])
BY_SEX = CrossTable((CODE, SEX), COUNTS, np.full((4, 2), 3.0))


def test_counts_of_a_group_are_those_of_its_codes():
    found = answer(SCHEMA, [BY_SEX], "group by sex")
    assert found.values == (("missing", "A", "B"), ("f", "m"))
    np.testing.assert_allclose(found.counts, [[1, 2], [40, 60], [50, 60]])
    np.testing.assert_allclose(found.noise, np.sqrt([[9, 9], [18, 18], [9, 9]]))
    swapped = answer(SCHEMA, [BY_SEX], ["sex", "group"])
    np.testing.assert_allclose(swapped.counts, found.counts.T)


def test_what_follows_from_a_computed_column_is_computed_too():
    found = answer(SCHEMA, [BY_SEX], "price")
    assert found.values == (("0", "3", "7"),)
    np.testing.assert_allclose(found.counts, [3, 100, 110])
    np.testing.assert_allclose(found.noise**2, [18, 36, 18])


def test_histograms_are_what_is_answered():
    found = {m.column: m for m in computed_measurements(SCHEMA, [BY_SEX], SCHEMA.names)}
    assert set(found) == {"group", "price"}  # what is counted itself is told elsewhere
    assert found["group"].low.tolist() == [0, 1, 3]  # A, B, and the code of gaps; C never occurs
    for name, measurement in found.items():
        said = answer(SCHEMA, [BY_SEX], name)
        assert sorted(measurement.counts) == sorted(said.counts)
        assert sorted(np.sqrt(measurement.variance)) == pytest.approx(sorted(said.noise))
    assert found["price"].total_noise == pytest.approx(np.sqrt(8 * 9))


def test_noise_is_not_counted_twice():
    assert answer(SCHEMA, [BY_SEX], "sex").noise[0] == pytest.approx(6)


def test_bins_that_hold_values_of_two_groups_tell_nothing():
    coarse = CrossTable((axis("code", 0, 1, 1, 2), SEX), COUNTS[:3], np.full((3, 2), 3.0))
    with pytest.raises(NacreError, match="'group' cannot be told"):
        answer(SCHEMA, [coarse], "group")
    # A finer table beside it does.
    assert answer(SCHEMA, [coarse, BY_SEX], "group").counts[1] == 100


@pytest.mark.parametrize(("edges", "told"), [((0, 5), True), ((0, 4), False)])
def test_ranges_of_a_number(edges, told):
    high = [edges[1] - 1, 9, MISSING]
    ages = axis("age", 0, 1, 2, low=[*edges, MISSING], high=high)
    table = CrossTable((ages,), np.array([5.0, 7, 2]), np.full(3, 1.0))
    if told:
        found = answer(SCHEMA, [table], "child")
        assert found.values == (("missing", "no", "yes"),)
        np.testing.assert_allclose(found.counts, [2, 7, 5])
    else:
        with pytest.raises(NacreError, match="cannot be told"):
            answer(SCHEMA, [table], "child")


def test_a_sum_is_told_to_follow_from_others():
    columns = {name: Integer(low=0, high=9) for name in ("a", "b")} | {
        "total": Integer(low=0, high=18)
    }
    schema = Schema(columns, facts=["total = a + b"])
    with pytest.raises(
        NacreError, match=r"'total' follows from other columns \(`total = a \+ b`\)"
    ):
        answer(schema, [CrossTable((axis("a", *range(10)),), np.ones(10), np.ones(10))], "total")


def test_a_group_that_bins_mix_says_what_to_ask_for():
    mixed = CrossTable((axis("code", 0, 1, 1, 2), SEX), np.ones((3, 2)), np.ones((3, 2)))
    with pytest.raises(NacreError, match="'group' from 'code'.*Ask for 'code by sex'"):
        answer(SCHEMA, [mixed], "group by sex")
    with pytest.raises(NacreError, match="'group by age' was not counted"):
        answer(SCHEMA, [mixed], "group by age")
