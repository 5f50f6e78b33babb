"""People who log in: hashed passwords, projects of their own, one ledger for all."""

import re
import threading

import pytest
from tests.app.conftest import (
    CHOICES,
    OWN,
    Browser,
    TestClient,
    confirmed,
    make,
    opened,
    reviewed,
)
from tests.app.test_run import prepared

from nacre.app import users as users_room
from nacre.app.users import Users, add_user, read_users
from nacre.errors import NacreError
from nacre.ledger import Ledger

PASSWORD = "correct horse battery"


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.setattr(users_room, "COST", 1 << 10)  # seconds of scrypt are for attackers
    path = tmp_path / "users"
    for name in ("ada", "bea"):
        add_user(path, name, PASSWORD)
    return path


def came_in(server, name, password=PASSWORD):
    browser = Browser(
        TestClient(server.app, base_url="https://nacre.example", follow_redirects=False)
    )
    assert browser.get("/").headers["location"] == "/login"
    token = re.search(r'name="form_token" value="([0-9a-f]+)"', browser.get("/login").text)[1]
    headers = OWN | {"origin": "https://nacre.example"}
    data = {"name": name, "password": password, "form_token": token}
    return browser, browser.client.post("/login", data=data, headers=headers)


@pytest.fixture
def shared(tmp_path, people):
    return make(tmp_path, users=Users(people), token=None, origins=("https://nacre.example",))


@pytest.fixture
def two(shared, monkeypatch):
    """Ada and Bea, each in a browser."""
    monkeypatch.setitem(OWN, "origin", "https://nacre.example")
    found = []
    for name in ("ada", "bea"):
        browser, answer = came_in(shared, name)
        assert answer.status_code == 303
        found.append(browser)
    return found


def test_passwords_are_hashed_and_the_file_is_private(people):
    text = people.read_text()
    assert PASSWORD not in text
    assert people.stat().st_mode & 0o077 == 0
    salts = {salt for salt, _ in read_users(people).values()}
    assert len(salts) == 2


def test_weak_or_odd_people_are_refused(people, tmp_path):
    with pytest.raises(NacreError, match="12"):
        add_user(people, "cleo", "short")
    with pytest.raises(NacreError, match="letters, digits"):
        add_user(people, "a:b", PASSWORD)
    with pytest.raises(NacreError, match="--add-user"):
        Users(tmp_path / "nobody")
    (tmp_path / "broken").write_text("ada:plain:secret\n")
    with pytest.raises(NacreError, match="line 1"):
        Users(tmp_path / "broken")


def test_the_cookie_travels_by_tls_only(shared):
    _, answer = came_in(shared, "ada")
    said = answer.headers["set-cookie"]
    assert "Secure" in said
    assert said.startswith("__Host-nacre-")


def test_wrong_passwords_are_slowed_down(shared):
    for _ in range(5):
        _, answer = came_in(shared, "ada", "wrong password!")
        assert answer.status_code == 401
    _, answer = came_in(shared, "ada")  # the right one, too late
    assert "Wait for a minute" in answer.text
    _, answer = came_in(shared, "bea")
    assert answer.status_code == 303
    _, answer = came_in(shared, "nobody")
    assert answer.status_code == 401


def test_who_is_removed_or_gets_another_password_is_out(shared, two, people):
    ada, bea = two
    assert ada.get("/").status_code == bea.get("/").status_code == 200
    add_user(people, "ada", PASSWORD + " and another")
    assert ada.get("/").headers["location"] == "/login"
    assert bea.get("/").status_code == 200
    known = people.read_text()
    people.write_text("a line that is none\n")  # and is told of where somebody logs in
    assert bea.get("/").headers["location"] == "/login"
    people.write_text("".join(f"{line}\n" for line in known.split() if line.startswith("ada")))
    assert bea.get("/").headers["location"] == "/login"
    _, answer = came_in(shared, "ada", PASSWORD + " and another")
    assert answer.status_code == 303


def test_names_that_nobody_can_have_are_not_remembered(people):
    users = Users(people)
    assert not users.right("a" * 1_000_000, PASSWORD)
    assert not users.right("ada\n", PASSWORD)
    assert users._wrong == {}


def test_the_opening_address_lets_nobody_in_where_people_log_in(shared):
    browser = Browser(TestClient(shared.app, base_url="https://nacre.example"))
    assert browser.get("/enter?token=").status_code == 401
    assert browser.get("/enter?token=None").status_code == 401


def test_projects_are_their_owners(two):
    ada, bea = two
    project = opened(ada)
    assert ada.get(project + "/schema").status_code == 200
    assert bea.get(project + "/schema").status_code == 404
    assert bea.post(project + "/remove").status_code == 404
    assert project not in bea.get("/").text


def test_logging_out_ends_the_session(two):
    ada, _ = two
    assert ada.post("/leave").status_code == 200
    assert ada.get("/").headers["location"] == "/login"


def test_two_people_at_once_cannot_overspend(shared, two):
    """Both see a budget of 1.5 that covers either fit of 1, and both press the button."""
    runs = []
    for browser in two:
        project = reviewed(browser)
        page = browser.post(project + "/outline", CHOICES | {"budget_epsilon": "1.5"}).text
        assert "Only ε" not in page
        runs.append(prepared(shared, project, budget_epsilon="1.5"))
    # As their two processes would, at the same time.
    threads = [Caught(run) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    balance = Ledger(shared.settings.ledger).balance("people")
    assert balance.spent_epsilon == 1
    assert sorted(type(thread.error).__name__ for thread in threads) == [
        "BudgetExceeded",
        "NoneType",
    ]
    assert sorted(run.state().charged for run in runs) == [False, True]
    # A third, who looks later, is told on the plan's page.
    assert confirmed(two[0], reviewed(two[0])).status_code == 409


class Quiet:
    def progress(self, stage, part):
        pass


class Caught(threading.Thread):
    """A fit that keeps what it raised."""

    def __init__(self, run):
        super().__init__()
        self.fitted, self.error = run, None

    def run(self):
        from nacre.app import child

        try:
            child.fit(self.fitted, Quiet())
        except Exception as error:
            self.error = error
