"""`nacre schema draft` without noise: guesses are said, and files in other forms are named."""

import csv

import pytest
from typer.testing import CliRunner

from nacre.cli import app
from nacre.schema import Schema


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    rows = [[1000 + i, "a" if i % 3 else "b", i % 70, 98101 + i % 4] for i in range(200)]
    rows[7][1] = "only one"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["id", "ward", "age", "zip"], *rows])
    return path


def draft(*arguments):
    return CliRunner().invoke(app, ["schema", "draft", *map(str, arguments)])


def test_it_says_what_was_guessed_and_never_a_value(people, tmp_path):
    out = tmp_path / "people.yaml"
    found = draft(people, "-o", out)
    assert found.exit_code == 0
    said = " ".join(found.output.split())
    assert "'id': every row has another number" in said
    assert "'zip': whole numbers taken for codes" in said
    assert "the draft is not private" in said
    assert "only one" not in said and "98101" not in said
    assert "No label is named. If one column is to be predicted" in said
    assert "No label" not in draft(people, "--label", "ward").stderr
    schema = Schema.read(out)
    assert schema.names == ("ward", "age", "zip")
    assert (schema.provenance, schema.reviewed) == ("data", False)


def test_rare_values_are_gathered_and_identifiers_kept_on_request(people, tmp_path):
    out = tmp_path / "people.yaml"
    assert draft(people, "-o", out, "--rare", "other", "--keep", "id").exit_code == 0
    schema = Schema.read(out)
    assert schema.columns["ward"].values == ("a", "b")
    assert schema.columns["ward"].other
    assert "id" in schema.names
    assert "only one" not in out.read_text()
    refused = draft(people, "--rare", "other", "--epsilon", "1", "--delta", "1e-6")
    assert refused.exit_code == 2


@pytest.mark.parametrize(
    ("encoding", "sign", "said"),
    [("utf-16", ",", "iconv -f UTF-16"), ("utf-8", ";", "semicolons"), ("utf-8", "\t", "tabs")],
)
def test_other_files_are_named(people, encoding, sign, said):
    text = people.read_text().replace(",", sign)
    people.write_text(text, encoding=encoding)
    found = draft(people)
    assert found.exit_code == 2
    assert said in " ".join(found.output.split())
