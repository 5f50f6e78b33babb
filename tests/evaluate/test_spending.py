"""What the ledger says of the data set, in the evaluation and its report."""

import json

import pytest

from nacre.evaluate import evaluate
from nacre.evaluate.report.chapters import privacy
from nacre.evaluate.spending import spending
from nacre.ledger import Ledger
from nacre.report.builder import fill


@pytest.fixture
def book(tmp_path):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("census", epsilon=3, delta=1e-6)
    entry = ledger.reserve(
        "census", epsilon=1, delta=1e-7, adjacency="add-remove", method="Mosaic", note="<first>"
    )
    ledger.finish(entry)
    return ledger


def test_entries_and_balance_are_shown(real, good, schema, book, tmp_path):
    before = (tmp_path / "budget.db").read_bytes()
    found = evaluate(
        real, good, schema, metrics=["tv1"], ledger=tmp_path / "budget.db", dataset="census"
    )
    assert found.spent["left_epsilon"] == 2.0
    assert json.loads(found.to_json())["ledger"]["history"][0]["method"] == "Mosaic"
    page = fill("ledger.html", view={"spent": found.spent})
    for words in ("What this data set has spent", "ε = 1", "ε = 2", "Mosaic", "&lt;first&gt;"):
        assert words in page, words
    assert (tmp_path / "budget.db").read_bytes() == before


def test_the_only_data_set_need_not_be_named(book):
    assert spending(book, None)["dataset"] == "census"


def test_nothing_spent_yet(book):
    book.open("other", epsilon=1, delta=1e-6)
    page = fill("ledger.html", view={"spent": spending(book, "other")})
    assert "are left" in page and "Mosaic" not in page


def test_wrong_requests(book, tmp_path):
    book.open("other", epsilon=1, delta=1e-6)
    with pytest.raises(ValueError, match="Which data set.*census, other"):
        spending(book, None)
    with pytest.raises(ValueError, match="no ledger to look it up"):
        spending(None, "census")
    with pytest.raises(ValueError, match="'nobody'"):
        spending(book, "nobody")
    with pytest.raises(ValueError, match="Name one of: none"):
        spending(tmp_path / "missing.db", None)
    assert not (tmp_path / "missing.db").exists()


def test_without_a_ledger_there_is_none(real, good, schema):
    found = evaluate(real, good, schema, metrics=["tv1"])
    assert found.spent is None
    assert "has spent" not in fill("privacy.html", view=privacy(found))
