"""The confidential page: what it says first, its chapters, and whose numbers are whose."""

import re


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


def test_dollar_signs_are_not_mathematics(page):
    assert "$x^2$" in page
