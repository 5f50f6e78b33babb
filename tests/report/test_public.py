"""The public page: complete, self-contained, and safe to open whatever the schema holds."""

import re
import shutil
import subprocess

import matplotlib
import pytest
from tests.report.test_page import Outline

import nacre
from nacre.methods.mosaic import Mosaic
from nacre.publish import PublicReport, publish
from nacre.report.figures.canvas import ROLES


@pytest.fixture(scope="module")
def report(hostile) -> PublicReport:
    schema, real, _ = hostile
    method = Mosaic(steps=5, components=4, fits=1)
    model = nacre.fit(real, schema, method=method, epsilon=50, delta=1e-4)
    return publish(model, rows=2000, data=real, epsilon=50, delta=1e-4)


@pytest.fixture(scope="module")
def page(report) -> str:
    return report.to_html()


@pytest.fixture(scope="module")
def outline(page) -> Outline:
    found = Outline()
    found.feed(page)
    return found


def test_elements_nest_and_identifiers_are_unique(outline):
    assert not outline.mistakes
    assert not outline.open
    found = [a["id"] for _, a in outline.tags if "id" in a]
    assert len(found) == len(set(found))
    used = {a["href"][1:] for _, a in outline.tags if str(a.get("href", "")).startswith("#")}
    assert used <= set(found)


def test_nothing_in_the_schema_can_run_and_nothing_is_loaded(page, outline):
    assert not [name for name, _ in outline.tags if name in {"script", "img", "iframe"}]
    for name, attributes in outline.tags:
        assert not [a for a in attributes if a.startswith("on")], name
    assert any("<script>alert(1)</script>" in words for words in outline.words)
    for found in re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)|@import', page):
        assert (found[0] or found[1]).strip("'\"").startswith(("#", "data:"))


def test_the_first_words_say_that_it_may_be_published(outline):
    title = outline.words.index("Public report on synthetic data")
    assert outline.words[title + 1].startswith("Safe to publish: it rests on the model")
    assert "Confidential" not in " ".join(outline.words)


def test_every_chapter_is_there(outline):
    titles = [
        "In short",
        "Columns",
        "Prediction",
        "Links between columns",
        "What the columns are",
        "What was released",
    ]
    places = [outline.words.index(title) for title in titles]
    assert places == sorted(places)
    labels = [a.get("aria-label", "") for name, a in outline.tags if name == "svg"]
    assert sum(label.startswith("Column ") for label in labels) == 4
    for start in ("ROC curve", "Associations"):
        assert any(label.startswith(start) for label in labels), start


def test_all_three_guarantees_are_shown_with_their_releases(outline):
    words = " ".join(outline.words)
    assert "ε = 100, δ = 2 × 10" in words
    assert outline.words.count("ε = 50, δ = 10") == 2
    for release in ("histograms", "pairs of columns", "public report"):
        assert release in outline.words


def test_figures_follow_the_page(page):
    drawn = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert not [role for role, color in ROLES.items() if color in drawn]
    used = set(re.findall(r"var\((--[\w-]+)\)", page))
    assert used <= set(re.findall(r"(--[\w-]+):", page))


def test_drawing_again_gives_the_same_and_leaves_no_trace(report, page):
    before = dict(matplotlib.rcParams)
    assert report.to_html() == page
    assert dict(matplotlib.rcParams) == before
    assert len(page) < 1_000_000


def test_notebook_card(report):
    card = report._repr_html_()
    assert "Safe to publish" in card and "<script" not in card


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs the browser chromium")
def test_a_browser_opens_it_without_complaint(report, tmp_path):
    report.to_html(tmp_path / "public.html")
    done = subprocess.run(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
            "--disable-background-networking", "--disable-sync", "--no-first-run",
            "--disable-component-update", f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=2000", "--dump-dom", f"file://{tmp_path / 'public.html'}",
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip("chromium does not run here")
    assert "CONSOLE" not in done.stderr
    assert "How far can this table be trusted?" in done.stdout
