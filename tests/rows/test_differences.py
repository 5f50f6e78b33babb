"""Differences in place of columns: exact, row by row, and found from public facts alone."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.rows.difference import SEARCHED, Difference, find_differences
from nacre.rows.differences import Differences
from nacre.schema import Categorical, Datetime, Encoded, Integer, Ordinal, Real, Schema
from nacre.schema.constraints.condition import ColumnValues

DAYS = Datetime(low="2021-01-01", high="2023-12-31")
HOURS = Datetime(low="2021-01-01T06:00", high="2024-02-01", step="5h")
STAY = {"admitted": DAYS, "discharged": dataclasses.replace(DAYS, nullable=True)}


def said(columns, *constraints, label=None):
    """The differences that a schema asks for, as text."""
    return [str(each) for each in find_differences(Schema(columns, label, constraints=constraints))]


def rows(schema, rng, n=500):
    """Encoded rows, uniform over everything that the layout allows."""
    layout = schema.layout
    ticks = rng.integers(0, layout.limits, (n, len(layout.numbers)), endpoint=True)
    codes = rng.integers(0, layout.sizes, (n, len(layout.codes)))
    for place, code in enumerate(layout.codes):
        if code.role == "missing":
            ticks[codes[:, place] == 1, layout.number(code.name)] = 0
    return layout.encoded(ticks, codes)


def holds(schema, encoded):
    view = ColumnValues.of(schema.columns, encoded)
    return np.logical_and.reduce([rule.holds(view) for rule in schema.rules])


def same(one: Encoded, other: Encoded) -> bool:
    parts = ("ticks", "codes", "valid")
    return one.layout == other.layout and all(
        np.array_equal(getattr(one, part), getattr(other, part)) for part in parts
    )


def test_a_stay_is_modeled_by_its_length():
    schema = Schema({"age": Integer(low=0, high=9), **STAY}, constraints=["admitted <= discharged"])
    found = Differences.of(schema)
    assert found.stated == (Difference("discharged", ">=", "admitted"),)
    number = found.modeled.layout.numbers[2]
    assert (number.name, number.ticks) == ("discharged", 1094)
    assert found.modeled.layout.codes == schema.layout.codes
    encoded = schema.layout.encoded(
        [[1, 5, 9], [2, 5, 5], [3, 5, 0], [4, 7, 3]], [[0], [0], [1], [0]]
    )
    modeled = found.subtract(encoded)
    # The third is missing; the fourth breaks the constraint and counts as leaving the same day.
    assert modeled.ticks.tolist() == [[1, 5, 4], [2, 5, 0], [3, 5, 0], [4, 7, 0]]
    assert found.add(modeled).ticks.tolist() == [[1, 5, 9], [2, 5, 5], [3, 5, 0], [4, 7, 7]]


NUMBERS = [
    Integer(low=-5, high=40),
    Integer(low=0, high=40, nullable=True),
    Real(low=-2, high=38.5, decimals=1),
    Real(low=1, high=41, decimals=3, nullable=True),
]
TIMES = [
    DAYS,
    HOURS,
    dataclasses.replace(DAYS, step="2d", nullable=True),
    Datetime(low="2021-01-02", high="2024-06-30", step="7h", nullable=True),
]
DENSE = [Real(low=0, high=10), Real(low=0, high=10, nullable=True)]
PAIRS = [(a, b) for kind in (NUMBERS, TIMES, DENSE) for a in kind for b in kind]


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_every_row_that_satisfies_it_comes_back_and_no_other_does(left, right, sign):
    schema = Schema({"left": left, "right": right}, constraints=[f"left {sign} right"])
    found = Differences.of(schema)
    assert len(found.stated) == 1
    rng = np.random.default_rng(0)
    encoded = rows(schema, rng)
    good = holds(schema, encoded)
    assert 0.2 < good.mean() < 1
    modeled = found.subtract(encoded)
    assert (modeled.ticks >= 0).all()
    assert (modeled.ticks <= found.modeled.layout.limits).all()
    back = found.add(modeled)
    assert same(back[good], encoded[good])
    # Whatever a model draws, what is in bounds satisfies the constraint.
    drawn = found.add(rows(found.modeled, rng))
    assert holds(schema, drawn)[drawn.valid].all()
    assert 0.1 < drawn.valid.mean() < 1
    assert (drawn.ticks >= 0).all()
    assert (drawn.ticks <= schema.layout.limits).all()


@given(st.integers(0, 2**32 - 1))
def test_each_row_by_itself(seed):
    schema = Schema({"a": TIMES[2], "b": TIMES[3]}, constraints=["a <= b"])
    found, rng = Differences.of(schema), np.random.default_rng(seed)
    encoded = rows(schema, rng, 20)
    encoded = dataclasses.replace(encoded, valid=rng.random(20) < 0.5)
    whole = found.subtract(encoded)
    single = [found.subtract(encoded[place : place + 1]) for place in range(20)]
    assert same(Encoded.concat(single), whole)
    assert np.array_equal(whole.valid, encoded.valid), "a bad row stays a bad row"


def test_a_missing_anchor_takes_no_value_away():
    nullable = dataclasses.replace(DAYS, nullable=True)
    schema = Schema({"a": nullable, "b": nullable}, constraints=["a <= b"])
    encoded = schema.layout.encoded([[0, 700], [10, 0], [0, 0]], [[1, 0], [0, 1], [1, 1]])
    for constraint in ("a <= b", "b >= a", "b > a"):
        found = Differences.of(schema.with_constraints([constraint]))
        assert same(found.add(found.subtract(encoded)), encoded)


def test_a_chain_is_added_up_in_order():
    columns = dict.fromkeys("cab", DAYS)
    schema = Schema(columns, constraints=["b <= c", "a <= b <= c", "a <= c"])
    found = Differences.of(schema)
    # Both are counted from the one in the middle.
    assert [str(each) for each in found.stated] == ["c >= b", "a <= b"]
    found = Differences(schema, (Difference("c", ">=", "b"), Difference("b", ">=", "a")))
    rng = np.random.default_rng(1)
    encoded = schema.layout.encoded(np.sort(rng.integers(0, 1095, (200, 3)), axis=1)[:, [2, 0, 1]])
    modeled = found.subtract(encoded)
    assert np.array_equal(modeled.ticks[:, 0], encoded.ticks[:, 0] - encoded.ticks[:, 2])
    assert same(found.add(modeled), encoded)


def test_what_follows_already_is_not_replaced_again():
    columns = dict.fromkeys("abcd", DAYS)
    assert said(columns, "a <= b", "b >= a", "a < b") == ["b >= a"]
    # One later than two others: both are counted from it.
    assert said(columns, "a <= c", "b <= c") == ["a <= c", "b <= c"]
    assert said(columns, "a <= b", "b <= c", "c <= a") == ["b >= a", "c <= a"]


def test_a_long_chain_is_counted_from_its_middle_before_errors_add_up():
    times, numbers = dict.fromkeys("abcdef", DAYS), dict.fromkeys("abcdef", Integer(low=0, high=9))
    order = [f"{one} <= {other}" for one, other in itertools.pairwise("abcdef")]
    assert said(times, *order) == ["a <= b", "b <= c", "d >= c", "e >= d", "f >= e"]
    assert said(numbers, *order) == ["a <= b", "c >= b", "d <= e", "f >= e"]
    assert sorted(said(times, *order[::-1])) == sorted(said(times, *order))
    # Of many, the first way of each that goes together with those before.
    times = dict.fromkeys("abcdefghijk", DAYS)
    order = [f"{one} <= {other}" for one, other in itertools.pairwise(times)]
    assert len(order) > SEARCHED
    assert said(times, *order)[:4] == ["b >= a", "c >= b", "d >= c", "f >= e"]


def test_the_wider_column_is_replaced_and_never_the_label():
    birth, seen = Integer(low=0, high=100), Integer(low=0, high=80)
    assert said({"a": birth, "b": seen}, "a <= b") == ["a <= b"]
    assert said({"a": seen, "b": birth}, "a <= b") == ["b >= a"]
    assert said({"a": birth, "b": birth}, "a <= b", label="b") == ["a <= b"]
    assert said({"a": birth, "b": birth}, "b > a", label="a") == ["b > a"]


@pytest.mark.parametrize(
    ("columns", "constraint"),
    [
        # Draws that break these are rare, or never happen.
        ({"a": Integer(low=0, high=10), "b": Integer(low=8, high=20)}, "a <= b"),
        ({"a": Integer(low=0, high=8), "b": Integer(low=8, high=20)}, "a <= b"),
        ({"a": Datetime(low="1900-01-01", high="2023-12-31"), "b": DAYS}, "a <= b"),
        # These have no exact difference.
        ({"a": Real(low=0, high=10), "b": Real(low=0, high=11)}, "a <= b"),
        ({"a": Real(low=0, high=10), "b": Integer(low=0, high=10)}, "a <= b"),
        (
            {n: Real(low=0, high=1e5, decimals=9) for n in "a"}
            | {"b": Integer(low=0, high=10**13)},
            "a < b",
        ),
        # These say something else.
        ({"a": DAYS, "b": DAYS}, "a = b"),
        ({"a": DAYS, "b": DAYS}, "a != b"),
        ({"a": DAYS, "b": DAYS}, "a >= 2022-01-01"),
        ({"a": DAYS, "b": DAYS, "c": Categorical(values=["x", "y"])}, "a <= b if c = x"),
        ({"a": DAYS, "b": DAYS}, {"forbid": "a > b"}),
        ({n: Ordinal(values=["low", "mid", "high"]) for n in "ab"}, "a <= b"),
    ],
)
def test_the_rest_is_left_to_drawing_again(columns, constraint):
    schema = Schema(columns, constraints=[constraint])
    found = Differences.of(schema)
    assert found.stated == ()
    assert found.modeled is schema
    encoded = rows(schema, np.random.default_rng(0), 5)
    assert found.subtract(encoded) is encoded
    assert found.add(encoded) is encoded


def test_a_sum_out_of_bounds_is_marked_not_piled_up():
    schema = Schema({"a": DAYS, "b": DAYS}, constraints=["a <= b"])
    found = Differences.of(schema)
    drawn = found.modeled.layout.encoded([[1000, 94], [1000, 95], [0, 1094]])
    assert found.add(drawn).valid.tolist() == [True, False, True]


def test_the_bounds_are_those_of_the_public_schema():
    later = Datetime(low="2022-01-01", high="2024-12-31")
    (number,) = Differences.of(
        Schema({"a": DAYS, "b": later}, constraints=["a < b"])
    ).modeled.layout.numbers[1:]
    assert number.ticks == 365 + 1094 + 1 - 1  # 2024 is a leap year, and the same day is excluded


@pytest.mark.parametrize(
    "wrong",
    [
        [["b", ">=", "a"], ["a", "<=", "b"]],
        [["b", ">=", "a"], ["b", ">", "a"]],
        [["b", "=", "a"]],
        [["c", ">=", "a"]],
        [["b", ">=", "nothing"]],
        [["b", ">="]],
        [["b", ">=", "b"]],
        7,
    ],
)
def test_what_a_file_may_not_say(wrong):
    schema = Schema({"a": DAYS, "b": DAYS, "c": Categorical(values=["x", "y"])})
    with pytest.raises((ValueError, TypeError, KeyError)):
        Differences.from_list(schema, wrong)


def test_plain_data_and_back():
    schema = Schema({"a": DAYS, "b": DAYS}, constraints=["a <= b"])
    found = Differences.of(schema)
    bare = schema.with_constraints([])
    assert Differences.from_list(bare, found.to_list()).stated == found.stated


def test_a_number_is_not_measured_from_one_that_may_be_missing():
    income = Real(low=0, high=2_500_000, decimals=2)
    joint = Real(low=0, high=1_500_000, decimals=2, nullable=True)
    columns = {"income": income, "joint": joint}
    # The wider one would be replaced, but for the gaps of the other.
    assert said(columns, "income <= joint") == ["joint >= income"]
    narrow = dataclasses.replace(joint, low=1_000_000, high=1_200_000)
    assert said({"income": income, "joint": narrow}, "income <= joint") == []
    whole = dataclasses.replace(joint, nullable=False)
    assert said({"income": income, "joint": whole}, "income <= joint") == ["income <= joint"]


LOAN = {
    "amount": Integer(low=0, high=1000),
    "balance": Integer(low=0, high=1000, nullable=True),
    "status": Categorical(values=("open", "paid", "void", "lost")),
}
DEMANDS = (
    "balance <= amount",
    "balance = 0 if status = paid",
    "amount = 500 if status = void",
    "balance is missing if status = lost",
)


def test_a_value_that_a_rule_demands_does_not_end_a_difference():
    assert said(LOAN, *DEMANDS) == ["balance <= amount"]
    # Not if it follows from what is replaced itself: that is not known before it is added up.
    assert said(LOAN, *DEMANDS, "amount = 500 if balance = 3") == []


@given(seed=st.integers(0, 2**32 - 1))
def test_demanded_values_come_back_and_hold_in_whatever_is_drawn(seed):
    schema = Schema(LOAN, constraints=DEMANDS)
    way, rng = Differences.of(schema), np.random.default_rng(seed)
    drawn = rows(way.modeled, rng)
    found = way.add(drawn)
    kept = np.flatnonzero(found.valid)
    assert holds(schema, found)[kept].all()
    paid = found.codes[:, schema.layout.code("status")] == 1
    assert found.valid[paid].all()  # no row is given up for a value that is set anyway
    lawful = found[kept]
    # All that the rules permit comes back, gaps where a number is demanded, too.
    every = rows(schema, rng, 2000)
    every = every[np.flatnonzero(holds(schema, every))]
    assert same(way.add(way.subtract(every)), every)
    back = way.subtract(lawful)
    assert same(way.add(back), lawful)
    balance, status = (schema.layout.number("balance"), schema.layout.code("status"))
    assert not back.ticks[lawful.codes[:, status] == 1, balance].any()


def test_of_two_columns_the_one_that_rules_demand_values_of_is_replaced():
    columns = {**LOAN, "balance": Integer(low=0, high=1000)}
    assert said(columns, "balance <= amount") == ["amount >= balance"]
    assert said(columns, *DEMANDS[:2]) == ["balance <= amount"]
    # Not if it is the label, and not if they demand values of both.
    assert said(columns, *DEMANDS[:2], label="balance") == ["amount >= balance"]
    assert said(columns, *DEMANDS[:3]) == ["amount >= balance"]
    schema = Schema(columns, constraints=DEMANDS[:3])
    way = Differences.of(schema)
    # amount is balance + 100 as drawn: 0 + 100 of who has paid, 500 of what is void.
    drawn = way.modeled.layout.encoded([[100, 40]] * 3, [[0], [1], [2]])
    assert way.add(drawn).ticks.tolist() == [[140, 40], [100, 0], [500, 40]]
