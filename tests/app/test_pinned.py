"""A table is the file that was looked at, whoever changes paths below the root meanwhile."""

import os

import pytest
from tests.app.conftest import opened

from nacre.app.pinned import DESCRIPTORS, pinned
from nacre.app.work import draft_table
from nacre.errors import NacreError

pytestmark = pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="needs Linux's /proc")


@pytest.fixture
def places(tmp_path):
    """A root with a table in a folder, a secret beside it, and a folder of the server's own."""
    root, own = tmp_path / "root", tmp_path / "own"
    (root / "a").mkdir(parents=True)
    own.mkdir()
    (root / "a" / "table.csv").write_text("a\n1\n")
    (tmp_path / "secret.csv").write_text("a\nsecret\n")
    return root, own, tmp_path / "secret.csv"


def test_a_link_in_its_place_is_not_followed_later(places):
    root, own, secret = places
    table = root / "a" / "table.csv"
    with pinned(table, root, own) as held:
        assert held.suffix == ".csv"
        table.unlink()
        table.symlink_to(secret)
        assert table.read_text() == "a\nsecret\n"
        assert held.read_text() == "a\n1\n"
        assert held.read_text() == "a\n1\n"  # from its start again
    assert not list(own.iterdir())


def test_links_and_pipes_are_not_opened(places):
    root, own, secret = places
    table, folder = root / "a" / "table.csv", root / "a"
    table.unlink()
    table.symlink_to(secret)
    with pytest.raises(NacreError, match="moved or replaced"), pinned(table, root, own):
        pass
    table.unlink()
    os.mkfifo(table)
    with pytest.raises(NacreError, match="moved or replaced"), pinned(table, root, own):
        pass
    table.unlink()
    folder.rmdir()
    (secret.parent / "other").mkdir()
    (secret.parent / "other" / "table.csv").write_text("a\nsecret\n")
    folder.symlink_to(secret.parent / "other")
    with pytest.raises(NacreError, match="moved or replaced"), pinned(table, root, own):
        pass
    with pytest.raises(NacreError, match="moved or replaced"), pinned(secret, root, own):
        pass
    assert not list(own.iterdir())


def test_messages_name_the_table(places):
    root, own, _ = places
    table = root / "a" / "table.csv"
    table.write_bytes(b"a,b\n" + b"caf\xe9,2\n" * 60)
    with pytest.raises(NacreError, match="not UTF-8") as refused:
        draft_table(str(table), str(root), str(own), ())
    assert str(table) in str(refused.value)
    assert "pinned" not in str(refused.value)


def test_a_table_that_is_replaced_during_its_draft_is_not_read(server, browser, monkeypatch):
    """Somebody who may write below the root swaps it between the check and the opening."""
    from nacre.app import work

    table, secret = server.settings.root / "people.csv", server.path / "secret.csv"
    secret.write_text("a\n" + "secret\n" * 60)
    first = opened(browser)
    assert "age" in browser.get(first + "/schema").text

    def swapped(*given):
        table.unlink()
        table.symlink_to(secret)
        return pinned(*given)

    monkeypatch.setattr(work, "pinned", swapped)
    found = browser.post("/open", {"path": "people.csv"})
    assert found.status_code == 422
    assert "moved or replaced" in found.text
    assert len(list((server.settings.state / "projects").iterdir())) == 1
