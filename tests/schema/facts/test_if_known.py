"""A code that may be missing determines its group where it is known: `... if known`."""

import pyarrow as pa
import pytest

from nacre.schema import Schema, SchemaError
from nacre.schema.constraints.statement import NotUnderstood
from nacre.schema.facts.statement import parse_head

COLUMNS = {
    "shop": {"type": "categorical", "values": ["s1", "s2", "s3"], "nullable": True},
    "town": {"type": "categorical", "values": ["A", "B", "C"]},
    "area": {"type": "categorical", "values": ["N", "S"]},
    "kind": {"type": "categorical", "values": ["crash", "theft"]},
    "fee": {"type": "integer", "low": 0, "high": 9, "nullable": True},
    "y": {"type": "boolean"},
}
HEAD = "town determined by shop if known"
TABLE = {HEAD: {"s1,s2": "A", "s3": "B"}}
AREAS = {"area determined by town": {"A,C": "N", "B": "S"}}
GAPS = "shop is missing exactly when kind != crash"


def schema(*facts, label="y", **changes):
    said = {"columns": {**COLUMNS, **changes}, "label": label, "facts": [*facts]}
    return Schema.from_dict(said)


def test_it_survives_being_written():
    found = schema(TABLE, AREAS, GAPS)
    assert "town determined by shop if known" in found.to_yaml()
    assert Schema.parse(found.to_yaml()) == found
    assert found != schema(AREAS, GAPS)


def test_only_rows_with_a_code_of_another_group_break_it():
    shops = ["s1", "s2", "s3", None, None, "s3"]
    towns = ["A", "B", "B", "A", "C", "C"]
    rest = {"area": ["N"] * 6, "kind": ["crash"] * 6, "fee": [1] * 6, "y": [True] * 6}
    found = schema(TABLE).check(pa.table({"shop": shops, "town": towns, **rest}))
    assert found.facts == {HEAD: 2}
    assert found.bad_rows == 0


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ({"town determined by shop": {"s1,s2": "A", "s3": "B"}}, "say `town determined by shop if"),
        ({HEAD: {"s1,s2": "A"}}, "the table says nothing of 'shop' = 's3'"),
        ({HEAD: {"s1,s2": "A", "s3": "B", "missing": "C"}}, "nothing of a missing 'shop'"),
        ({"town determined by kind if known": {"crash": "A", "theft": "B"}}, "is never missing"),
        ({"fee determined by shop if known": {"s1,s2": 1, "s3": 2}}, "'fee' is integer"),
        ({"kind determined by fee if known": {"..5": "crash", "6..": "theft"}}, "'fee' is integer"),
        ({"town determined by shop if": {"s1": "A"}}, "after `if` stands `known`"),
        ({"shop determined by shop if known": {"s1": "s1"}}, "says nothing"),
    ],
)
def test_what_is_wrong_is_said(fact, said):
    with pytest.raises(SchemaError) as error:
        schema(fact)
    assert said in str(error.value)


def test_a_code_has_one_group_and_is_no_label():
    with pytest.raises(SchemaError, match="'shop' follows from `town determined by shop if known`"):
        schema(TABLE, {"kind determined by shop if known": {"s1,s2": "crash", "s3": "theft"}})
    with pytest.raises(SchemaError, match="'shop' is the label"):
        schema(TABLE, label="shop")
    with pytest.raises(SchemaError, match="'shop' follows from"):
        schema(TABLE, {"shop determined by kind": {"crash": "s1", "theft": "missing"}})
    schema(TABLE, label="town")


def test_contradictions_are_told():
    said = {"columns": COLUMNS, "facts": [TABLE, GAPS]}
    with pytest.raises(SchemaError, match="contradict"):
        Schema.from_dict({**said, "constraints": ["kind = crash", "town = C"]})
    Schema.from_dict({**said, "constraints": ["town = C"]})


def test_a_table_that_is_bought_speaks_of_missing_codes_too():
    assert not parse_head("town determined by shop").known
    with pytest.raises(NotUnderstood, match="Leave `if known` out"):
        parse_head(HEAD)
