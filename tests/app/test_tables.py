"""Tables: only those below the root are read, and uploads keep to their bounds."""

import asyncio
import gzip
import os

import pytest
from tests.app.conftest import Server, make, opened

from nacre.app import uploads
from nacre.app.confined import listed, table_at
from nacre.errors import NacreError


@pytest.fixture
def outside(server):
    """A table beside the root, and links to it inside."""
    path = server.path / "secret.csv"
    path.write_text("a,b\n1,2\n")
    (server.settings.root / "link.csv").symlink_to(path)
    (server.settings.root / "folder").symlink_to(server.path, target_is_directory=True)
    (server.settings.root / "notes.txt").write_text("a")
    (server.settings.root / ".hidden.csv").write_text("a\n1\n")
    (server.settings.root / ".cache").mkdir()
    (server.settings.root / ".cache" / "table.csv").write_text("a\n1\n")
    return path


def test_what_lies_outside_is_not_listed(server, outside):
    found = [each.path for each in listed(server.settings.root, beside=server.settings.state)]
    assert found == ["people.csv"]
    text = server.browser().get("/").text
    assert "people.csv" in text
    assert "secret" not in text
    assert "link.csv" not in text


@pytest.mark.parametrize(
    "said",
    [
        "../secret.csv",
        "link.csv",
        "folder/secret.csv",
        "folder/../secret.csv",
        "people.csv/../../secret.csv",
        "/etc/passwd",
        "notes.txt",
        ".hidden.csv",
        ".cache/table.csv",
        "nowhere.csv",
        "people.csv\0",
        "",
        ".",
        "..\\secret.csv",
    ],
)
def test_what_lies_outside_is_not_opened(server, outside, said):
    with pytest.raises(NacreError, match="no such table"):
        table_at(server.settings.root, said, beside=server.settings.state)
    found = server.browser().post("/open", {"path": said})
    assert found.status_code == 422
    assert "secret" not in found.text
    said_absolute = str(outside)
    assert server.browser().post("/open", {"path": said_absolute}).status_code == 422


def test_uploads_are_not_opened_where_projects_lie_below_the_root(tmp_path):
    """Whoever knows where somebody else's upload is must not get it as a table of the root."""
    server: Server = make(tmp_path, state=tmp_path / "root" / "projects of nacre")
    browser = server.browser()
    table = (server.settings.root / "people.csv").read_bytes()
    project = browser.upload("people.csv", table).headers["location"].split("/")[2]
    assert "projects of nacre" not in browser.get("/").text
    (server.settings.root / "link.csv").symlink_to(
        server.settings.state / "projects" / project / "table.csv"
    )
    for said in (f"projects of nacre/projects/{project}/table.csv", "link.csv"):
        assert browser.post("/open", {"path": said}).status_code == 422
    assert "link.csv" not in browser.get("/").text


def test_what_a_killed_server_left_is_removed(server, browser):
    projects = server.settings.state / "projects"
    project = projects / opened(browser).split("/")[2]
    half, fresh = projects / ("a" * 16), projects / ("b" * 16)
    for path in (half, fresh):
        path.mkdir()
        (path / "upload").write_text("private")
    rows = project / "runs" / "1"
    rows.mkdir()
    for name in (".sample-1.csv", ".ballast"):
        (rows / name).write_text("1")
        os.utime(rows / name, (0, 0))
    os.utime(half, (0, 0))
    make(server.path)
    assert {path.name for path in projects.iterdir()} == {project.name, fresh.name}
    assert {path.name for path in rows.iterdir()} == {".ballast"}


def test_a_table_that_becomes_a_link_is_no_longer_read(server, browser):
    project = opened(browser)
    table = server.settings.root / "people.csv"
    outside = server.path / "elsewhere.csv"
    table.rename(outside)
    table.symlink_to(outside)
    found = server.app.app.state.site.projects
    with pytest.raises(NacreError, match="no longer"):
        found.table(found.find(project.removeprefix("/p/"), ""))


def test_an_upload_becomes_a_project_and_its_name_no_path(server, browser):
    table = (server.settings.root / "people.csv").read_bytes()
    found = browser.upload("../../../evil/pe ople.CSV", table)
    assert found.status_code == 303
    project = found.headers["location"].split("/")[2]
    kept = server.settings.state / "projects" / project / "table.csv"
    assert kept.read_bytes() == table
    assert not (server.path / "evil").exists()
    assert "pe ople.CSV" in browser.get("/").text


def test_uploads_are_bounded_while_they_come_in(tmp_path):
    server: Server = make(tmp_path, upload=1000)
    browser = server.browser()
    big = b"a,b\n" + b"1,2\n" * 100_000
    assert browser.upload("big.csv", big).status_code == 413
    assert not list((server.settings.state / "projects").iterdir())


def test_an_upload_without_a_length_stops_where_it_is_too_large(tmp_path):
    taken = uploads.Upload(b"b", tmp_path / "upload", most=10_000, admit=lambda said: said == "t")
    sent = []

    async def chunks():
        yield b'--b\r\ncontent-disposition: form-data; name="form_token"\r\n\r\nt\r\n'
        yield b'--b\r\ncontent-disposition: form-data; name="table"; filename="a.csv"\r\n\r\n'
        for _ in range(100):
            sent.append(1)
            yield b"1,2\n" * 1000

    with pytest.raises(uploads.Refused, match="larger") as refused:
        asyncio.run(taken.take(chunks()))
    assert refused.value.status == 413
    assert len(sent) == 3  # of 4,000 bytes each


def test_wrong_uploads_are_told_and_not_kept(server, browser):
    for name, content, status in [
        ("people.xlsx", b"PK\x03\x04", 415),
        ("people.csv", b"PAR1....", 415),
        ("people.parquet", b"a,b\n1,2\n", 415),
        ("people.csv.gz", b"a,b\n1,2\n", 415),
        ("people.csv", gzip.compress(b"a,b\n1,2\n"), 415),
        ("people.parquet", b"PAR1 and no more", 422),
        ("people.csv", b"", 422),
        ("people.csv", b"a,b\n", 422),
        ("", b"a,b\n1,2\n", 400),
    ]:
        found = browser.upload(name, content)
        assert found.status_code == status, (name, found.text)
    assert not list((server.settings.state / "projects").iterdir())


def test_a_file_before_the_token_is_not_looked_at(tmp_path):
    taken = uploads.Upload(b"b", tmp_path / "upload", most=100, admit=lambda said: True)
    head = b'content-disposition: form-data; name="table"; filename="a.csv"'
    form = b"--b\r\n" + head + b"\r\n\r\na\r\n--b--\r\n"

    async def chunks():
        yield form

    with pytest.raises(uploads.Refused, match="not one of this page"):
        asyncio.run(taken.take(chunks()))
    assert not (tmp_path / "upload").exists()


def test_messages_about_an_upload_name_the_file_and_no_folder(server, browser):
    found = browser.upload("latin.csv", b"a,b\n" + b"caf\xe9,2\n" * 60)
    assert found.status_code == 422
    assert "latin.csv is not UTF-8" in found.text
    assert "table.csv" not in found.text
    assert str(server.settings.state) not in found.text
