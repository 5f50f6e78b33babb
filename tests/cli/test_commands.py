"""The road from a file to a report, walked from a terminal."""

import csv
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.cli.conftest import Folder, people

from nacre import Adjacency, load
from nacre.cli.console import print_json
from nacre.cli.options import AdjacencyName
from nacre.writer import Writer


def test_a_plan_says_what_a_fit_will_refuse_and_what_a_label_buys(folder, tmp_path):
    budget = ("--epsilon", "1", "--delta", "1e-6", "-m", "mst")
    drafted = tmp_path / "drafted.yaml"
    text = (folder / "people.yaml").read_text().replace("label: income\n", "provenance: data\n")
    drafted.write_text(text)
    said = folder.run("plan", "--schema", drafted, *budget).stderr
    assert "`nacre fit` will refuse this schema" in said and "No label is named" in said
    assert "No label" not in folder.run("plan", "--schema", drafted, *budget, "--no-label").stderr
    drafted.write_text(f"reviewed: true\n{text}")
    assert "refuse" not in folder.run("plan", "--schema", drafted, *budget).stderr
    assert not folder.run("plan", "--schema", folder / "people.yaml", *budget).stderr


def test_fit_prints_the_certificate_as_json(fitted):
    said = json.loads((fitted / "fit.json").read_text())
    assert said["model"] == str(fitted / "out.nacre")
    assert said["method"] == "PEARL"
    assert said["settings"]["steps"] == 20
    assert said["guarantee"]["epsilon"] == pytest.approx(1, abs=1e-4)
    assert said["ledger"] == {"dataset": "people", "entry": 1}
    assert (fitted / "fit.err").read_text() == ""


def test_fit_is_charged(fitted):
    assert fitted.spent() == (pytest.approx(1), 1)


def test_fit_speaks_to_people_on_stderr(folder):
    done = folder.fit("people.parquet", "--no-label", "--bad-rows", "zero", "--rows", "600")
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert "add-remove, per row" in done.stderr
    assert load(folder / "out.nacre").schema.label is None
    assert folder.spent()[1] == 1


def test_plan_reads_no_table(folder):
    options = ("--schema", folder / "people.yaml", "--epsilon", "1", "--delta", "1e-6")
    done = folder.run("plan", *options, "--rows", "600", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["releases"][0]["share"] <= 1
    text = folder.run("plan", *options, "--method", "merf", "--set", "frequencies=10").stdout
    assert "MERF at (ε = 1, δ = 1e-06)" in text
    assert folder.run("plan", *options, "--adjacency", "replace-one").exit_code == 0


def test_a_budget_that_protects_little_is_told(folder):
    options = ("--schema", folder / "people.yaml", "--delta", "1e-6")
    assert "protects little" in folder.run("plan", *options, "--epsilon", "11").stderr
    assert "protects little" not in folder.run("plan", *options, "--epsilon", "10").stderr


def test_methods_are_named_in_any_case_and_take_settings(folder):
    options = ("--schema", folder / "people.yaml", "--epsilon", "1", "--delta", "1e-6")
    for name in ("AIM", "mst"):
        done = folder.run("plan", *options, "-m", name, "--set", "cells=40")
        assert done.exit_code == 0, done.output
        assert f"{name.upper()} at (ε = 1, δ = 1e-06)" in done.stdout
    wrong = folder.run("plan", *options, "-m", "mst", "--set", "rounds=2")
    assert wrong.exit_code == 2 and "MST has no setting 'rounds'" in wrong.stderr


def test_sample_csv(fitted, tmp_path):
    out = tmp_path / "synthetic.csv"
    options = ("-n", "50", "-o", out, "--seed", "3")
    done = fitted.run("sample", fitted / "out.nacre", *options, "--where", "sex=Female")
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == 50
    assert {row["sex"] for row in rows} == {"Female"}
    assert list(rows[0]) == ["age", "sex", "wage", "income"]
    first = out.read_bytes()
    refused = fitted.run("sample", fitted / "out.nacre", "-n", "5", "-o", out)
    assert refused.exit_code == 2
    assert "is there already" in refused.stderr
    assert out.read_bytes() == first
    more = ("--where", "sex=Female", "-q", "--force")
    again = fitted.run("sample", fitted / "out.nacre", *options, *more)
    assert again.output == ""
    assert out.read_bytes() == first
    check = fitted.run("schema", "check", fitted / "people.yaml", out)
    assert check.exit_code == 0, check.output


def test_sample_parquet_and_no_rows(fitted, tmp_path):
    out = tmp_path / "synthetic.parquet"
    assert fitted.run("sample", fitted / "out.nacre", "-n", "70000", "-o", out).exit_code == 0
    assert pa.parquet.read_metadata(out).num_rows == 70_000
    assert pa.parquet.read_metadata(out).num_row_groups > 1
    assert (
        fitted.run("sample", fitted / "out.nacre", "-n", "0", "-o", out, "--force").exit_code == 0
    )
    assert pa.parquet.read_table(out).column_names == ["age", "sex", "wage", "income"]
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("-n", "-1", "-o", "a.csv"), "-n"),
        (("-n", "1", "-o", "a.txt"), "must end in"),
        (("-n", "1", "-o", "no/a.csv"), "There is no folder no"),
        (("-n", "1", "-o", "a.csv", "--where", "sex"), "name=value"),
        (("-n", "1", "-o", "a.csv", "--where", "sex=Neither"), "not among the schema's values"),
        (("-n", "1", "-o", "a.csv", "--where", "age=3"), "'age' goes from 17 to 90"),
    ],
)
def test_sample_refuses(fitted, tmp_path, monkeypatch, more, words):
    monkeypatch.chdir(tmp_path)
    done = fitted.run("sample", fitted / "out.nacre", *more)
    assert done.exit_code == 2
    assert words in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_show_verifies(fitted):
    done = fitted.run("show", fitted / "out.nacre", "--verify")
    assert done.exit_code == 0, done.output
    for words in ("PEARL: guarantee", "characteristic function", "data set people", "Verified"):
        assert words in done.stdout
    said = json.loads(fitted.run("show", fitted / "out.nacre", "--verify", "--json").stdout)
    assert said["verification"]["verified"] is True
    assert said["schema"] == load(fitted / "out.nacre").schema.digest


def test_show_finds_a_false_claim(fitted, monkeypatch):
    from nacre.vault import Guarantee

    honest = Guarantee.from_dict

    def boast(data):
        return honest({**data, "epsilon": 0.5})

    monkeypatch.setattr(Guarantee, "from_dict", staticmethod(boast))
    done = fitted.run("show", fitted / "out.nacre", "--verify")
    assert done.exit_code == 1
    assert "Do not rely on this guarantee" in done.stderr
    assert "Verified" not in done.stdout


def test_show_refuses_what_is_not_a_model(fitted, tmp_path):
    for name, content in (("text.nacre", b"hello"), ("cut.nacre", None)):
        whole = (fitted / "out.nacre").read_bytes()
        (tmp_path / name).write_bytes(whole[: len(whole) // 2] if content is None else content)
        done = fitted.run("show", tmp_path / name)
        assert done.exit_code == 2
        assert "damaged" in done.stderr


def test_evaluate_writes_a_report(fitted, tmp_path, monkeypatch):
    synthetic, report = tmp_path / "synthetic.csv", tmp_path / "mine.html"
    assert fitted.run("sample", fitted / "out.nacre", "-n", "300", "-o", synthetic).exit_code == 0
    asked = (
        *("evaluate", fitted / "people.csv", synthetic, "--schema", fitted / "people.yaml"),
        *("--metrics", "tv1", "--model", fitted / "out.nacre", "--json"),
    )
    done = fitted.run(*asked, "-o", report)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["scores"]
    assert json.loads(done.stdout)["guarantees"]["synthetic"]["source"] == "of the model out.nacre"
    assert "<html" in report.read_text() and "of the model out.nacre" in report.read_text()
    report.write_text("an old one")
    broken = ("--test", tmp_path / "none.csv")  # which nobody has looked for yet
    refused = fitted.run(*asked, *broken, "-o", report)
    assert refused.exit_code == 2 and f"{report} is there already" in refused.stderr
    assert "--force" in refused.stderr and report.read_text() == "an old one"
    assert fitted.run(*asked, "-o", report, "--force").exit_code == 0
    assert "<html" in report.read_text()
    monkeypatch.chdir(tmp_path)
    assert json.loads(fitted.run(*asked).stdout)["scores"]
    assert not (tmp_path / "report.html").exists()  # nothing but what was asked for


def test_evaluate_refuses(fitted, tmp_path):
    real, schema = fitted / "people.csv", ("--schema", fitted / "people.yaml")
    report = ("-o", tmp_path / "report.html")
    narrow, other = tmp_path / "narrow.yaml", ("--model", fitted / "out.nacre")
    narrow.write_text("columns:\n  age: {type: integer, low: 17, high: 90}\n")
    changed = tmp_path / "changed.yaml"
    changed.write_text((fitted / "people.yaml").read_text().replace("high: 90", "high: 95"))
    for arguments, words in (
        ((real, real, "--schema", narrow, *other), "The model is of another table"),
        ((real, real, "--schema", changed, *other), "`high: 90` in the model and 95"),
        ((real, tmp_path / "none.csv", *schema), "There is no file or folder"),
        ((real, real, *schema, "--metrics", "beauty"), "beauty"),
        ((real, real, *schema, "--label", "incom"), "incom"),
    ):
        done = fitted.run("evaluate", *arguments, *report)
        assert done.exit_code == 2, done.output
        assert words in done.stderr
    assert {*tmp_path.iterdir()} == {narrow, changed}


def test_ledger_opens_and_shows(tmp_path):
    folder = Folder(tmp_path)
    book = tmp_path / "budget.db"
    empty = folder.run("ledger", book)
    assert empty.exit_code == 2
    assert "Open one" in empty.stderr
    assert folder.run("ledger", book, "--dataset", "census", "--epsilon", "3").exit_code == 2
    assert not book.exists()
    options = ("--dataset", "census", "--epsilon", "3", "--delta", "1e-6")
    done = folder.run("ledger", book, *options)
    assert done.exit_code == 0
    assert "left    ε = 3" in done.stdout
    said = json.loads(folder.run("ledger", book, "--json").stdout)
    assert [(s["dataset"], s["left_epsilon"], s["history"]) for s in said] == [("census", 3, [])]
    changed = folder.run("ledger", book, "--dataset", "census", "--epsilon", "9", "--delta", "1e-6")
    assert changed.exit_code == 2
    assert "cannot be changed" in changed.stderr


def test_ledger_shows_history(fitted):
    done = fitted.run("ledger", fitted / "budget.db", "--dataset", "people")
    assert "finished" in done.stdout
    assert "spent   ε = 1," in done.stdout


def test_methods_and_version(tmp_path):
    folder = Folder(tmp_path)
    said = json.loads(folder.run("methods", "--json").stdout)
    assert {"pearl", "merf"} <= {method["name"] for method in said}
    assert all(method["paper"] and method["settings"] for method in said)
    text, one = folder.run("methods").stdout, folder.run("methods", "pearl").stdout
    assert "frequencies=" in one and "frequencies=" not in text
    assert not any(line.endswith(" ") for line in (text + one).splitlines())
    for method in said:
        assert set(method["meanings"]) == set(method["settings"]), "a setting has no meaning"
        assert method["name"] in text
        facts = (method["proof"], method["cost"], method["when"])
        assert all(facts) and "not stated" not in facts
    wrong = folder.run("methods", "perl")
    assert wrong.exit_code == 2 and "pearl" in wrong.stderr
    assert folder.run("--version").stdout.startswith("nacre ")


def test_schema_check(folder):
    good = folder.run("schema", "check", folder / "people.yaml", folder / "people.csv")
    assert good.exit_code == 0
    assert "All 600 rows fit" in good.stdout
    narrow = (folder / "people.yaml").read_text().replace("high: 90", "high: 20")
    (folder / "narrow.yaml").write_text(narrow)
    bad = folder.run("schema", "check", folder / "narrow.yaml", folder / "people.csv", "--json")
    assert bad.exit_code == 2
    said = json.loads(bad.stdout)
    assert said["columns"]["age"]["out of range"] == said["bad_rows"] > 0
    assert folder.run("schema", "check", folder / "people.yaml").exit_code == 0


def test_schema_draft_prints_yaml(folder):
    done = folder.run("schema", "draft", folder / "people.parquet", "--label", "income")
    assert done.exit_code == 0
    assert "provenance: data" in done.stdout
    assert "rounded outward in 1 column, unless they are round: 'wage'" in done.stderr
    assert "'age': " not in done.stderr
    out = folder / "draft.yaml"
    assert f"people.csv: {out}" in folder.run(
        "schema", "draft", folder / "people.csv", "-o", out
    ).stderr.replace("\n", "")
    over = ("schema", "draft", folder / "people.csv", "-o", folder / "people.csv", "--force")
    assert "would replace it" in folder.run(*over).stderr
    (folder / "semicolons.csv").write_text("age;sex\n30;Male\n")
    done = folder.run("schema", "draft", folder / "semicolons.csv")
    assert done.exit_code == 2 and "semicolons" in done.stderr
    for more in ((), ("--epsilon", "1", "--delta", "1e-6")):
        done = folder.run("schema", "draft", folder / "people.parquet", "--drop", "inccome", *more)
        assert done.exit_code == 2
        assert "Did you mean 'income'?" in done.stderr
    assert folder.run("schema", "draft", folder / "people.csv", "--epsilon", "1").exit_code == 2
    assert folder.run("schema", "draft", folder / "people.csv", "--dataset", "p").exit_code == 2


def test_help_lists_every_command(tmp_path):
    text = Folder(tmp_path).run("--help").stdout
    for name in (
        "demo",
        "schema",
        "plan",
        "fit",
        "sample",
        "evaluate",
        "ledger",
        "show",
        "methods",
    ):
        assert name in text
    places = [text.index(f" {name} ") for name in ("demo", "schema", "plan", "fit", "sample")]
    assert places == sorted(places)  # in the order of use


@pytest.mark.parametrize("command", [(), ("fit",), ("schema", "check"), ("evaluate",)])
def test_help_shows_flags_without_a_value_and_arguments_in_capitals(tmp_path, command):
    text = Folder(tmp_path).run(*command, "--help").stdout
    assert "--help" in text
    assert "<bool>" not in text
    usage = next(line for line in text.splitlines() if "Usage:" in line)
    assert "{" not in usage
    assert not command or usage.rstrip().rstrip(".]").split("[OPTIONS]")[1].isupper()


def test_adjacency_names_are_the_vaults():
    assert {a.value for a in AdjacencyName} == {a.value for a in Adjacency}


def test_infinity_is_null_in_json(capsys):
    print_json({"epsilon": float("inf"), "all": [float("nan"), 1.0]})
    assert json.loads(capsys.readouterr().out) == {"epsilon": None, "all": [None, 1.0]}


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_tables_of_awkward_text_survive(tmp_path, name):
    words = ["plain", 'a "quoted", word', "line\nbreak", None]
    table = pa.table({"a, b": words, "c": pa.array(words).dictionary_encode()})
    path = tmp_path / name
    with Writer(path, like=path) as writer:
        writer.write(table)
        writer.write(
            people(3).select(["sex", "income"]).rename_columns(["a, b", "c"]).cast(table.schema)
        )
    if name == "t.parquet":
        assert pa.parquet.read_table(path).column(0).to_pylist()[:4] == words
        return
    content = path.read_bytes()
    content = gzip.decompress(content) if name.endswith("gz") else content
    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    assert rows[0] == ["a, b", "c"]
    assert [row[0] for row in rows[1:5]] == ["" if word is None else word for word in words]
    assert len(rows) == 8
