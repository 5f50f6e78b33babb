"""Every mistake a user can make: its message, its exit code, and that it spends nothing."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.cli.conftest import Folder, people

import nacre
import nacre.errors

SECRET = "Zaphod"  # stands in tables where something is wrong, and must never be shown


@pytest.fixture
def refused(folder: Folder):
    """Run a fit that must be refused: code 2, all words in the message, nothing spent."""

    def run(*words: str, table: str = "people.csv", more: tuple[str, ...] = (), **changed: str):
        done = folder.fit(table, *more, **changed)
        assert done.exit_code == 2, done.output
        for word in words:
            assert word in done.stderr
        assert SECRET not in done.output
        assert "Traceback" not in done.output
        assert folder.spent() == (0, 0)
        assert not (folder / "out.nacre").exists()
        return done

    return run


def change(folder: Folder, column: str, values: pa.Array) -> None:
    table = people()
    place = table.column_names.index(column)
    table = table.set_column(place, column, values)
    pa.csv.write_csv(table, folder / "changed.csv")
    pa.parquet.write_table(table, folder / "changed.parquet")


def first(value: object, rest: object = None) -> pa.Array:
    return pa.array([value] + [rest] * (people().num_rows - 1))


def test_wrong_path(refused):
    refused("There is no file or folder", "nowhere.csv", table="nowhere.csv")


def test_wrong_schema_path(folder, refused):
    refused("There is no schema file", "nacre schema draft", schema=str(folder / "no.yaml"))


def test_wrong_ending(folder, refused):
    (folder / "people.txt").write_text("age\n1\n")
    refused("the name must end in", table="people.txt")


def test_every_problem_of_a_schema_at_once(folder, refused):
    text = (folder / "people.yaml").read_text()
    text = text.replace("low: 17, high: 90", "low: 90, high: 17").replace("real", "rael")
    (folder / "people.yaml").write_text(text)
    refused("has 2 problems", "'age'", "'wage'", "Did you mean real?")


def test_a_schema_that_is_not_yaml(folder, refused):
    (folder / "people.yaml").write_text("columns: {")
    refused("not valid YAML")


def test_missing_column(folder, refused):
    pa.csv.write_csv(people().drop_columns("wage"), folder / "short.csv")
    refused("lacks 1 column", "wage", table="short.csv")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_text_in_a_column_of_numbers(folder, refused, suffix):
    change(folder, "age", first(SECRET, "50"))
    refused("'age': 1 not a number", "nothing was spent", table=f"changed.{suffix}")


def test_a_type_that_no_cell_can_have(folder, refused):
    change_to = pa.array([[1]] * people().num_rows)
    table = people().set_column(0, "age", change_to)
    pa.parquet.write_table(table, folder / "lists.parquet")
    refused("age", table="lists.parquet")


def test_unknown_values(folder, refused):
    change(folder, "sex", first(SECRET, "Male"))
    refused("'sex': 1 unknown value", "other: true", table="changed.csv")


def test_ten_thousand_categories(folder, refused):
    many = pa.array([f"{SECRET}{n}" for n in range(10_000)])
    table = pa.table({"age": np.full(10_000, 30), "sex": many})
    pa.csv.write_csv(table, folder / "many.csv")
    (folder / "many.yaml").write_text(
        "columns:\n  age: {type: integer, low: 1, high: 99}\n"
        "  sex: {type: categorical, values: [Female, Male]}\n"
    )
    refused("10,000 unknown value", table="many.csv", schema=str(folder / "many.yaml"))
    done = folder.run("schema", "draft", folder / "many.csv")
    assert done.exit_code == 0
    assert "'sex': every row has another text" in done.stderr
    assert SECRET not in done.output


def test_all_null_column(folder, refused):
    change(folder, "age", pa.nulls(people().num_rows, pa.int64()))
    refused(f"'age': {people().num_rows} missing", "nullable: true", table="changed.csv")
    refused(f"'age': {people().num_rows} missing", table="changed.parquet")
    done = folder.run("schema", "draft", folder / "changed.csv")
    assert done.exit_code == 0
    assert "'age': no row has a value" in done.stderr
    assert "# left out: age: no row has a value" in done.stdout


def test_not_a_number_and_infinity(folder, refused):
    text = (folder / "people.yaml").read_text().replace(", nullable: true", "")
    (folder / "people.yaml").write_text(text)
    values = np.full(people().num_rows, 5.0)
    values[0], values[1], values[2] = np.nan, np.inf, -np.inf
    change(folder, "wage", pa.array(values))
    for suffix in ("csv", "parquet"):
        refused("'wage': 1 missing", "2 out of range", table=f"changed.{suffix}")


def test_empty_file(folder, refused):
    (folder / "empty.csv").touch()
    refused("empty.csv is empty", table="empty.csv")
    (folder / "empty.parquet").touch()
    refused("empty.parquet is empty", table="empty.parquet")


def test_header_only(folder, refused):
    (folder / "header.csv").write_text("age,sex,wage,income\n")
    refused("has no rows", table="header.csv")


def test_one_row(folder, refused):
    pa.csv.write_csv(people(1), folder / "one.csv")
    refused("has 1 row", "Nothing was spent", table="one.csv")


def test_not_utf8(folder, refused):
    text = (folder / "people.csv").read_text().replace("Female", "Fémale")
    (folder / "latin.csv").write_bytes(text.encode("latin-1"))
    refused("is not UTF-8", "iconv", table="latin.csv")


def test_not_parquet(folder, refused):
    (folder / "fake.parquet").write_text(SECRET)
    refused("not a readable Parquet file", table="fake.parquet")


def test_ragged_lines(folder, refused):
    with (folder / "people.csv").open("a") as file:
        file.write(f"1,{SECRET}\n")
    refused("more or fewer fields")


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "-inf"])
def test_epsilon_that_means_nothing(refused, epsilon):
    refused("epsilon must be a positive number", epsilon=epsilon)


def test_no_privacy_is_asked_for_in_words_and_alone(folder, refused):
    refused("write --not-private instead of --epsilon", epsilon="inf")
    options = ("--schema", folder / "people.yaml")
    fit = ("fit", folder / "people.csv", *options, "--output", folder / "out.nacre")
    for command in (("plan", *options), fit):
        assert "Give --epsilon and --delta" in folder.run(*command).stderr
        for more in (("--epsilon", "1"), ("--delta", "1e-6")):
            done = folder.run(*command, "--not-private", *more)
            assert done.exit_code == 2 and "leave out both" in done.stderr
    account = ("--ledger", folder / "budget.db", "--dataset", "people")
    done = folder.run(*fit, "--not-private", *account)
    assert done.exit_code == 2 and "cannot be charged to a ledger" in done.stderr
    assert folder.spent() == (0, 0) and not (folder / "out.nacre").exists()


@pytest.mark.parametrize("delta", ["0", "1", "-1e-5", "nan"])
def test_delta_that_means_nothing(refused, delta):
    refused("delta must lie strictly between 0 and 1", delta=delta)


def test_delta_that_promises_next_to_nothing(refused):
    refused("delta must be below 0.01, got 0.5", delta="0.5")


def test_delta_above_one_over_rows_is_warned_about_before_the_budget_refuses(refused):
    # 10 is more than the open budget, so the fit stops after the warning without spending.
    done = refused("does not cover this fit", "nothing was charged", epsilon="10", delta="0.005")
    assert "Warning: delta=0.005 is not below 1/600" in done.stderr
    assert "UserWarning" not in done.stderr


def test_text_for_a_number(refused):
    refused("--epsilon", epsilon="much")


def test_budget_and_data_set_belong_together(folder, refused):
    refused("no budget for 'persons'", dataset="persons")
    refused("There is no ledger at", ledger=str(folder / "none.db"))
    done = folder.run(
        *("fit", folder / "people.csv", "--schema", folder / "people.yaml", "--epsilon", "1"),
        *("--delta", "1e-5", "--output", folder / "out.nacre", "--ledger", folder / "budget.db"),
    )
    assert done.exit_code == 2
    assert "dataset" in done.stderr


def test_other_adjacency_than_the_budget(refused):
    refused("add-remove adjacency", adjacency="replace-one")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--method", "perl"), "Did you mean 'pearl'?"),
        (("--set", "stepz=3"), "Did you mean 'steps'?"),
        (("--set", "seps"), "name=value"),
        (("--set", "blocks=many"), "'many' is not a whole number"),
        (("--set", "steps=21"), "given twice"),
        (("--label", "incom"), "Did you mean 'income'?"),
        (("--adjacency", "none"), "--adjacency"),
        (("--bad-rows", "ignore"), "--bad-rows"),
        (("--rows", "0"), "rows must be a positive whole number"),
    ],
)
def test_wrong_options(refused, more, words):
    refused(words, more=more)


def test_output_that_cannot_be_written_is_found_before_spending(folder, refused):
    refused("There is no folder", output=str(folder / "no" / "out.nacre"))
    refused("is a folder", output=str(folder.path))


def test_a_draft_from_the_rows_must_be_reviewed(folder, refused):
    drafted = folder / "drafted.yaml"
    done = folder.run("schema", "draft", folder / "people.csv", "-o", drafted, "--label", "income")
    assert done.exit_code == 0
    assert "not private" in done.stderr
    refused("reviewed: true", schema=str(drafted))
    again = folder.run("schema", "draft", folder / "people.csv", "-o", drafted)
    assert again.exit_code == 2
    assert "--force" in again.stderr


@pytest.mark.parametrize(
    ("code", "exit_code", "shown"),
    [
        (f"float('{SECRET}')", 1, "failed in nacre.somewhere (ValueError)"),
        (f"np.array(['{SECRET}']).astype(float)", 1, "(ValueError)"),
        (f"pa.array(['{SECRET}']).cast(pa.int8())", 1, "(ArrowInvalid)"),
        (f"{{}}['{SECRET}']", 1, "(KeyError)"),
        (f"raise ValueError('{SECRET}')", 1, "(ValueError)"),
        ("raise NacreError('Say what to do.')", 2, "Say what to do."),
        ("raise MissingExtra('Install it.')", 1, "Install it."),
        ("open('/no/such/file')", 2, "/no/such/file: No such file or directory."),
    ],
)
def test_only_our_own_messages_are_shown(folder, monkeypatch, code, exit_code, shown):
    # Libraries quote the cell that they choke on.
    space = {**vars(nacre.errors), "__name__": "nacre.somewhere", "np": np, "pa": pa}
    exec(f"def broken(*_, **__):\n    {code}", space)
    monkeypatch.setattr("nacre.schema.Schema.check", space["broken"])
    done = folder.run("schema", "check", folder / "people.yaml", folder / "people.csv")
    assert done.exit_code == exit_code
    assert shown in done.stderr
    assert SECRET not in done.output


def test_the_command_itself_exits_with_two(tmp_path):
    script = "from nacre.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "show", str(tmp_path / "none.nacre")],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(nacre.__file__).parents[1])},
    )
    assert done.returncode == 2
    assert "There is no file" in done.stderr
    assert not done.stdout


def test_no_output_replaces_what_is_read(folder):
    before = (folder / "people.csv").read_bytes()
    done = folder.run(
        "fit", folder / "people.csv", "--schema", folder / "people.yaml", "--epsilon", "1",
        "--delta", "1e-6", "-o", folder / "people.csv",
    )  # fmt: skip
    assert done.exit_code == 2
    assert "Choose another name" in done.output
    assert (folder / "people.csv").read_bytes() == before


def test_a_model_is_not_replaced_without_force(folder):
    (folder / "old.nacre").write_text("a model that cost budget")
    done = folder.run(
        "fit", folder / "people.csv", "--schema", folder / "people.yaml", "--epsilon", "1",
        "--delta", "1e-6", "-o", folder / "old.nacre",
    )  # fmt: skip
    assert done.exit_code == 2
    assert "--force" in done.output
    assert (folder / "old.nacre").read_text() == "a model that cost budget"
    done = folder.fit("people.csv", "--force", output=str(folder / "old.nacre"))
    assert done.exit_code == 0, done.output
    assert nacre.load(folder / "old.nacre").method == "PEARL"


def test_a_model_has_no_name_that_tables_have(folder):
    done = folder.run(
        "fit", folder / "people.csv", "--schema", folder / "people.yaml", "--epsilon", "1",
        "--delta", "1e-6", "-o", folder / "synthetic.csv",
    )  # fmt: skip
    assert done.exit_code == 2
    assert "no name for a model. Give one such as synthetic.nacre" in " ".join(done.output.split())
    assert not (folder / "synthetic.csv").exists()
