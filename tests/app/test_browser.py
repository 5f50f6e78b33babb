"""The whole road in a real browser: few clicks, nothing on the console, no other host.

Needs the extra `browser` (Playwright) and Debian's Chromium: `make test-browser` brings both.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from tests.cli.conftest import people

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
try:
    from playwright.sync_api import sync_playwright
except ModuleNotFoundError:
    sync_playwright = None

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sync_playwright is None or CHROMIUM is None,
        reason="needs Playwright and Chromium: run `make test-browser`, which installs both",
    ),
]
MOST_CLICKS = 8
LONG = 300_000  # milliseconds that a fit may take on a busy machine
SIZES = {"phone": (390, 844), "laptop": (1280, 800), "wide": (1920, 1080)}
SMALL = "frequencies=32\nsteps=20\ncomponents=4"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The opening address of a server in its own process."""
    path = tmp_path_factory.mktemp("browser")
    (path / "root").mkdir()
    pa.csv.write_csv(people(), path / "root" / "people.csv")
    rng = np.random.default_rng(0)
    wide = {f"measurement {n}": rng.integers(0, 9, 300) for n in range(200)}
    pa.csv.write_csv(pa.table(wide), path / "root" / "wide.csv")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nacre", "serve", "--port", str(port), "--no-browser"]
    command += ["--root", str(path / "root"), "--state", str(path / "state")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        said = server.stderr.readline()
        found = re.search(r"http://\S+", said)
        assert found, said
        # It is printed before the server listens.
        for _ in range(600):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            server.poll()
            assert server.returncode is None, server.stderr.read()
            time.sleep(0.1)
        yield found[0]
        server.terminate()


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Hand:
    """A person's hand on one browser: counts clicks, and notes what should not happen."""

    def __init__(self, chromium, address, size="laptop", scheme="light"):
        width, height = SIZES[size]
        viewport = {"width": width, "height": height}
        self.context = chromium.new_context(viewport=viewport, color_scheme=scheme)
        self.host = address.split("/")[2]
        self.clicks, self.wrong = 0, []
        self.context.on("request", self._asked)
        self.page = self.context.new_page()
        self.page.set_default_timeout(40_000)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.goto(address)
        self.page.wait_for_selector("#files")

    def _asked(self, request):
        if not request.url.startswith(("data:", f"http://{self.host}/")):
            self.wrong.append(f"asked {request.url}")

    def _said(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(f"{message.text} at {self.page.url}")

    def click(self, what):
        self.clicks += 1
        self.page.click(what)

    def fits(self):
        """Whether nothing is cut off to the right."""
        return self.page.evaluate(
            "() => document.documentElement.scrollWidth <= window.innerWidth + 1"
        )

    def shot(self, name):
        """A picture for people to look at, if a folder for it is named."""
        if os.environ.get("NACRE_SHOTS"):
            self.page.screenshot(path=Path(os.environ["NACRE_SHOTS"]) / f"{name}.png")


def test_from_a_file_to_a_download(chromium, address):
    hand = Hand(chromium, address)
    page = hand.page
    hand.shot("start")
    hand.click('#files button:has-text("people.csv")')
    page.wait_for_url("**/schema")
    hand.click("button[form=ticks]")
    page.wait_for_selector("text=All 4 columns are looked at")
    page.select_option("select[name=label]", "income")
    hand.shot("schema")
    hand.click("[data-ready]")
    page.wait_for_url("**/plan")
    page.fill("[name=rows]", "600")
    page.fill("[name=delta]", "1e-5")
    page.select_option("[name=method]", "pearl")
    page.eval_on_selector(".choices details", "each => { each.open = true }")
    page.fill("[name=settings]", SMALL)
    # The slider shows at once what gets worse, and the button follows it.
    before = off(page)
    page.focus("[data-stops]")
    page.keyboard.press("Home")
    page.wait_for_function(
        "() => document.querySelector('#spend')?.textContent.includes('ε = 0.05')"
    )
    assert off(page) > 2 * before
    page.fill("#epsilon", "1")
    page.wait_for_function("() => document.querySelector('#spend')?.textContent.includes('ε = 1,')")
    hand.shot("plan")
    hand.click("#spend")
    page.wait_for_url("**/r/1")
    hand.shot("run")
    page.wait_for_selector("#cards", timeout=LONG)
    page.wait_for_selector(".card.confidential .button", timeout=LONG)
    hand.shot("result")
    with hand.context.expect_page() as opened:
        hand.click(".card.confidential .button")
    opened.value.wait_for_load_state()
    assert "confidential" in opened.value.inner_text("body").lower()
    with page.expect_download() as saved:
        hand.click("#draw")
    rows = Path(saved.value.path()).read_text().splitlines()
    assert rows[0] == '"age","sex","wage","income"'
    assert len(rows) == 10_001
    assert hand.clicks <= MOST_CLICKS
    assert hand.wrong == []
    page.goto(address.split("/enter")[0] + "/ledger")
    hand.shot("ledger")
    assert "Left: ε = 1" in page.inner_text("main")
    hand.context.close()


def off(page):
    """By how many rows the first bar of the picture would be off."""
    return float(page.text_content(".picture .off").strip("± ").replace(",", ""))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_pages_fit_on_every_screen(chromium, address, size, scheme):
    hand = Hand(chromium, address, size, scheme)
    page = hand.page
    assert hand.fits()
    page.click('#files button:has-text("wide.csv")')
    page.wait_for_url("**/schema")
    assert hand.fits()
    page.fill(".tools .filter", "measurement 17")
    assert page.locator("#columns tbody tr:visible").count() == 11
    page.click("#c17 a:has-text('change')")
    page.wait_for_selector("#c17 form")
    assert hand.fits()
    page.fill("#c17 [name=high]", "99")
    page.click("#c17 button:has-text('Keep')")
    page.wait_for_selector("#c17 >> text=written by you")
    hand.shot(f"wide-{size}-{scheme}")
    page.click("button[form=ticks]")
    page.wait_for_selector("text=All 200 columns are looked at")
    page.click("[data-ready]")
    page.wait_for_url("**/plan")
    page.wait_for_selector("#spend")
    assert hand.fits()
    hand.shot(f"plan-{size}-{scheme}")
    assert hand.wrong == []
    hand.context.close()


def test_the_road_by_keyboard_alone(chromium, address):
    """By Tab, Space, Enter and letters: what cannot be reached so does not exist for some."""
    hand = Hand(chromium, address)
    page = hand.page
    reach(page, '#files button:has-text("people.csv")')
    page.keyboard.press("Enter")
    page.wait_for_url("**/schema")
    for number in range(4):
        reach(page, f"#c{number} input[name=public]")
        page.keyboard.press("Space")
    page.wait_for_selector("text=All 4 columns are looked at")
    reach(page, "select[name=label]")
    page.keyboard.type("inc")
    reach(page, "[data-ready]")
    page.keyboard.press("Enter")
    page.wait_for_url("**/plan")
    reach(page, "[name=dataset]")
    page.keyboard.press("End")
    page.keyboard.type(" again")  # a budget that is not open: how large shall it be?
    page.wait_for_selector("input[name=budget_epsilon]:visible")
    reach(page, "[name=budget_epsilon]")
    reach(page, "[data-stops]")
    page.keyboard.press("Home")
    page.wait_for_function(
        "() => document.querySelector('#spend')?.textContent.includes('ε = 0.05')"
    )
    reach(page, "#spend")
    assert hand.clicks == 0
    assert hand.wrong == []
    hand.context.close()


def reach(page, what):
    """Press Tab until this has the focus."""
    page.wait_for_selector(what)
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.locator(what).evaluate("each => each === document.activeElement"):
            return
    raise AssertionError(f"{what} cannot be reached by Tab")
