"""Running, resuming and rendering of the papers' tables."""

import json

import bench.tables as tables
import numpy as np
import pytest
from bench.tables import render, results, trial
from bench.tables.plans import Plan
from bench.tables.published import AVERAGE, TABLES, Cell

from nacre.evaluate.tables.classifiers import PEARL, PUBLISHED, Prediction

CELL = Cell(dataset="adult", row=AVERAGE, score="roc", dp={"A": 0.6, "B": 0.7}, over=PEARL)


def result(method: str = "mosaic", seed: int = 0, names=("LDA", "GBM"), roc: float = 0.8) -> dict:
    """As `trial.measure` gives it."""
    return {
        "dataset": "adult",
        "method": method,
        "seed": seed,
        "rows": {"fitted": 11_040, "scored": 1_227},
        "fit_seconds": 8.0,
        "scores": {name: {"roc": roc, "prc": roc - 0.1} for name in names},
    }


@pytest.fixture
def measured(monkeypatch):
    """Which runs were made; each gives a result at once, but for merf, which fails."""
    made = []

    def measure(name, method, seed, classifiers, jobs):
        made.append((name, method, seed))
        if method == "merf":
            raise ValueError("too wide")
        return result(method, seed, classifiers) | {"dataset": name}

    monkeypatch.setattr(tables, "measure", measure)
    return made


def test_a_run_resumes_where_it_stopped(measured, tmp_path):
    tables.run(tmp_path, ["adult"], ["mosaic"], range(2), ["LDA"], 1)
    assert len(measured) == 4  # real and mosaic, two seeds
    tables.run(tmp_path, ["adult"], ["mosaic"], range(3), ["LDA"], 1)
    assert measured[4:] == [("adult", "real", 2), ("adult", "mosaic", 2)]


def test_a_quick_result_is_replaced_by_a_full_one_and_never_the_reverse(measured, tmp_path):
    tables.run(tmp_path, ["adult"], ["mosaic"], [0], ["LDA"], 1)
    tables.run(tmp_path, ["adult"], ["mosaic"], [0], ["LDA", "GBM"], 1)
    tables.run(tmp_path, ["adult"], ["mosaic"], [0], ["LDA"], 1)
    assert len(measured) == 4
    kept = results.find(tmp_path, "adult", "mosaic", 0, ["LDA", "GBM"])
    assert kept is not None
    assert {"nacre", "scikit-learn", "python"} <= set(kept["versions"])


def test_a_failure_is_told_and_the_others_go_on(measured, tmp_path, capsys):
    failed = tables.run(tmp_path, ["adult", "credit"], ["merf", "pearl"], [0], ["LDA"], 1)
    assert failed == [f"{n}, merf, seed 0: ValueError: too wide" for n in ("adult", "credit")]
    assert results.find(tmp_path, "credit", "pearl", 0, ["LDA"]) is not None
    assert results.find(tmp_path, "credit", "merf", 0, ["LDA"]) is None


def test_the_command_writes_the_page_and_ends_with_its_notes(measured, tmp_path, capsys):
    (tmp_path / "notes.md").write_text("## Why\n\nNoise.\n")
    page = tmp_path / "docs" / "results.md"
    places = ["--results", str(tmp_path), "--docs", str(page)]
    tables.main(["--quick", "--datasets", "adult", "--methods", "mosaic", *places])
    made = len(measured)
    tables.main(["--render", *places])
    assert len(measured) == made
    text = page.read_text()
    assert text.endswith("## Why\n\nNoise.\n")
    assert text.strip() in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [["--methods", "magic"], ["--datasets", "iris"]])
def test_unknown_names_are_refused(wrong, tmp_path):
    with pytest.raises(SystemExit, match="No such .*magic|No such .*iris"):
        tables.main(["--results", str(tmp_path), *wrong])


def test_our_number_is_over_the_papers_classifiers_and_the_seeds():
    found = [result(seed=0, roc=0.7), result(seed=1, roc=0.9)]
    found[0]["scores"]["XGBoost"] = found[1]["scores"]["XGBoost"] = {"roc": 0.0, "prc": 0.0}
    assert render.value(found, "mosaic", CELL) == pytest.approx(0.8)  # PEARL has no XGBoost
    assert render.value(found, "pearl", CELL) is None


def test_a_quick_average_is_starred():
    assert render.is_partial([result()], "mosaic", CELL)
    assert not render.is_partial([result(names=PUBLISHED)], "mosaic", CELL)
    assert r"\*" in render._table(TABLES[0], [result()], ["mosaic"])
    assert r"\*" not in render._table(TABLES[0], [result(names=PUBLISHED)], ["mosaic"])


def test_best_of_the_runs():
    cell = Cell(dataset="adult", row="LDA", score="roc", dp={"A": 0.6}, best=True)
    found = [result(seed=0, roc=0.7), result(seed=1, roc=0.9)]
    assert render.value(found, "mosaic", cell) == 0.9


def test_quick_and_full_runs_are_not_averaged_together():
    found = [result(seed=0, roc=0.7), result(seed=1, names=("LDA",), roc=0.1)]
    assert render.value(found, "mosaic", CELL) == pytest.approx(0.7)


def test_difference_is_against_the_best_private_number():
    assert render._ours(0.75, CELL) == "**0.750 (+0.050)**"
    assert render._ours(0.65, CELL) == "0.650 (-0.050)"
    assert render._ours(None, CELL) == render.NONE


def test_the_page_names_what_is_lost():
    text = render.render([result(roc=0.6)], ["mosaic"])
    assert r"DP-MERF, Table 2, adult: ROC 0.600\* against 0.650" in text
    assert "| adult | 11,040 | 1,227 | – | 1 / 2, 8 s |" in text


def test_every_row_of_a_table_has_as_many_cells_as_its_head():
    for table in TABLES:
        lines = render._table(table, [result()], ["mosaic", "pearl"]).splitlines()
        widths = {line.count("|") for line in lines if line.startswith("|")}
        assert len(widths) == 1


@pytest.mark.parametrize("number", [2, 6, 8])
def test_the_papers_averages_are_those_of_their_rows(number):
    """A number typed wrongly would show here."""
    if number == 2:
        cells = next(t for t in TABLES if t.title.startswith("PEARL, Table 2")).cells
        for score in ("roc", "prc"):
            rows = [c for c in cells if c.score == score and c.row != AVERAGE]
            (average,) = (c for c in cells if c.score == score and c.row == AVERAGE)
            for name in ("DP-MERF", "PEARL"):
                mean = np.mean([c.dp[name] for c in rows])
                assert mean == pytest.approx(average.dp[name], abs=0.001)
        return
    cells = next(t for t in TABLES if t.title.startswith(f"DP-MERF, Table {number}")).cells
    wanted = {"roc": 0.772, "prc": 0.638, "f1": 0.850}
    for score in {cell.score for cell in cells}:
        mean = np.mean([c.dp["DP-MERF"] for c in cells if c.score == score])
        assert mean == pytest.approx(wanted[score], abs=0.001)
    assert {cell.row for cell in cells} == set(PUBLISHED)


def test_scores_are_those_of_hard_labels():
    split = trial.read("adult", 0)
    place = trial._code(split, ">50K")
    truth = np.array([place, place, 1 - place, 1 - place])
    hard = np.array([place, 1 - place, 1 - place, 1 - place])
    found = trial.score(Plan(source="", positive=">50K", part=0.9), split, _said(truth, hard))
    assert found["roc"] == 0.75  # balanced accuracy
    assert found["prc"] == 0.75  # precision 1 at recall .5, then .5 at recall 1
    many = trial.score(Plan(source="", positive=None, part=0.9), split, _said(truth, hard))
    assert many["f1"] == pytest.approx((2 / 3 + 0.8) / 2, abs=1e-4)


def _said(truth, hard):
    return Prediction(model="x", truth=truth, hard=hard, scores=None)


def test_results_are_plain_json(tmp_path):
    place = results.keep(tmp_path, result())
    assert json.loads(place.read_text())["seed"] == 0
    assert not list(tmp_path.glob("*.tmp"))
