"""Constraints and conditions from the terminal."""

import csv
import json
import re

import pytest
from tests.cli.conftest import SCHEMA

import nacre

CONSTRAINTS = """\
constraints:
  - age >= 30 if income = ">50K"
  - forbid: {sex: Male, income: ">50K"}
"""


def drawn(folder, tmp_path, *options):
    """What `nacre sample` writes."""
    out = tmp_path / "synthetic.csv"
    model = folder / "out.nacre"
    seeded = ("-n", "80", "--seed", "1", "--force")
    done = folder.run("sample", model, "-o", out, *seeded, *options)
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == 80
    return rows


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("age=30..40", lambda row: 30 <= int(row["age"]) <= 40),
        ("age=..40", lambda row: int(row["age"]) <= 40),
        ("age=30,31,32,33", lambda row: 30 <= int(row["age"]) <= 33),
        ("wage=", lambda row: row["wage"] == ""),
        ("wage=missing", lambda row: row["wage"] == ""),
        ("wage=100..200.5", lambda row: 100 <= float(row["wage"]) <= 200.5),
        ("income=>50K", lambda row: row["income"] == ">50K"),
        ("sex=Female,Male", lambda row: True),
    ],
)
def test_where(fitted, tmp_path, text, allowed):
    assert all(allowed(row) for row in drawn(fitted, tmp_path, "--where", text))


def test_conditions_combine(fitted, tmp_path):
    options = ("--where", "age=20..60", "--where", "sex=Male")
    rows = drawn(fitted, tmp_path, *options)
    assert {row["sex"] for row in rows} == {"Male"}
    assert all(20 <= int(row["age"]) <= 60 for row in rows)
    assert drawn(fitted, tmp_path, *options) == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age=40..30", "is empty"),
        ("age=100..", "lies outside"),
        ("age=x", "'x' is not a number. Write a number, several with commas between them, or a"),
        ("age=80+", "write 80+ as 80.., its end included"),
        ("age=under 30", "write under 30 as ..30"),
        ("age=[30,40]", "write [30,40] as 30..40, both ends included"),
        ("age>40", "write a range as age=low..high, both ends included"),
        ("age <= 40", "one of which may be left out: age=..40"),
        ("age=30-40", "write 30-40 as 30..40"),
        ("age=>30", "write >30 as 30.."),
        ("sex=Female,Neither", "'Neither' is not among the schema's values"),
        ("height=3", "There is no column 'height'"),
        ("sex=", "'sex' is never missing, as its schema does not say `nullable: true`. Ask for"),
        ("age=missing", "'age' is never missing"),
        ("sex=Male,missing", "'sex' is never missing"),
    ],
)
def test_what_cannot_be_asked_for_is_told(fitted, tmp_path, text, message):
    out = tmp_path / "x.csv"
    done = fitted.run("sample", fitted / "out.nacre", "-n", "1", "-o", out, "--where", text)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not out.exists()


def test_from_the_schema_to_the_rows(folder, tmp_path):
    (folder / "people.yaml").write_text(SCHEMA + CONSTRAINTS)
    # Real rows that break constraints fit, are counted for the holder, and are used.
    check = ("schema", "check", folder / "people.yaml", folder / "people.csv")
    told = folder.run(*check)
    assert told.exit_code == 0
    assert "break constraints" in told.stdout
    counts = json.loads(folder.run(*check, "--json").stdout)["constraints"]
    assert counts['age >= 30 if income = ">50K"'] > 0
    assert counts['forbid: sex = Male and income = ">50K"'] > 0
    done = folder.fit("people.csv", "--seed", "0")
    assert done.exit_code == 0, done.output
    rich = [row for row in drawn(folder, tmp_path) if row["income"] == ">50K"]
    assert rich
    assert all(row["sex"] == "Female" and int(row["age"]) >= 30 for row in rich)
    out = tmp_path / "none.csv"
    no_row = ("--where", "sex=Male", "--where", "income=>50K")
    done = folder.run("sample", folder / "out.nacre", "-n", "1", "-o", out, *no_row)
    assert done.exit_code == 2
    assert "No row can be drawn" in done.stderr


def test_many_candidates_that_are_drawn_in_vain_are_told(fitted, tmp_path):
    def remark(*options):
        out = tmp_path / "x.csv"
        more = ("-n", "500", "--force", *options)
        done = fitted.run("sample", fitted / "out.nacre", "-o", out, *more)
        assert done.exit_code == 0, done.output
        return done.stderr

    told = remark("--where", "age=20..60")
    kept = r"^\d\d% of the candidate rows were kept; .* rarest is `age = 20\.\.60`, with \d\d%\.$"
    assert re.search(kept, told, re.MULTILINE)
    assert "candidate rows" not in remark()
    assert "candidate rows" not in remark("--where", "sex=Male"), "the model itself keeps to these"
    assert remark("--where", "age=20..60", "--quiet") == ""


def test_a_wrong_constraint_is_told_before_anything_is_spent(folder):
    (folder / "people.yaml").write_text(SCHEMA + "constraints: [age > 200, agee < 3]\n")
    done = folder.fit()
    assert done.exit_code == 2
    assert "has 2 problems" in done.stderr
    assert folder.spent() == (0, 0)


def test_show_lists_facts_and_constraints(fitted, tmp_path):
    path = tmp_path / "bound.nacre"
    nacre.load(fitted / "out.nacre").with_constraints(["age >= 20 if sex = Male"]).save(path)
    shown = fitted.run("show", path)
    assert shown.exit_code == 0
    assert re.search(r"facts +none", shown.output)
    assert re.search(r"constraints +age >= 20 if sex = Male", shown.output)
