"""A full disk: nothing is lost, nothing is spent twice, and a page says so."""

import errno
import os

import pytest
from tests.app.conftest import CHOICES, confirmed, opened, reviewed
from tests.app.test_run import prepared

from nacre.app import child, folder
from nacre.app import run as runs
from nacre.ledger import Ledger, LedgerError


class Full:
    """The system call `write` on a disk without room, for the first `times` calls (or always)."""

    def __init__(self, monkeypatch, times=None):
        self.real, self.left = os.write, times
        self.refused = 0
        monkeypatch.setattr(os, "write", self)

    def __call__(self, descriptor, data):
        if self.left is None or self.left > 0:
            self.left = None if self.left is None else self.left - 1
            self.refused += 1
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.real(descriptor, data)


def test_a_file_that_cannot_be_written_is_the_old_one(tmp_path, monkeypatch):
    folder.write_json(tmp_path / "a.json", {"a": 1})
    Full(monkeypatch)
    with pytest.raises(folder.DiskFull):
        folder.write_json(tmp_path / "a.json", {"a": 2})
    assert folder.read_json(tmp_path / "a.json") == {"a": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_review_is_not_lost(browser, monkeypatch):
    project = opened(browser)
    before = browser.get(project + "/schema").text
    token = browser.form_token()
    with monkeypatch.context() as patched:
        Full(patched)
        found = browser.post(project + "/ticks")
        assert found.status_code == 507
        assert "The disk is full" in found.text
    assert browser.get(project + "/schema").text == before
    assert token == browser.form_token()
    assert browser.post(project + "/ticks").status_code == 303


def test_an_upload_is_not_half_kept(server, browser, monkeypatch):
    with monkeypatch.context() as patched:
        Full(patched)
        found = browser.upload("people.csv", b"a,b\n1,2\n" * 100)
        assert found.status_code == 507
    assert not list((server.settings.state / "projects").iterdir())


def test_no_fit_begins_that_could_not_be_kept(server, browser, monkeypatch):
    project = reviewed(browser)
    with monkeypatch.context() as patched:
        patched.setattr(folder, "room", lambda path: 1000)
        found = confirmed(browser, project)
        assert found.status_code == 507
        assert "nothing was spent" in found.text
    assert not Ledger(server.settings.ledger).datasets()
    assert 'name="run" value="1"' in browser.post(project + "/outline", CHOICES).text


def test_a_run_that_could_not_be_written_down_is_no_run(server, browser, monkeypatch):
    project = reviewed(browser)
    real = folder.write_json

    def full(path, value):
        if path.name == "task.json":
            raise folder.DiskFull("The disk is full")
        real(path, value)

    with monkeypatch.context() as patched:
        patched.setattr(folder, "write_json", full)
        assert confirmed(browser, project).status_code == 507
    assert not Ledger(server.settings.ledger).history("people")
    assert browser.get(project).headers["location"] == project + "/plan"
    assert 'name="run" value="2"' in browser.post(project + "/outline", CHOICES).text


def test_a_model_that_was_paid_for_waits_for_room(server, browser, monkeypatch):
    """The disk fills after the charge: the model is kept in memory until it can be written."""
    project = reviewed(browser)
    run = prepared(server, project)
    monkeypatch.setattr(child, "reports", lambda *_: {})
    said, waited = [], []
    real_settle = folder.settle

    def full(beside, path):
        if len(waited) < 2:
            raise folder.DiskFull("The disk is full")
        real_settle(beside, path)

    monkeypatch.setattr(folder, "settle", full)
    monkeypatch.setattr(
        child.time,
        "sleep",
        lambda seconds: (waited.append(seconds), said.append(run.state().stage)),
    )
    child.main(run.path)
    assert len(waited) == 2
    assert all("waits in memory" in stage for stage in said)
    assert run.state().phase == "done"
    assert run.there("model.nacre")
    assert len(Ledger(server.settings.ledger).history("people")) == 1


def test_room_is_held_for_what_is_paid_for(tmp_path, monkeypatch):
    ballast = folder.Ballast(tmp_path / "ballast", 2 << 20)
    assert (tmp_path / "ballast").stat().st_blocks * 512 >= 2 << 20  # on the disk, not only in name
    ballast.relieve()
    assert (tmp_path / "ballast").exists()
    monkeypatch.setattr(folder, "room", lambda path: 1000)
    ballast.relieve()
    assert not list(tmp_path.iterdir())


def test_a_fit_without_room_for_its_end_spends_nothing(server, browser, monkeypatch):
    project = reviewed(browser)
    run = prepared(server, project)

    def full(path):
        raise folder.DiskFull("The disk is full")

    monkeypatch.setattr(folder, "Ballast", full)
    child.main(run.path)
    assert run.state().phase == "failed"
    assert not run.state().charged


def test_a_ledger_that_cannot_be_read_is_not_taken_for_an_empty_one(server, browser, monkeypatch):
    project = reviewed(browser)
    prepared(server, project)

    def unreadable(*_):
        raise LedgerError("The ledger could not be used: disk I/O error")

    monkeypatch.setattr(runs, "entries_of", unreadable)
    text = browser.get(project + "/r/1").text
    assert "cannot be told now" in text
    assert "nothing</b>" not in text
    assert browser.post(project + "/r/1/stop").status_code == 303
