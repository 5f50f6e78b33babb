"""`nacre publish` from a terminal."""

import json

import pytest
from tests.publish.people import people
from typer.testing import CliRunner

import nacre
from nacre.cli import app


def run(*arguments):
    return CliRunner(env={"NACRE_TRACEBACK": ""}).invoke(app, [str(a) for a in arguments])


def test_command_writes_the_page_and_charges_the_ledger(model, tmp_path):
    saved, page = tmp_path / "people.nacre", tmp_path / "public.html"
    model.save(saved)
    people().to_csv(tmp_path / "people.csv", index=False)
    done = run("publish", saved, "-o", page, "-n", "300")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Safe to publish") and "safe to publish" in done.stderr
    first = page.read_text(encoding="utf-8")
    refused = run("publish", saved, "-o", page, "-n", "300")
    assert refused.exit_code == 2 and "--force" in refused.stderr and str(page) in refused.stderr
    assert run("publish", saved, "-o", page, "-n", "300", "--force", "--quiet").exit_code == 0
    assert page.read_text(encoding="utf-8") == first

    ledger = nacre.Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=1, delta=1e-5)
    options = ("--data", tmp_path / "people.csv", "--epsilon", "0.5", "--delta", "1e-6")
    account = ("--ledger", tmp_path / "budget.db", "--dataset", "people")
    asked = ("publish", saved, "-o", page, "-n", "300", *options, *account, "--json")
    assert run(*asked).exit_code == 2
    assert ledger.balance("people").spent_epsilon == 0  # refused before anything is spent
    done = run(*asked, "--force")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["bought"]["epsilon"] == pytest.approx(0.5, abs=1e-3)
    assert ledger.balance("people").spent_epsilon == pytest.approx(0.5)


def test_commands_that_cannot_be_met_say_what_to_do(model, tmp_path):
    saved = tmp_path / "people.nacre"
    model.save(saved)
    done = run("publish", saved, "-o", saved)
    assert done.exit_code == 2 and "would replace it" in done.stderr
    table = tmp_path / "private.csv"
    table.write_text("a\n1\n")
    for command in (("publish", saved), ("evaluate", table, table, "-s", table)):
        done = run(*command, "-o", tmp_path / "other.csv")
        assert done.exit_code == 2 and "ends in .html" in done.stderr
    done = run("publish", saved, "-o", tmp_path / "p.html", "--data", tmp_path / "none.csv")
    assert done.exit_code == 2 and "There is no file" in done.stderr
    done = run("evaluate", "--public")
    assert done.exit_code == 2 and "nacre publish MODEL" in done.stderr
