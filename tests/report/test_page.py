"""The report: complete, self-contained, and safe to open whatever the table holds."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import matplotlib
import pytest

from nacre.report.markup import tag


class Outline(HTMLParser):
    """What the page consists of, and whether its elements nest."""

    VOID = frozenset({"meta", "link", "path", "use", "image", "rect", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.mistakes: list[str] = []

    def handle_starttag(self, name, attributes):
        self.tags.append((name, dict(attributes)))
        if name not in self.VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.tags.append((name, dict(attributes)))

    def handle_endtag(self, name):
        if name in self.VOID:
            return
        if not self.open or self.open.pop() != name:
            self.mistakes.append(name)

    def handle_data(self, text):
        if text.strip() and "style" not in self.open:
            self.words.append(text.strip())


@pytest.fixture(scope="module")
def outline(page) -> Outline:
    found = Outline()
    found.feed(page)
    return found


def test_elements_nest(outline):
    assert not outline.mistakes
    assert not outline.open


def test_nothing_in_the_table_can_run(outline):
    assert not [name for name, _ in outline.tags if name in {"script", "img", "iframe", "b:"}]
    for name, attributes in outline.tags:
        assert not [a for a in attributes if a.startswith("on")], name
        assert not str(attributes.get("href", "")).lower().startswith("javascript")
    # It is shown, though, as what it is.
    assert any("<script>alert(1)</script>" in words for words in outline.words)


def test_nothing_is_loaded(page):
    for found in re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)|@import', page):
        address = (found[0] or found[1]).strip("'\"")
        assert address.startswith(("#", "data:")), address
    addresses = set(re.findall(r"https?://[^\s\"'<]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_identifiers_are_unique(outline):
    found = [a["id"] for _, a in outline.tags if "id" in a]
    assert len(found) == len(set(found))
    used = {a["href"][1:] for _, a in outline.tags if str(a.get("href", "")).startswith("#")}
    assert used <= set(found)


def test_first_words_are_confidential(outline):
    title = next(i for i, words in enumerate(outline.words) if words.startswith("Evaluation of"))
    assert outline.words[title + 1].startswith("Confidential to the data holder")


def test_worst_things_come_first(page, outline):
    order = [outline.words.index(w) for w in ("What to use it for", "All scores", "Columns")]
    assert order == sorted(order)
    levels = re.findall(r'<li class="(\w+)"', page.split("</ul>")[0])
    assert levels == sorted(levels, key=["avoid", "care", "note", "good"].index)


def test_every_chapter_is_there(outline):
    titles = ["Columns", "Pairs of columns", "Structure", "Usefulness", "Privacy"]
    assert all(title in outline.words for title in titles)
    labels = [a.get("aria-label", "") for name, a in outline.tags if name == "svg"]
    for start in (
        "Column ",
        "Associations of ",
        "Cross-table of ",
        "Principal plane",
        "ROC curve",
        "Precision and recall",
        "Dimension-wise prediction",
        "Dimension-wise probability",
        "Distance to the closest record",
    ):
        assert any(label.startswith(start) for label in labels), start
    assert all(labels)


def test_guarantee_and_releases_are_shown(outline):
    assert "ε = 1, δ = 10" in outline.words
    assert "gaussian" in outline.words


def test_numbers_of_several_tables_say_whose_they_are(outline):
    marked = [a for name, a in outline.tags if name == "span" and a.get("class") == "of"]
    assert {a["title"] for a in marked} == {"real", "<script>alert(1)</script>", "other"}
    colors = {a["title"]: a["style"] for a in marked}
    assert colors["real"] == "--color: var(--real)"
    assert colors["other"] == "--color: var(--series-2)"
    assert any(words.startswith("missing") for words in outline.words)


def test_colors_are_explained_where_they_are_used(page, outline):
    for chapter in ("columns", "usefulness"):
        section = page.partition(f'<section id="{chapter}"')[2].partition("</section>")[0]
        section = section or page.partition(f'id="{chapter}"')[2].partition("</section>")[0]
        body = section.replace('class="shades"', "")
        colored = re.search(r'class="(?:n )?(?:bad|doubt)">[^AR]', body)
        assert bool(colored) == ("Amber" in section), chapter


def test_the_footer_tells_the_version(outline):
    import nacre

    assert any(words.startswith(f"nacre {nacre.__version__};") for words in outline.words)
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", nacre.__version__)


def test_figures_follow_the_page(page):
    # The colors that figures are drawn with are stand-ins; none may be left.
    from nacre.report.figures.canvas import ROLES

    drawn = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    for role, color in ROLES.items():
        assert color not in drawn, role
    assert "var(--real)" in drawn and "var(--series-2)" in drawn
    used = set(re.findall(r"var\((--[\w-]+)\)", page))
    declared = set(re.findall(r"(--[\w-]+):", page))
    assert used <= declared


def test_dollar_signs_are_not_mathematics(page):
    assert "$x^2$" in page


def test_drawing_again_gives_the_same_and_leaves_no_trace(page, evaluation):
    before = dict(matplotlib.rcParams)
    assert evaluation.to_html() == page
    assert dict(matplotlib.rcParams) == before
    assert len(page) < 2_000_000


def test_written_to_a_file(evaluation, tmp_path):
    evaluation.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_notebook_card(evaluation):
    card = evaluation._repr_html_()
    assert "Confidential" in card
    assert "<script" not in card
    assert "&lt;script&gt;" in card


def test_tag_escapes():
    assert tag("a", '<"&', title='<"&') == ('<a title="&lt;&quot;&amp;">&lt;&quot;&amp;</a>')


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs the browser chromium")
def test_a_browser_opens_it_without_complaint(evaluation, tmp_path):
    evaluation.to_html(tmp_path / "report.html")
    done = subprocess.run(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
            "--disable-background-networking", "--disable-sync", "--no-first-run",
            "--disable-component-update", f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=2000", "--dump-dom", f"file://{tmp_path / 'report.html'}",
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip("chromium does not run here")
    assert "CONSOLE" not in done.stderr
    assert "What to use it for" in done.stdout
