"""What cannot be compared is refused with what to do."""

import pytest

from nacre.schema import Schema, SchemaError

COLUMNS = {
    "bonus": {"type": "ordinal", "values": ["0", "1", "2"], "nullable": True},
    "stars": {"type": "categorical", "values": ["5", "10", "20"]},
    "zip": {"type": "categorical", "values": ["0815", "4711"]},
    "years": {"type": "integer", "low": 0, "high": 70},
    "seen": {"type": "datetime", "low": "2020-01-01", "high": "2020-12-31"},
}
REST = "Numbers compare with numbers"


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("bonus <= years", "let 'bonus' be {type: integer, low: 0, high: 2, nullable: true}."),
        ("years >= stars", "let 'stars' be {type: integer, low: 5, high: 20, step: 5}."),
        ("bonus <= stars", "high: 2, nullable: true} and 'stars' be {type: integer, low: 5"),
        ("zip <= years", REST),
        ("seen <= years", REST),
        ("bonus <= seen", REST),
    ],
)
def test_it_is_said_what_to_do(said, what):
    with pytest.raises(SchemaError) as error:
        Schema.from_dict({"columns": COLUMNS, "constraints": [said]})
    assert what in str(error.value)


def test_what_is_said_helps():
    integer = {"type": "integer", "low": 0, "high": 2, "nullable": True}
    changed = COLUMNS | {"bonus": integer}
    found = Schema.from_dict({"columns": changed, "constraints": ["bonus <= years"]})
    assert [rule.text for rule in found.rules] == ["bonus <= years"]
