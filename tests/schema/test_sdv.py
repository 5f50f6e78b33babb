"""SDV's metadata in and out: the same facts, and what has no place on either side."""

import json

import pytest
from typer.testing import CliRunner

from nacre.cli import app
from nacre.schema import (
    Boolean,
    Categorical,
    Datetime,
    Integer,
    Ordinal,
    Real,
    Schema,
    SchemaError,
    Time,
)
from nacre.schema.sdv import from_sdv, to_sdv, unsaid
from nacre.schema.unit import Unit

COLUMNS = {
    "age": Integer(low=0, high=120),
    "wage": Real(low=0, high=99.5, decimals=2, nullable=True),
    "ratio": Real(low=-1, high=1),
    "kind": Categorical(values=("p", "q")),
    "degree": Ordinal(values=("low", "high"), nullable=True),
    "member": Boolean(),
    "born": Datetime(low="1900-01-01", high="2024-12-31"),
    "seen": Datetime(low="2020-01-01T00:00", high="2024-12-31T23:59:59", step="1s"),
    "paid": Datetime(low="2020-01-01", high="2024-12-31", format="%d.%m.%Y"),
    "opens": Time(low="08:00", nullable=True),
    "rings": Time(step="1s"),
}


def test_what_both_can_say_goes_and_comes_back():
    schema = Schema(COLUMNS, unit=Unit(column="person", rows=3))
    said = json.loads(json.dumps(to_sdv(schema)))
    assert said["METADATA_SPEC_VERSION"] == "V2"
    table = said["tables"]["table"]
    assert table["sequence_key"] == "person" and table["columns"]["person"] == {"sdtype": "id"}
    assert table["columns"]["wage"] == {
        "sdtype": "numerical",
        "range_min": 0,
        "range_max": 99.5,
        "decimal_places": 2,
        "range_is_nullable": True,
    }
    assert table["columns"]["paid"]["range_min"] == "01.01.2020"
    again = from_sdv(said, rows=3)
    assert again.left_out == {}
    assert {name: c.to_dict() for name, c in again.schema.columns.items()} == {
        name: c.to_dict() | ({"low": "2020-01-01T00:00:00"} if name == "seen" else {})
        for name, c in COLUMNS.items()
    }
    assert again.schema.unit == schema.unit
    assert again.schema.provenance == "data" and not again.schema.reviewed
    assert from_sdv(said).left_out.keys() == {"person"}


def test_values_gathered_as_other_are_no_list():
    schema = Schema({"a": Categorical(values=("p", "q"), other=True)})
    assert to_sdv(schema)["tables"]["table"]["columns"]["a"] == {
        "sdtype": "categorical",
        "range_is_nullable": False,
    }


def test_version_one_says_types_and_the_rest_is_told():
    said = {
        "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1",
        "primary_key": "guest",
        "columns": {
            "guest": {"sdtype": "id"},
            "mail": {"sdtype": "email", "pii": True},
            "fee": {"sdtype": "numerical"},
            "room": {"sdtype": "categorical"},
            "day": {"sdtype": "datetime", "datetime_format": "%d %b %Y"},
            "rewards": {"sdtype": "boolean"},
        },
    }
    found = from_sdv(said)
    assert found.schema.names == ("rewards",)
    assert "low" in found.left_out["fee"] and "values" in found.left_out["room"]
    assert "who somebody is" in found.left_out["mail"] and "unit" in found.left_out["guest"]
    del said["columns"]["rewards"]
    with pytest.raises(SchemaError, match="no column of the metadata"):
        from_sdv(said)


def test_metadata_that_are_none_are_refused():
    one = {"columns": {"a": {"sdtype": "boolean"}}}
    for said in ([], {}, {"tables": {"a": {}}}, {"columns": {"a": 3}}):
        with pytest.raises(SchemaError):
            from_sdv(said)
    with pytest.raises(SchemaError, match="several tables: a, b"):
        from_sdv({"tables": {"a": one, "b": one}})
    assert from_sdv({"tables": {"a": one, "b": one}}, table="b").schema.names == ("a",)
    wrong = {"columns": {"a": {"sdtype": "numerical", "range_min": 3, "range_max": 1}}}
    with pytest.raises(SchemaError, match="low"):
        from_sdv(wrong)


def test_the_commands(tmp_path):
    run, yaml, file = CliRunner(), tmp_path / "s.yaml", tmp_path / "m.json"
    Schema(COLUMNS).write(yaml)
    assert run.invoke(app, ["schema", "export", str(yaml), "-o", str(file)]).exit_code == 2
    done = run.invoke(app, ["schema", "export", str(yaml), "--sdv", "-o", str(file)])
    assert done.exit_code == 0, done.output
    done = run.invoke(app, ["schema", "import", str(file), "--sdv", "-o", str(tmp_path / "t.yaml")])
    assert done.exit_code == 0 and "reviewed: true" in done.output
    assert Schema.read(tmp_path / "t.yaml").names == tuple(COLUMNS)
    for words in (["export", str(yaml), "-o", str(file)], ["import", str(file), "-o", str(yaml)]):
        done = run.invoke(app, ["schema", *words, "--sdv"])
        assert done.exit_code == 2 and "--force" in done.output
        assert run.invoke(app, ["schema", *words, "--sdv", "--force"]).exit_code == 0
    file.write_text("{")
    assert "JSON" in run.invoke(app, ["schema", "import", str(file), "--sdv", "-o", "x"]).output


def test_what_has_no_place_is_told(tmp_path):
    columns = {
        "a": Integer(low=0, high=10, step=5, spikes=(5,)),
        "b": Categorical(values=("p", "q"), other=True, nullable=True, missing=("N",)),
        "c": Datetime(low="2020-01-01", high="2024-12-31", step="1w"),
        "d": Boolean(),
    }
    unit = Unit(column="person", rows=3, constant=("d",))
    schema = Schema(columns, label="d", constraints=["a >= 5 if d = true"], unit=unit)
    assert unsaid(schema) == (
        "the label ('d')",
        "1 constraint",
        "that at most 3 rows of a person count",
        "what does not change within a person (d)",
        "`step` of 'a', 'c'",
        "`spikes` of 'a'",
        "`missing` of 'b'",
        "`values` of 'b'",
    )
    assert unsaid(Schema(COLUMNS)) == ()
    for provenance in ("private", "declared"):  # tables that were bought leave that as it was
        paid = Schema(COLUMNS, provenance=provenance, releases=({"name": "look-up tables"},))
        assert unsaid(paid) == ("what the schema was bought with (`releases`)",)
    yaml = tmp_path / "s.yaml"
    schema.write(yaml)
    command = ["schema", "export", str(yaml), "--sdv", "-o", str(tmp_path / "m.json")]
    done = CliRunner().invoke(app, command)
    assert "left out: the label ('d'); 1 constraint" in " ".join(done.output.split())
