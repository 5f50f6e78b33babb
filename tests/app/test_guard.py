"""Who gets in, and what no other site and no stranger can do."""

import re
from pathlib import Path

import pytest
from tests.app.conftest import ORIGIN, OWN, Server, make

import nacre.app
from nacre.app.web import ROUTES
from nacre.errors import NacreError

TEMPLATES = Path(nacre.app.__file__).parent / "templates"
POSTS = [route.path for route in ROUTES if "POST" in (route.methods or ())]


def filled(path):
    """A route's path with something in place of its names."""
    path = path.replace("{project}", "0" * 16).replace("{name}", "model.nacre")
    return re.sub(r"\{\w+:int\}", "0", path)


def test_the_opening_address_becomes_a_cookie(server):
    browser = server.browser(inside=False)
    said = browser.enter().headers["set-cookie"]
    assert "HttpOnly" in said
    assert "SameSite=strict" in said
    assert "nacre-8765=" in said
    assert browser.get("/").status_code == 200
    # What is in the cookie is not what was in the address.
    assert server.settings.token not in said


def test_a_second_browser_without_the_token_sees_nothing(server):
    server.browser()
    other = server.browser(inside=False)
    for path in ("/", "/ledger", "/p/0000000000000000/schema"):
        found = other.get(path)
        assert found.status_code == 401
        assert "people.csv" not in found.text
    assert other.enter("wrong").status_code == 401
    assert other.enter("").status_code == 401
    assert other.get("/").status_code == 401


def test_a_cookie_that_was_made_up_is_none(server):
    other = server.browser(inside=False)
    other.client.cookies.set("nacre-8765", "made-up")
    assert other.get("/").status_code == 401


def test_cookies_of_other_servers_on_this_machine_do_no_harm(browser, server):
    """Ports do not keep cookies apart: they come along, odd ones and ones of our name, too."""
    (ours,) = [f"{each.name}={each.value}" for each in browser.client.cookies.jar]
    stranger = server.browser(inside=False)
    for odd in ('prefs={"a": [1, 2]}', "a=b=c; =; ;", 'x="'):
        found = stranger.get("/", headers={"cookie": f"{odd}; {ours}"})
        assert found.status_code == 200, odd
    tossed = stranger.get("/", headers={"cookie": f"nacre-8765=of-another; {ours}"})
    assert tossed.status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:80", "localhost.evil:8765"]
)
def test_dns_rebinding_is_refused(browser, host):
    """A name that an attacker makes lead to 127.0.0.1 arrives in `Host`."""
    found = browser.get("/", headers={"host": host})
    assert found.status_code == 403
    assert "people.csv" not in found.text


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "[::1]:8765"])
def test_own_names_are_answered(browser, host):
    assert browser.get("/ledger", headers={"host": host}).status_code == 200


FOREIGN = {
    "another site": {"origin": "https://evil.example", "sec-fetch-site": "cross-site"},
    "another port": {"origin": "http://127.0.0.1:9999", "sec-fetch-site": "same-site"},
    "another name of this host": {"origin": "http://localhost:8765", "sec-fetch-site": "same-site"},
    "no origin": {"sec-fetch-site": "same-origin"},
    "origin null": {"origin": "null", "sec-fetch-site": "same-origin"},
    "no fetch metadata": {"origin": ORIGIN},
    "an own origin, another site": {"origin": ORIGIN, "sec-fetch-site": "cross-site"},
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
def test_forms_of_other_sites_are_refused(browser, headers):
    data = {"path": "people.csv", "form_token": browser.form_token()}
    assert browser.client.post("/open", data=data, headers=headers).status_code == 403
    assert "/p/" not in browser.get("/").text


@pytest.mark.parametrize("path", POSTS)
def test_every_form_needs_its_token(browser, server, path):
    other = server.browser()
    stolen = other.form_token()  # of another session
    for token in ("", "0" * 64, stolen):
        data = {"form_token": token, "path": "people.csv"}
        files = {"table": ("a.csv", b"a\n1\n")} if path == "/upload" else None
        found = browser.client.post(filled(path), data=data, files=files, headers=OWN)
        # Without people who log in there is no login page to refuse anything.
        assert found.status_code == (303 if path == "/login" else 403), path
    assert "/p/" not in browser.get("/").text


@pytest.mark.parametrize("mode", ["no-cors", "cors"])
def test_other_sites_may_not_embed_or_fetch(browser, mode):
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": mode}
    assert browser.get("/", headers=headers).status_code == 403
    assert browser.get("/static/app.js", headers=headers).status_code == 403


def test_what_comes_back_may_run_and_load_nothing_foreign(browser):
    headers = browser.get("/").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert not [name for name in headers if name.startswith("access-control")]
    assert browser.get("/nowhere").headers["content-security-policy"] == policy


@pytest.mark.parametrize("page", sorted(TEMPLATES.glob("*.html")), ids=lambda page: page.stem)
def test_pages_have_no_script_or_style_of_their_own(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\ssrc=\"/static/)|<style|\sstyle=|\son\w+=|hx-on", text)
    assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//", text)
    assert not re.search(r"hx-(?:vals|headers)=.js:", text)
    assert "|safe" not in text


def test_a_failure_says_where_and_never_what(server, monkeypatch, caplog):
    from nacre.app.views import ledger

    def broken(address):
        raise RuntimeError("a private value: Jane")

    monkeypatch.setattr(ledger, "_budgets", broken)
    monkeypatch.delenv("NACRE_TRACEBACK", raising=False)
    found = server.browser().get("/ledger")
    assert found.status_code == 500
    assert "RuntimeError" in found.text
    assert "Jane" not in found.text + caplog.text


def test_a_websocket_is_refused(browser):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), browser.client.websocket_connect("/"):
        pass


def test_others_are_let_in_by_password_and_tls_only():
    from nacre.app.settings import origins_of

    none = {"users": False, "certificate": False, "proxy": None}
    for host in ("0.0.0.0", "192.0.2.7", "nacre.example", "::"):
        with pytest.raises(NacreError, match="--users"):
            origins_of(host, 8765, **none)
        with pytest.raises(NacreError, match="--certificate"):
            origins_of(host, 8765, **none | {"users": True})
    with pytest.raises(NacreError, match="--users"):
        origins_of("127.0.0.1", 8765, **none | {"proxy": "https://nacre.example"})
    with pytest.raises(NacreError, match="https"):
        origins_of("127.0.0.1", 8765, users=True, certificate=False, proxy="http://nacre.example")
    with pytest.raises(NacreError, match="no address"):
        origins_of("0.0.0.0", 8765, users=True, certificate=True, proxy=None)
    said = {"users": True, "certificate": False, "proxy": "https://nacre.example/"}
    assert origins_of("10.0.0.2", 8765, **said) == ("https://nacre.example",)
    assert origins_of("::1", 1, **none)[0] == "http://[::1]:1"


def test_addresses_are_as_browsers_write_them():
    """Neither the usual port nor capital letters come back in `Host` and `Origin`."""
    from nacre.app.settings import origins_of

    tls = {"users": True, "certificate": True, "proxy": None}
    assert origins_of("Nacre.Example", 443, **tls) == ("https://nacre.example",)
    assert origins_of("nacre.example", 80, **tls) == ("https://nacre.example:80",)
    assert origins_of("127.0.0.1", 80, users=False, certificate=False, proxy=None)[0] == (
        "http://127.0.0.1"
    )
    proxy = {"users": True, "certificate": False, "proxy": "https://Nacre.example:443"}
    assert origins_of("127.0.0.1", 8765, **proxy) == ("https://nacre.example",)


def test_files_are_their_owners_alone(tmp_path):
    server: Server = make(tmp_path)
    browser = server.browser()
    browser.upload("people.csv", (server.settings.root / "people.csv").read_bytes())
    found = list(server.settings.state.rglob("*"))
    assert found
    for path in [server.settings.state, *found]:
        assert path.stat().st_mode & 0o077 == 0, path
