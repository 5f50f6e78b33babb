"""Runs: in a process of their own, found again, stopped before they charge, never started twice."""

import asyncio
import csv
import json
import os
import signal
import time
from pathlib import Path

import pytest
from tests.app.conftest import CHOICES, SMALL, confirmed, make, opened, reviewed, wait_for
from typer.testing import CliRunner

from nacre import load
from nacre.app import run as runs
from nacre.app.site import reviewed_schema
from nacre.app.views import run as run_view
from nacre.app.work import Work
from nacre.cli import app
from nacre.errors import NacreError
from nacre.ledger import Ledger
from nacre.ledger.units import MARK


def folder(road):
    return road.server.settings.state / "projects" / road.project.split("/")[2] / "runs" / "1"


def test_the_certificate_is_that_of_the_command_line(road, tmp_path):
    """The same table, schema and choices, charged to another ledger under the same name."""
    (tmp_path / "schema.yaml").write_bytes((folder(road) / "schema.yaml").read_bytes())
    Ledger(tmp_path / "budget.db").open("people", epsilon=3, delta=1e-4)
    table = road.server.settings.root / "people.csv"
    settings = [text for each in SMALL["settings"].split() for text in ("--set", each)]
    given = ["fit", table, "--schema", tmp_path / "schema.yaml", "-o", tmp_path / "model.nacre"]
    given += ["--epsilon", 1, "--delta", 1e-5, "--rows", 600, "--seed", 0, "--method", "pearl"]
    given += [*settings, "--ledger", tmp_path / "budget.db", "--dataset", "people"]
    done = CliRunner().invoke(app, list(map(str, given)))
    assert done.exit_code == 0, done.output
    page = json.loads((folder(road) / "certificate.json").read_text())
    assert page == json.loads(json.dumps(load(tmp_path / "model.nacre").certificate()))
    assert page == json.loads(json.dumps(load(folder(road) / "model.nacre").certificate()))


def test_the_ledger_has_one_entry_that_is_finished(road):
    (entry,) = Ledger(road.server.settings.ledger).history("people")
    assert entry.status == "finished"
    assert entry.epsilon == 1
    assert entry.note.startswith(f"{MARK}web page, run ")
    text = road.server.browser().get("/ledger").text
    assert "Left: ε = 2" in text


def test_the_result_shows_both_reports_apart(road):
    browser = road.server.browser()
    text = browser.get(road.run).text
    assert "Confidential: for you alone" in text
    assert "Everybody may see this" in text
    assert "ε = 1, δ = 10<sup>−5</sup>" in text
    assert text.count("<tr>") == 6  # a head and five rows
    for name in ("report.html", "public.html"):
        found = browser.get(f"{road.run}/files/{name}")
        assert found.status_code == 200
        assert "sandbox" in found.headers["content-security-policy"]
        assert "script" not in found.headers["content-security-policy"]
    assert "confidential" in browser.get(f"{road.run}/files/report.html").text
    saved = browser.get(f"{road.run}/files/public.html?download=1")
    assert saved.headers["content-disposition"].startswith("attachment")


def test_the_page_tells_the_command_line_that_does_the_same(road):
    text = road.server.browser().get(road.run).text
    assert "--dataset people" in text
    assert "--set frequencies=32" in text
    assert "nacre.PEARL(frequencies=32, steps=20, components=4)" in text


@pytest.mark.parametrize(
    "name", ["model.nacre", "certificate.json", "schema.yaml", "synthetic.csv"]
)
def test_downloads(road, name):
    found = road.server.browser().get(f"{road.run}/files/{name}")
    assert found.status_code == 200
    assert found.content == (folder(road) / name).read_bytes()
    assert found.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize("name", ["task.json", "status.json", "lock", "..%2ftask.json", "%2e%2e"])
def test_nothing_else_is_given_out(road, name):
    assert road.server.browser().get(f"{road.run}/files/{name}").status_code in (404, 405)


def test_rows_are_drawn_under_conditions_and_not_kept(road):
    browser = road.server.browser()
    said = {
        "count": "1,000",
        "form": "csv",
        "column": ["sex", "age"],
        "value": ["Female", "30..40"],
    }
    found = browser.post(road.run + "/sample", said)
    assert found.status_code == 200, found.text
    head, *rows = csv.reader(found.text.splitlines())
    assert head == ["age", "sex", "wage", "income"]
    assert len(rows) == 1000
    assert {row[1] for row in rows} == {"Female"}
    assert all(30 <= int(row[0]) <= 40 for row in rows)
    assert not list(folder(road).glob(".sample*"))
    for wrong in ({"count": "many"}, {"value": ["Femal", ""]}, {"count": "0"}):
        refused = browser.post(road.run + "/sample", said | wrong)
        assert refused.status_code == 422
        assert "A private model of" in refused.text


def test_rows_that_could_not_be_drawn_leave_nothing(road, monkeypatch):
    def full(model, output, rows, where):
        Path(output).write_text("half of them")
        raise NacreError("No room.")

    monkeypatch.setattr(run_view, "sample_rows", full)
    refused = road.server.browser().post(road.run + "/sample", {"count": "10"})
    assert refused.status_code == 422
    assert "No room." in refused.text
    assert not list(folder(road).glob(".sample*"))


def test_rows_that_nobody_takes_leave_nothing(tmp_path):
    (tmp_path / "rows.csv").write_text("a\n" * 1000)

    async def gone(message):
        raise OSError("the browser is gone")

    async def silent():
        await asyncio.sleep(60)

    scope = {"type": "http", "method": "GET", "headers": []}
    response = run_view.Passing(tmp_path / "rows.csv")
    with pytest.raises(OSError, match="gone"):
        asyncio.run(response(scope, silent, gone))
    assert not (tmp_path / "rows.csv").exists()


def test_a_folder_of_tables_brings_no_modules(server, browser, monkeypatch):
    """`nacre serve` is begun among tables, and somebody has put a yaml.py there."""
    project = reviewed(browser)
    for name in ("yaml", "pickle"):  # what a fit and what other work imports
        (server.path / f"{name}.py").write_text(f"open('taken by {name}', 'w').close()\n")
    monkeypatch.chdir(server.path)
    place = server.settings.state / "projects" / project.split("/")[2]
    run = runs.begin(place, 1, {"table": "nowhere.csv", "choices": {}, "yaml": "no: schema"})
    end = time.monotonic() + 60
    while run.alive() and time.monotonic() < end:
        time.sleep(0.05)
    assert run.phase() == "failed"
    work = Work()
    try:
        assert asyncio.run(work.do(os.getcwd)) == str(server.path)
    finally:
        work.end()
    assert not list(server.path.glob("taken*"))


def test_a_server_that_starts_again_finds_everything(road):
    browser = make(road.server.path).browser()
    assert "model made" in browser.get("/").text
    assert browser.get(road.project).headers["location"] == road.run
    assert "Guarantee" in browser.get(road.run).text


def test_the_same_button_twice_starts_one_fit(road):
    browser = road.server.browser()
    schema = reviewed_schema(folder(road).parent.parent)
    shown = runs.Run(folder(road), 1).choices.digest(schema)
    again = browser.post(road.project + "/fit", CHOICES | {"run": "1", "shown": shown})
    assert again.headers["location"] == road.run
    assert len(Ledger(road.server.settings.ledger).history("people")) == 1
    old = browser.post(road.project + "/fit", CHOICES | {"run": "7", "shown": shown})
    assert old.status_code == 409


def test_what_was_spent_counts_for_the_next_fit(road):
    browser = road.server.browser()
    text = browser.post(road.project + "/outline", CHOICES | {"epsilon": "2.5"}).text
    assert "Only ε = 2 " in text


def started(server, browser, **changes):
    """A run that was just started, its page's address, and its process."""
    project = reviewed(browser)
    found = confirmed(browser, project, **changes)
    assert found.status_code == 303, found.text
    path = server.settings.state / "projects" / project.split("/")[2] / "runs" / "1"
    return runs.Run(path, 1), found.headers["location"]


def test_a_run_is_stopped_before_it_charges(server, browser):
    run, address = started(server, browser)
    assert run.alive()
    assert "Stop, and spend nothing" in browser.get(address).text
    assert browser.post(address + "/stop").status_code == 303
    text = browser.get(address).text
    assert "Stopped" in text
    assert "charged <b>nothing</b>" in text
    assert not run.alive()
    assert not Ledger(server.settings.ledger).history("people")
    # The next run may begin.
    project = address.removesuffix("/r/1")
    assert 'name="run" value="2"' in browser.post(project + "/outline", CHOICES).text


def test_a_killed_process_is_told_with_what_the_ledger_says(server, browser):
    run, address = started(server, browser)
    process = json.loads((run / "process.json").read_text())["process"]
    os.killpg(process, signal.SIGKILL)
    text = wait_for(browser, address, "The work was interrupted", 20)
    assert "charged <b>nothing</b>" in text
    # Had it been killed after its charge, its mark would tell.
    book = Ledger(server.settings.ledger, mark=run.mark)
    book.reserve("people", epsilon=1, delta=1e-5, adjacency="add-remove", method="PEARL")
    other = Ledger(server.settings.ledger, mark="somebody else")
    other.reserve("people", epsilon=0.5, delta=1e-6, adjacency="add-remove", method="PEARL")
    text = browser.get(address).text
    assert "<b>ε = 1, δ = 10<sup>−5</sup></b>" in text
    assert "0.5" not in text
    assert "the last fit was interrupted" in browser.get("/").text


def test_stopping_too_late_is_refused(server, browser):
    run, address = started(server, browser)
    book = Ledger(server.settings.ledger, mark=run.mark)
    book.reserve("people", epsilon=1, delta=1e-5, adjacency="add-remove", method="PEARL")
    assert "To stop now would only waste it" in browser.get(address).text
    browser.post(address + "/stop")
    assert run.alive()
    run.stop()


def test_a_project_is_not_removed_under_a_running_fit(server, browser):
    run, address = started(server, browser)
    project = address.removesuffix("/r/1")
    assert browser.post(project + "/remove").status_code == 422
    run.stop()
    assert browser.post(project + "/remove").status_code == 303
    assert browser.get(project + "/schema").status_code == 404
    assert Ledger(server.settings.ledger).datasets() == ["people"]


def test_rows_that_do_not_fit_stop_it_before_anything_is_spent(server, browser):
    from nacre.app import child

    project = opened(browser)
    said = {"type": "integer", "low": "30", "high": "40", "public": "1"}
    browser.post(f"{project}/columns/0/save", said)
    assert browser.post(project + "/reviewed", {"public": list("0123")}).status_code == 303
    run = prepared(server, project)
    child.main(run.path)
    text = browser.get(f"{project}/r/1").text
    assert "No model was made" in text
    assert "charged <b>nothing</b>" in text
    assert "&#39;age&#39;" in text or "age" in text


def prepared(server, project, number=1, **changes):
    """A run's folder as `begin` leaves it, without a process: the test is that itself."""
    from nacre.app.folder import make as make_folder
    from nacre.app.folder import read_json, write_json
    from nacre.app.planning import Choices
    from nacre.schema import Schema

    place = server.settings.state / "projects" / project.split("/")[2]
    run = runs.Run(place / "runs" / str(number), number)
    make_folder(run.path)
    choices = Choices.read(CHOICES | {"settings": SMALL["settings"].split()} | changes)
    book = Ledger(server.settings.ledger)
    book.open(choices.dataset, epsilon=choices.budget_epsilon, delta=choices.budget_delta)
    task = {
        "table": str(server.settings.root / "people.csv"),
        "ledger": server.settings.ledger,
        "choices": choices.to_dict(),
        "begun": runs._now(),
        "mark": run.mark,
    }
    write_json(run / "task.json", task)
    schema = Schema.from_dict(read_json(place / "reviewed.json"))
    (run / runs.SCHEMA).write_text(schema.to_yaml())
    return run


def test_a_lock_outlives_the_server_and_not_the_process(server, browser):
    run, _ = started(server, browser)
    again = runs.Run(run.path, 1)
    assert again.alive()
    again.stop()
    end = time.monotonic() + 10
    while again.alive() and time.monotonic() < end:
        time.sleep(0.05)
    assert not again.alive()
