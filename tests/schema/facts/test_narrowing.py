"""Contradictions between facts and constraints are found before a row is read, and no others."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.errors import NacreError
from nacre.rows import TableEncoder
from nacre.schema import Categorical, Integer, Real, Schema, SchemaError
from nacre.schema.constraints.domain import Contradiction
from nacre.schema.facts.narrowing import narrow_all

COLUMNS = {
    "a": Integer(low=0, high=3),
    "b": Integer(low=1, high=3),
    "total": Integer(low=0, high=6, nullable=True),
    "code": Categorical(values=["A1", "A2", "B1"]),
    "group": Categorical(values=["A", "B"]),
    "end": Integer(low=0, high=2, nullable=True),
    "fee": Categorical(values=["5", "0"]),
}
SUM = "total = a + b"
LISTED = "total = fee + b"
TABLE = {"group determined by code": {"A1": "A", "A2": "A", "B1": "B"}}
GAP = "end is missing exactly when group = A"


@pytest.mark.parametrize(
    ("fact", "constraints"),
    [
        (SUM, ["total < a"]),
        (SUM, ["total <= a"]),
        (SUM, ["total >= 5", "a <= 1"]),
        (SUM, ["total is missing"]),
        (LISTED, ["total = 2", "fee = 5"]),
        (TABLE, ["group = A", "code = B1"]),
        (TABLE, [{"forbid": {"group": "B"}}, {"forbid": {"code": ["A1", "A2"]}}]),
        (GAP, ["group = A", "end is not missing"]),
        (GAP, ["group = B", "end is missing"]),
        ("total = a * b within 1", ["total >= 5", "a <= 1"]),
    ],
)
def test_a_contradiction_is_told(fact, constraints):
    columns = (
        {**COLUMNS, "total": Integer(low=0, high=6)}
        if "missing" not in str(constraints)
        else COLUMNS
    )
    assert Schema(columns, facts=[fact])
    assert Schema(columns, constraints=constraints)
    with pytest.raises(SchemaError, match=r"facts and constraints contradict each other. '\w+'"):
        Schema(columns, facts=[fact], constraints=constraints)


def test_tenths_are_exact():
    tenths = {name: Real(low=0.1, high=0.3, decimals=1) for name in ("x", "y")}
    columns = {**tenths, "z": Real(low=0.0, high=0.6, decimals=1)}
    said = {"facts": ["z = x + y"]}
    assert Schema(columns, constraints=["z >= x"], **said)
    with pytest.raises(SchemaError, match="contradict"):
        Schema(columns, constraints=["z = x"], **said)


def test_what_is_asked_of_a_computed_column_is_found_in_the_others():
    encoder = TableEncoder(Schema({k: COLUMNS[k] for k in ("code", "group")}, facts=[TABLE]))
    assert encoder.fixed(encoder.rules({"group": "B"})) == {0: 2}
    with pytest.raises(NacreError, match="No row can be drawn"):
        encoder.fixed(encoder.rules({"group": "B", "code": "A1"}))


STATEMENTS = [
    "a >= 2",
    "total <= 2",
    "total < b",
    "total != 3",
    "a < b",
    "b <= total",
    "end is missing",
    "end >= 1",
    "group = B",
    "code != B1",
    "fee = 5",
    {"forbid": {"group": "A", "a": 0}},
    "end is not missing if code = A1",
    "total is not missing",
]
FACTS = [TABLE, GAP, SUM, "total = a * b within 1", LISTED]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(range(len(STATEMENTS))), unique=True, max_size=4),
    st.sets(st.sampled_from(range(5)), min_size=1),
)
def test_no_row_that_keeps_everything_is_ruled_out(places, which):
    totals = [FACTS[place] for place in sorted(which) if place > 1][:1]  # one of those it may be
    facts = [FACTS[place] for place in sorted(which) if place < 2] + totals
    constraints = [STATEMENTS[place] for place in places]
    plain = Schema(COLUMNS, facts=facts)
    ends = [0, 1, 2, None]
    sums = [*range(7), None]
    parts = (range(4), range(1, 4), sums, ["A1", "A2", "B1"], "AB", ends, "05")
    rows = list(itertools.product(*parts))
    names = list(COLUMNS)
    table = pa.table({n: [row[i] for row in rows] for i, n in enumerate(names)})
    rules = []
    try:
        rules = Schema(COLUMNS, constraints=constraints).rules
    except SchemaError:
        return  # the constraints alone leave nothing
    from nacre.schema.constraints.condition import ColumnValues

    view = ColumnValues.of(plain.columns, plain.encode(table))
    good = np.ones(len(rows), bool)
    for each in (*rules, *plain.bound_facts):
        good &= each.holds(view)
    try:
        domains = narrow_all(COLUMNS, rules, plain.bound_facts)
    except Contradiction:
        assert not good.any()
        return
    for name, domain in domains.items():
        values, missing = view[name]
        inside = np.zeros(len(rows), bool)
        for low, high in domain.spans:
            inside |= (values >= low) & (values <= high)
        assert (np.where(missing, domain.gap, inside) | ~good).all(), name
