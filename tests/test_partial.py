"""A name is taken once, also where the file system has no hard links."""

import os
import threading
from pathlib import Path

import pytest

from nacre.partial import take_free_name


@pytest.fixture(params=["links", "no links"])
def folder(request, tmp_path, monkeypatch):
    if request.param == "no links":
        monkeypatch.setattr(os, "link", no_links)
    return tmp_path


def no_links(*_):
    raise PermissionError(1, "Operation not permitted")


def test_a_free_name_is_taken(folder):
    (folder / "new").write_text("new")
    take_free_name(folder / "new", folder / "target")
    assert (folder / "target").read_text() == "new"


@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_a_name_that_is_taken_stays_as_it_is(folder, kind):
    (folder / "new").write_text("new")
    target = folder / "target"
    if kind == "file":
        target.write_text("old")
    else:
        target.symlink_to(folder / "nowhere")
    with pytest.raises(FileExistsError):
        take_free_name(folder / "new", target)
    assert target.is_symlink() or target.read_text() == "old"
    assert not (folder / "nowhere").exists() and (folder / "new").exists()


def test_of_many_at_once_one_takes_the_name(folder, monkeypatch):
    """Whoever looks whether a name is free and then takes it may be overtaken in between."""
    together, taken = threading.Barrier(8, timeout=10), []
    seen = os.path.lexists
    monkeypatch.setattr(os.path, "lexists", lambda path: (seen(path), together.wait())[0])

    def take(place):
        (folder / str(place)).write_text(str(place))
        try:
            take_free_name(folder / str(place), folder / "target")
            taken.append(place)
        except FileExistsError:
            pass

    threads = [threading.Thread(target=take, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 1 and (folder / "target").read_text() == str(taken[0])


def test_a_claim_that_came_to_nothing_is_given_back(folder, monkeypatch):
    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(FileNotFoundError):
        take_free_name(folder / "gone", folder / "target")
    assert not (folder / "target").exists()


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_claim_is_given_back_whatever_stops_the_writer(tmp_path, monkeypatch, error):
    monkeypatch.setattr(os, "link", no_links)

    def stopped(*_):
        raise error

    (tmp_path / "new").write_text("new")
    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(error):
        take_free_name(tmp_path / "new", tmp_path / "target")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["new"]


def test_what_took_the_place_of_a_claim_is_not_taken_away(tmp_path, monkeypatch):
    """Whoever may replace files does not ask whose the empty one is."""
    monkeypatch.setattr(os, "link", no_links)

    def overtaken(_, target):
        (tmp_path / "other").write_text("other")
        (tmp_path / "other").rename(target)
        raise OSError(5, "Input/output error")

    (tmp_path / "new").write_text("new")
    monkeypatch.setattr(Path, "replace", overtaken)
    with pytest.raises(OSError, match="Input/output"):
        take_free_name(tmp_path / "new", tmp_path / "target")
    assert (tmp_path / "target").read_text() == "other"
