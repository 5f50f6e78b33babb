"""A server in this process, browsers that talk to it, and one project that went the whole road."""

from __future__ import annotations

import dataclasses
import re
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest
from tests.cli.conftest import people

from nacre.app.settings import Settings, origins_of
from nacre.app.web import make_app

with warnings.catch_warnings():
    # Starlette would rather have a successor of httpx, which is not in our lock.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

ORIGIN = "http://127.0.0.1:8765"
TOKEN = "a-token-of-the-tests"
OWN = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
# Settings that keep a fit short; the numbers do not matter here.
SMALL = {"method": "pearl", "settings": "frequencies=32\nsteps=20\ncomponents=4"}


@dataclasses.dataclass(frozen=True)
class Browser:
    """A browser: it keeps cookies and, as browsers do, says where its forms come from."""

    client: TestClient

    def enter(self, token: str = TOKEN) -> Any:
        return self.client.get("/enter", params={"token": token})

    def get(self, address: str, **more: Any) -> Any:
        return self.client.get(address, **more)

    def form_token(self, address: str = "/") -> str:
        found = re.search(r'name="form_token" value="([0-9a-f]+)"', self.get(address).text)
        assert found
        return found[1]

    def post(self, address: str, fields: Any = (), **more: Any) -> Any:
        """Send a form of this page."""
        data = dict(fields) | {"form_token": self.form_token()}
        headers = OWN | more.pop("headers", {})
        return self.client.post(address, data=data, headers=headers, **more)

    def upload(self, name: str, content: bytes, **more: Any) -> Any:
        return self.client.post(
            "/upload",
            data={"form_token": more.pop("token", None) or self.form_token()},
            files={"table": (name, content)},
            headers=OWN,
            **more,
        )


@dataclasses.dataclass(frozen=True)
class Server:
    """A server with its folders."""

    path: Path
    app: Any
    settings: Settings

    def browser(self, *, inside: bool = True) -> Browser:
        client = TestClient(self.app, base_url=ORIGIN, follow_redirects=False)
        found = Browser(client)
        if inside and self.settings.token is not None:
            assert found.enter().status_code == 200
        return found


def make(path: Path, **changes: Any) -> Server:
    """A server on this folder: the one that was there before, if there was one."""
    root = path / "root"
    if not root.exists():
        root.mkdir()
        pyarrow.csv.write_csv(people(), root / "people.csv")
    settings = Settings(
        **{
            "root": root,
            "state": path / "state",
            "ledger": str(path / "budget.db"),
            "origins": origins_of("127.0.0.1", 8765, users=False, certificate=False, proxy=None),
            "token": TOKEN,
            "upload": 1 << 20,
        }
        | changes
    )
    return Server(path, make_app(settings, ThreadPoolExecutor(1)), settings)


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return make(tmp_path)


@pytest.fixture
def browser(server: Server) -> Browser:
    return server.browser()


def opened(browser: Browser) -> str:
    """The address of a project made of people.csv."""
    found = browser.post("/open", {"path": "people.csv"})
    assert found.status_code == 303, found.text
    return found.headers["location"].removesuffix("/schema")


def reviewed(browser: Browser) -> str:
    """The address of a project whose schema is reviewed."""
    project = opened(browser)
    found = browser.post(project + "/reviewed", {"label": "income", "public": list("0123")})
    assert found.headers.get("location") == project + "/plan", found.text
    return project


CHOICES = {
    "epsilon": "1",
    "delta": "1e-5",
    "rows": "600",
    "seed": "0",
    "dataset": "people",
    "budget_epsilon": "3",
    "budget_delta": "1e-4",
    "adjacency": "add-remove",
    "bad_rows": "check",
    **SMALL,
}


def confirmed(browser: Browser, project: str, **changes: str) -> Any:
    """Press the button that the plan's page shows for these choices."""
    choices = CHOICES | changes
    page = browser.post(project + "/outline", choices).text
    hidden = dict(re.findall(r'name="(run|shown)" value="([0-9a-f]+)"', page))
    assert set(hidden) == {"run", "shown"}, page
    return browser.post(project + "/fit", choices | hidden)


def wait_for(browser: Browser, run: str, word: str, seconds: float = 240.0) -> str:
    """The page of a run, once it has this word."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        text = browser.get(run).text
        if word in text:
            return text
        time.sleep(0.3)
    raise AssertionError(text)


@dataclasses.dataclass(frozen=True)
class Road:
    """A project that went the whole road."""

    server: Server
    project: str
    run: str


@pytest.fixture(scope="session")
def road(tmp_path_factory: pytest.TempPathFactory) -> Road:
    """One fit in its own process, by forms alone; tests must not change its files."""
    server = make(tmp_path_factory.mktemp("road"))
    browser = server.browser()
    project = reviewed(browser)
    found = confirmed(browser, project)
    assert found.status_code == 303, found.text
    run = found.headers["location"]
    # The tab is closed; another one comes back later.
    other = server.browser()
    wait_for(other, run, "files/report.html")
    return Road(server, project, run)
