"""The public page: what it says first, its chapters, and its guarantees."""


def test_the_first_words_say_that_it_may_be_published(public_outline):
    title = public_outline.words.index("Public report on synthetic data")
    assert public_outline.words[title + 1].startswith("Safe to publish: it rests on the model")
    assert "Confidential" not in " ".join(public_outline.words)


def test_every_chapter_is_there(public_outline):
    titles = [
        "In short",
        "Columns",
        "Prediction",
        "Links between columns",
        "What the columns are",
        "What was released",
    ]
    places = [public_outline.words.index(title) for title in titles]
    assert places == sorted(places)
    labels = [a.get("aria-label", "") for name, a in public_outline.tags if name == "svg"]
    assert sum(label.startswith("Column ") for label in labels) == 4
    for start in ("ROC curve", "Associations"):
        assert any(label.startswith(start) for label in labels), start


def test_all_three_guarantees_are_shown_with_their_releases(public_outline):
    words = " ".join(public_outline.words)
    assert "ε = 100, δ = 2 × 10" in words
    assert public_outline.words.count("ε = 50, δ = 10") == 2
    for release in ("histograms", "pairs of columns", "public report"):
        assert release in public_outline.words
