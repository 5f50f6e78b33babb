"""The road from a file of visits to persons, walked from a terminal."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from tests.cli.conftest import SMALL

from nacre.schema import Schema

PERSONS, VISITS = 200, 600


@pytest.fixture
def visits(folder):
    rng = np.random.default_rng(0)
    who = np.concatenate([np.arange(PERSONS), rng.integers(0, 20, VISITS - PERSONS)])
    table = pa.table(
        {
            "patient": pa.array([f"p{number}" for number in who]),
            "age": rng.integers(20, 60, VISITS),
            "sex": rng.choice(["Female", "Male"], VISITS),
        }
    )
    pa.csv.write_csv(table, folder / "visits.csv")
    done = folder.run("schema", "draft", folder / "visits.csv", "--unit", "patient:4")
    assert done.exit_code == 0, done.output
    text = done.stdout.replace("reviewed: false", "reviewed: true")
    (folder / "visits.yaml").write_text(text)
    return folder


def test_a_draft_has_the_unit_and_not_its_column(visits):
    schema = Schema.read(visits / "visits.yaml")
    assert schema.unit.to_dict() == {"column": "patient", "rows": 4}
    assert schema.names == ("age", "sex")
    for wrong in ("patient", "patient:", ":4", "patient:few"):
        done = visits.run("schema", "draft", visits / "visits.csv", "--unit", wrong)
        assert done.exit_code == 2
        assert "--unit must be COLUMN:ROWS" in done.stderr


def test_a_check_counts_persons(visits):
    done = visits.run("schema", "check", visits / "visits.yaml", visits / "visits.csv")
    assert done.exit_code == 0
    assert "600 rows of 200 persons ('patient'). 20 of them have more than 4" in " ".join(
        done.output.split()
    )
    said = visits.run("schema", "check", visits / "visits.yaml", visits / "visits.csv", "--json")
    assert json.loads(said.stdout)["persons"] == PERSONS


def test_fit_show_and_sample_speak_of_persons(visits):
    options = ("--schema", visits / "visits.yaml", "--epsilon", "1", "--delta", "1e-6")
    model = visits / "visits.nacre"
    planned = visits.run("plan", *options, *SMALL, "--rows", "200")
    assert "per person (up to 4 rows each)" in planned.stdout
    done = visits.run("fit", visits / "visits.csv", *options, *SMALL, "-o", model)
    assert done.exit_code == 0, done.output
    assert "per person (up to 4 rows each)" in done.stderr
    shown = " ".join(visits.run("show", model).stdout.split())
    assert "persons by 'patient', of each at most 4 rows counted" in shown
    out = visits / "synthetic.csv"
    assert visits.run("sample", model, "-n", "300", "-o", out).exit_code == 0
    drawn = pa.csv.read_csv(out)
    assert drawn.column_names == ["patient", "age", "sex"]
    assert drawn.num_rows == 300
    assert max(np.unique(drawn["patient"], return_counts=True)[1]) <= 4


def test_a_check_tells_constants_that_change(visits):
    text = (visits / "visits.yaml").read_text()
    (visits / "visits.yaml").write_text(text.replace("rows: 4", "rows: 4, constant: [sex]"))
    done = visits.run("schema", "check", visits / "visits.yaml", visits / "visits.csv")
    assert done.exit_code == 0, done.output
    assert "Persons within which a `constant` column changes" in " ".join(done.output.split())
    said = visits.run("schema", "check", visits / "visits.yaml", visits / "visits.csv", "--json")
    table = pa.csv.read_csv(visits / "visits.csv").to_pandas()
    changed = int((table.groupby("patient")["sex"].nunique() > 1).sum())
    assert json.loads(said.stdout)["changed"] == {"sex": changed} and changed > 0
