"""`nacre serve` itself: what it refuses to start with, and how it is started."""

import socket

import pytest
from typer.testing import CliRunner

from nacre.app import server, users
from nacre.app.settings import Settings, new_token
from nacre.app.users import Users
from nacre.cli import app
from nacre.errors import NacreError


def run(*arguments, **more):
    return CliRunner().invoke(app, ["serve", *map(str, arguments)], **more)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--host", "192.0.2.7"], "--users"),
        (["--proxy", "https://nacre.example"], "--users"),
        (["--certificate", "a.pem"], "--key"),
        (["--add-user", "ada"], "--users FILE"),
        (["--users", "nobody.txt"], "--add-user"),
    ],
)
def test_what_is_not_safe_is_not_started(given, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("--no-browser", *given)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_person_is_added(tmp_path, monkeypatch):
    monkeypatch.setattr(users, "COST", 1 << 10)
    path = tmp_path / "people.txt"
    secret = "correct horse battery"
    done = run("--users", path, "--add-user", "ada", input=f"{secret}\n{secret}\n")
    assert done.exit_code == 0, done.output
    assert secret not in done.output
    assert Users(path).right("ada", secret)


def test_a_port_that_is_taken_is_told():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(NacreError, match="--port"):
            server._bind("127.0.0.1", port)


def test_the_browser_is_opened_by_a_file_that_others_cannot_read(tmp_path, monkeypatch):
    """Arguments of a process are seen by everybody on the machine: the token is in none."""
    opened = []
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    settings = Settings(
        root=tmp_path,
        state=tmp_path,
        ledger="ledger.db",
        origins=("http://127.0.0.1:1",),
        token=new_token(),
    )
    server._open_browser(settings)
    (address,) = opened
    assert settings.token not in address
    link = tmp_path / "open.html"
    assert settings.opening in link.read_text()
    assert link.stat().st_mode & 0o077 == 0
