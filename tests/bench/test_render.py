"""The page of the papers' tables: which number stands where, and what is said where none is."""

import math

import numpy as np
import pytest
from bench.tables import render, values
from bench.tables.published import AVERAGE, TABLES, Cell
from tests.bench.fakes import result

from bench import versions
from nacre.evaluate.tables.classifiers import PEARL, PUBLISHED

CELL = Cell(dataset="adult", row=AVERAGE, score="roc", theirs={"A": 0.6, "B": 0.7}, over=PEARL)


def table(title):
    return next(t for t in TABLES if t.title.startswith(title))


def test_our_number_is_over_the_papers_classifiers_and_the_seeds():
    found = [result(seed=0, roc=0.7), result(seed=1, roc=0.9)]
    found[0]["scores"]["XGBoost"] = found[1]["scores"]["XGBoost"] = {"roc": 0.0, "prc": 0.0}
    assert values.value(found, "mosaic", CELL) == pytest.approx(0.8)  # PEARL has no XGBoost
    assert values.value(found, "pearl", CELL) is None


def test_numbers_of_another_epsilon_are_not_taken():
    found = [result(roc=0.7), result(roc=0.9, epsilon=math.inf)]
    assert values.value(found, "mosaic", CELL) == pytest.approx(0.7)
    without = Cell(dataset="adult", row="LDA", score="roc", theirs={"A": 0.6}, epsilon=math.inf)
    assert values.value(found, "mosaic", without) == pytest.approx(0.9)
    assert values.value([result("real", roc=0.8)], "real", without) == pytest.approx(0.8)


def test_a_missing_number_says_why():
    failed = {k: v for k, v in result().items() if k != "scores"} | {"failure": "ValueError: wide"}
    assert values.why_not([], "mosaic", CELL) == "not run"
    assert values.why_not([failed], "mosaic", CELL) == "failed (ValueError)"
    cell = Cell(dataset="adult", row="MLP", score="roc", theirs={"A": 0.6})
    assert values.why_not([result(), failed], "mosaic", cell) == "not scored"
    page = render.render([failed, result("pearl")], ["mosaic", "pearl"])
    assert "failed (ValueError)" in page
    assert "not run" in page


def test_a_quick_average_is_starred():
    assert values.is_partial([result()], "mosaic", CELL)
    assert not values.is_partial([result(names=PUBLISHED)], "mosaic", CELL)
    assert r"\*" in render._table(TABLES[0], [result()], ["mosaic"])
    assert r"\*" not in render._table(TABLES[0], [result(names=PUBLISHED)], ["mosaic"])


def test_best_of_the_runs():
    cell = Cell(dataset="adult", row="LDA", score="roc", theirs={"A": 0.6}, best=True)
    found = [result(seed=0, roc=0.7), result(seed=1, roc=0.9)]
    assert values.value(found, "mosaic", cell) == 0.9


def test_quick_and_full_runs_are_not_averaged_together():
    found = [result(seed=0, roc=0.7), result(seed=1, names=("LDA",), roc=0.1)]
    assert values.value(found, "mosaic", CELL) == pytest.approx(0.7)


def test_difference_is_against_the_papers_best_number():
    assert render._ours([result(names=PEARL, roc=0.75)], "mosaic", CELL) == "**0.750 (+0.050)**"
    assert render._ours([result(names=PEARL, roc=0.65)], "mosaic", CELL) == "0.650 (-0.050)"
    assert render._ours([], "mosaic", CELL) == "not run"


def test_the_page_names_what_is_lost():
    text = render.render([result(roc=0.6)], ["mosaic"])
    assert r"DP-MERF, Table 2, adult: ROC 0.600\* against 0.650" in text
    assert "| adult | 11,040 | 1,227 | 1 | not run | 1 / 2, 8 s |" in text


def test_the_page_says_which_version_made_it():
    def made(source):
        return result() | {"versions": {"nacre": "1.0", "source": source}}

    one = render.render([made("abc"), made("abc")], ["mosaic"])
    assert "All 2 results are of one version of the code: nacre 1.0, source abc." in one
    two = render.render([made("abc"), made("abc"), made("def")], ["mosaic"])
    assert "Results of 2 versions of the code are mixed:** 2 of nacre 1.0, source abc" in two
    assert versions.said([]) == "Nothing has been measured."


def test_a_version_is_that_of_the_code(tmp_path, monkeypatch):
    monkeypatch.setattr(versions, "SOURCE", tmp_path)
    found = []
    for text in ("a = 1", "a = 2", "a = 1"):
        (tmp_path / "code.py").write_text(text)
        versions.source.cache_clear()
        found.append(versions.source())
    versions.source.cache_clear()
    assert found[0] == found[2] != found[1]


def test_every_row_of_a_table_has_as_many_cells_as_its_head():
    for each in TABLES:
        lines = render._table(each, [result()], ["mosaic", "pearl"]).splitlines()
        widths = {line.count("|") for line in lines if line.startswith("|")}
        assert len(widths) == 1


def test_a_table_of_several_epsilons_shows_them():
    found = [result(names=("random forest",), epsilon=0.8, dataset="adult-official")]
    found[0]["scores"]["random forest"]["accuracy"] = 0.81
    text = render._table(table("DP-auto-GAN, Table 2"), found, ["mosaic"])
    expected = "| adult-official | random forest | accuracy | 0.8 | 0.866 | not run | 0.777 |"
    assert f"{expected} **0.810 (+0.033)** |" in text
    assert "| accuracy | ∞ |" in text


def test_columns_are_only_of_what_was_run():
    text = render._table(table("DP-MERF, Table 2, without"), [result("merf")], ["merf"])
    assert "None of our methods was run." in text
    assert "merf, ours" not in text


# A number typed wrongly would show here: averages as printed in the papers.
@pytest.mark.parametrize(
    ("title", "method", "averages"),
    [
        ("PEARL, Table 2", "PEARL", {"roc": 0.721, "prc": 0.618}),
        ("PEARL, Table 2", "DP-MERF", {"roc": 0.641, "prc": 0.536}),
        ("DP-MERF, Table 5:", "DP-CGAN", {"roc": 0.67, "prc": 0.38}),
        ("DP-MERF, Table 5:", "DP-MERF", {"roc": 0.73, "prc": 0.57}),
        ("DP-MERF, Table 5, without", "DP-CGAN", {"roc": 0.80, "prc": 0.44}),
        ("DP-MERF, Table 5, without", "DP-MERF", {"roc": 0.91, "prc": 0.78}),
        ("DP-MERF, Table 6:", "DP-MERF", {"roc": 0.772, "prc": 0.638}),
        ("DP-MERF, Table 6, without", "DP-MERF", {"roc": 0.898, "prc": 0.774}),
        ("DP-MERF, Table 7:", "DP-CGAN", {"f1": 0.526}),
        ("DP-MERF, Table 7:", "DP-MERF", {"f1": 0.875}),
        ("DP-MERF, Table 7, without", "DP-CGAN", {"f1": 0.622}),
        ("DP-MERF, Table 7, without", "DP-MERF", {"f1": 0.900}),
        ("DP-MERF, Table 8:", "DP-MERF", {"f1": 0.850}),
        ("DP-MERF, Table 8, without", "DP-MERF", {"f1": 0.856}),
    ],
)
def test_the_papers_averages_are_those_of_their_rows(title, method, averages):
    cells = [c for c in table(title).cells if c.row != AVERAGE]
    digits = 0.006 if "Table 5" in title else 0.001
    for score, wanted in averages.items():
        mean = np.mean([c.theirs[method] for c in cells if c.score == score])
        assert mean == pytest.approx(wanted, abs=digits)
    assert {c.row for c in cells} == set(PEARL if title.startswith("PEARL") else PUBLISHED)


def test_every_table_is_run_at_its_epsilons():
    from bench.tables.plans import PLANS

    for each in TABLES:
        for cell in each.cells:
            assert cell.epsilon in PLANS[cell.dataset].epsilons
            assert cell.row != "statistics" or cell.score in PLANS[cell.dataset].metrics
