"""What messages say of facts and constraints that people write in another way."""

import pytest

import nacre
from nacre.schema import Integer, Real, Schema, SchemaError
from nacre.schema.constraints.given import given

COLUMNS = {
    "a": Integer(low=0, high=10),
    "b": Integer(low=1, high=10),
    "d": Integer(low=0, high=20),
    "rent": Integer(low=0, high=1000, step=50),
    "copay": Integer(low=0, high=1000, step=100),
    "hours": Real(low=0, high=10, step=0.25),
}


@pytest.mark.parametrize(
    ("kind", "said", "expected"),
    [
        ("facts", "copay = rent", "or say `within 50`, which rounds it"),
        ("facts", "d = a+b", "Put blanks around it: `a \\+ b`"),
        ("facts", "a + b = d", "write `d = a \\+ b`, not `a \\+ b = d`"),
        ("constraints", "a + b <= d", "computes nothing. Say the sum as a fact"),
        ("constraints", "d >= a + b", "computes nothing. Say the sum as a fact"),
        ("constraints", "d = a + b", "it is a fact, and no constraint: write it under `facts`"),
        ("constraints", "a is missing exactly when b = 2", "fact, .*: write it under `facts`"),
        ("constraints", "a, b are missing together", "fact, .*: write it under `facts`"),
        ("constraints", {"a determined by b": {"1..": 3}}, "fact, .*: write it under `facts`"),
        ("constraints", "d >= a+b", "Put blanks around it"),
        ("constraints", "copay = 150", "never 150: its values are 100 apart, .* 100 and 200"),
        ("constraints", "hours = 1.1", "never 1.1: its values are 0.25 apart, .* 1 and 1.25"),
    ],
)
def test_it_says_what_to_write(kind, said, expected):
    with pytest.raises(SchemaError, match=expected):
        Schema(COLUMNS, **{kind: [said]})


def test_the_advice_is_good():
    Schema(COLUMNS, facts=["copay = rent within 50"])
    Schema(COLUMNS, facts=["d = a + b"])
    with pytest.raises(nacre.NacreError, match="the nearest are 100 and 200"):
        given({"copay": "150"}, COLUMNS)
