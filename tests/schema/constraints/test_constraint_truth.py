"""Random constraints against plain Python on every possible row of a small table."""

import itertools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real, Schema, SchemaError
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.condition import ColumnValues
from nacre.schema.constraints.domain import Contradiction, narrow

COLUMNS = {
    "a": Integer(low=-1, high=2, nullable=True),
    "b": Integer(low=0, high=2),
    "r": Real(low=0, high=1, decimals=0),
    "c": Categorical(values=["x", "y"], other=True, nullable=True),
    "o": Ordinal(values=["lo", "hi"]),
    "e": Boolean(nullable=True),
    "t": Datetime(low="2024-01-01", high="2024-01-03"),
}
PLAIN = Schema(COLUMNS)
# Every value of every column as it is decoded, and as a person writes it.
VALUES = {
    "a": [-1, 0, 1, 2, None],
    "b": [0, 1, 2],
    "r": [0.0, 1.0],
    "c": ["x", "y", "other", None],
    "o": ["lo", "hi"],
    "e": [False, True, None],
    "t": ["2024-01-01", "2024-01-02", "2024-01-03"],
}
SIGNS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ORDERED = ("a", "b", "r", "t")
ROWS = [dict(zip(VALUES, row, strict=True)) for row in itertools.product(*VALUES.values())]


def every_row():
    """All rows, in the order of ROWS."""
    ticks, codes = [], []
    for row in itertools.product(*(range(len(values)) for values in VALUES.values())):
        a, b, r, c, o, e, t = row
        missing = a == len(VALUES["a"]) - 1
        ticks.append([0 if missing else a, b, r, t])
        codes.append([missing, c, o, e])
    return PLAIN.layout.encoded(ticks, codes)


ENCODED = every_row()


def test_the_rows_are_what_they_are_said_to_be():
    decoded = PLAIN.decode(ENCODED).to_pylist()
    assert [row | {"t": row["t"].isoformat()} for row in decoded] == ROWS


@st.composite
def clauses(draw):
    """A clause as text, and its truth for a row: True, False or None for unknown."""
    name = draw(st.sampled_from(list(VALUES)))
    there = [value for value in VALUES[name] if value is not None]
    form = draw(st.sampled_from(["value", "list", "missing", "columns"]))
    if form == "missing" and COLUMNS[name].nullable:
        wanted = draw(st.booleans())
        return (
            f"{name} is {'' if wanted else 'not '}missing",
            lambda row: (row[name] is None) == wanted,
        )
    if form == "list":
        some = draw(st.lists(st.sampled_from(there), min_size=1))
        return (
            f"{name} in [{', '.join(map(str, some))}]",
            lambda row: None if row[name] is None else row[name] in some,
        )
    if form == "columns" and name in ORDERED:
        others = ["t"] if name == "t" else ["a", "b", "r"]
        other = draw(st.sampled_from([each for each in others if each != name] or ["c"]))
        if other != "c":
            sign = draw(st.sampled_from(list(SIGNS)))
            return (
                f"{name} {sign} {other}",
                lambda row: (
                    None
                    if row[name] is None or row[other] is None
                    else SIGNS[sign](row[name], row[other])
                ),
            )
    value = draw(st.sampled_from(there))
    place = {each: k for k, each in enumerate(there)}
    sign = draw(st.sampled_from(list(SIGNS) if name in (*ORDERED, "o") else ["=", "!="]))
    return (
        f"{name} {sign} {value}",
        lambda row: None if row[name] is None else SIGNS[sign](place[row[name]], place[value]),
    )


@st.composite
def constraints(draw):
    """A constraint, and whether a row breaks it."""
    demands = draw(st.lists(clauses(), min_size=1, max_size=3))
    premise = draw(st.lists(clauses(), max_size=2))
    text = " and ".join(text for text, _ in demands)
    if draw(st.booleans()):
        return {"forbid": text}, lambda row: all(truth(row) is True for _, truth in demands)
    if premise:
        text += " if " + " and ".join(each for each, _ in premise)
    return (
        text,
        lambda row: (
            all(truth(row) is True for _, truth in premise)
            and any(truth(row) is False for _, truth in demands)
        ),
    )


def bound(said):
    """Rules of constraints that may contradict each other; None if one can never hold."""
    try:
        return tuple(Schema(COLUMNS, constraints=[each]).rules[0] for each in said)
    except SchemaError as error:
        assert "never holds" in str(error) or "contradict" in str(error)
        return None


@settings(max_examples=300)
@given(constraints())
def test_a_rule_says_what_plain_python_says(made):
    said, broken = made
    rules = bound([said])
    if rules is None:
        return
    found = rules[0].holds(ColumnValues.of(COLUMNS, ENCODED))
    assert found.tolist() == [not broken(row) for row in ROWS]


@settings(max_examples=300)
@given(st.lists(constraints(), min_size=1, max_size=5))
def test_only_what_no_row_can_have_is_ruled_out(made):
    rules = bound([said for said, _ in made])
    if rules is None:
        return
    view = ColumnValues.of(COLUMNS, ENCODED)
    good = np.logical_and.reduce([rule.holds(view) for rule in rules])
    try:
        domains = narrow(COLUMNS, rules)
    except Contradiction:
        assert not good.any()
        return
    for name, domain in domains.items():
        values, missing = view[name]
        inside = np.zeros(len(values), bool)
        for first, last in domain.spans:
            inside |= (first <= values) & (values <= last)
        assert np.where(missing, domain.gap, inside)[good].all()


@settings(max_examples=200)
@given(constraints())
def test_a_schema_that_is_refused_has_no_row(made):
    said, broken = made
    try:
        Schema(COLUMNS, constraints=[said])
    except SchemaError as error:
        if "contradict" in str(error):
            assert all(broken(row) for row in ROWS)


def test_one_value_left_is_known():
    rules = Schema(COLUMNS, constraints=["o != lo", {"fixed": {"e": None}}, "c = x", "b = 0"]).rules
    only = {name: domain.only for name, domain in narrow(COLUMNS, rules).items()}
    assert only == {"o": 1, "e": -1, "c": None, "b": 0}  # c may still be missing


@pytest.mark.parametrize("name", COLUMNS)
def test_scales_run_from_their_low_to_their_high(name):
    scale = Scale(COLUMNS[name])
    values, missing = ColumnValues.of(COLUMNS, ENCODED)[name]
    assert (values[~missing].min(), values[~missing].max()) == (scale.low, scale.high)
    assert scale.before(scale.after(scale.low)) == scale.low


def test_beside_a_column_that_may_be_missing_nothing_is_ruled_out():
    # b = 2 is possible where a is missing, and not where a must be there.
    said = ["b <= a", "a <= 1"]
    assert narrow(COLUMNS, Schema(COLUMNS, constraints=said).rules)["b"].spans == ((0, 2),)
    said.append("a is not missing")
    assert narrow(COLUMNS, Schema(COLUMNS, constraints=said).rules)["b"].spans == ((0, 1),)
