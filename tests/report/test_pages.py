"""Both pages: self-contained, and safe to open whatever a table or schema holds."""

import re
import shutil
import subprocess

import matplotlib
import pytest
from tests.report.conftest import COLUMN, SCRIPT
from tests.report.outline import Outline

from nacre.evaluate.report.figures.canvas import ROLES

BOTH = pytest.mark.parametrize("kind", ["confidential", "public"])


@pytest.fixture(scope="session")
def made(evaluation, page, public_report, public_page) -> dict:
    return {"confidential": (evaluation, page), "public": (public_report, public_page)}


@pytest.fixture(scope="session")
def outlines(outline, public_outline) -> dict[str, Outline]:
    return {"confidential": outline, "public": public_outline}


@BOTH
def test_elements_nest_and_identifiers_are_unique(kind, outlines):
    outline = outlines[kind]
    assert not outline.mistakes
    assert not outline.open
    found = [a["id"] for _, a in outline.tags if "id" in a]
    assert len(found) == len(set(found))
    used = {a["href"][1:] for _, a in outline.tags if str(a.get("href", "")).startswith("#")}
    assert used <= set(found)


@BOTH
def test_nothing_in_the_table_can_run(kind, outlines):
    outline = outlines[kind]
    assert not [name for name, _ in outline.tags if name in {"script", "img", "iframe", "b:"}]
    for name, attributes in outline.tags:
        assert not [a for a in attributes if a.startswith("on")], name
        assert not str(attributes.get("href", "")).lower().startswith("javascript")
    # It is shown, though, as what it is.
    assert any(SCRIPT in words for words in outline.words)
    assert any(COLUMN in words for words in outline.words)


@BOTH
def test_nothing_is_loaded(kind, made):
    page = made[kind][1]
    for found in re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)|@import', page):
        address = (found[0] or found[1]).strip("'\"")
        assert address.startswith(("#", "data:")), address
    addresses = set(re.findall(r"https?://[^\s\"'<]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


@BOTH
def test_no_control_character_is_left(kind, made):
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", made[kind][1])


@BOTH
def test_figures_follow_the_page(kind, made):
    # The colors that figures are drawn with are stand-ins; none may be left.
    page = made[kind][1]
    drawn = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert not [role for role, color in ROLES.items() if color in drawn]
    assert "var(--real)" in drawn and "var(--series-1)" in drawn
    used = set(re.findall(r"var\((--[\w-]+)\)", page))
    assert used <= set(re.findall(r"(--[\w-]+):", page))


@BOTH
def test_drawing_again_into_a_file_gives_the_same_and_leaves_no_trace(kind, made, tmp_path):
    report, page = made[kind]
    before = dict(matplotlib.rcParams)
    report.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert dict(matplotlib.rcParams) == before
    assert page.startswith("<!doctype html>") and len(page) < 2_000_000


@BOTH
def test_notebook_card(kind, made):
    card = made[kind][0]._repr_html_()
    first = {"confidential": "Confidential", "public": "Safe to publish"}[kind]
    assert first in card
    assert "<script" not in card and "<img" not in card
    assert not Outline(card).mistakes and not Outline(card).open
    assert "&lt;" in card


@BOTH
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs the browser chromium")
def test_a_browser_opens_it_without_complaint(kind, made, tmp_path):
    (tmp_path / "page.html").write_text(made[kind][1], encoding="utf-8")
    done = subprocess.run(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
            "--disable-background-networking", "--disable-sync", "--no-first-run",
            "--disable-component-update", f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=2000", "--dump-dom", f"file://{tmp_path / 'page.html'}",
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip("chromium does not run here")
    assert "CONSOLE" not in done.stderr
    assert {"confidential": "What to use it for", "public": "In short"}[kind] in done.stdout
