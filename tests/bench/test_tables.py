"""Running and resuming of the papers' tables, and what a run is scored by."""

import json
import math
import warnings

import bench.tables as tables
import numpy as np
import pytest
from bench.made import hanging_together
from bench.protocol import Split
from bench.tables import results, trial
from bench.tables.plans import Plan
from bench.tables.runs import make_run, make_runs
from bench.variants import usable, variants
from tests.bench.fakes import result

from nacre.evaluate.tables.classifiers import Prediction, available

ALL = available(tables.PLANS["adult"].classifiers)


@pytest.fixture
def measured(monkeypatch):
    """Which runs were made; each gives a result at once, but for merf, which fails."""
    made = []

    def measure(run, classifiers, jobs):
        made.append(run)
        if run.variant == "merf":
            raise ValueError("too wide")
        found = result(run.variant, run.seed, classifiers, dataset=run.dataset)
        found["changed"] = dict(run.settings)
        return found | ({"guarantee": run.guarantee} if run.guarantee else {})

    monkeypatch.setattr(tables, "measure", measure)
    return made


@pytest.fixture
def run(measured, tmp_path):
    """Run some variants on Adult and say which runs are kept."""

    def go(names, seeds=(0,), datasets=("adult",), epsilons=(1.0,), **options):
        chosen, _ = usable(names)
        todo = make_runs(datasets, chosen, seeds, epsilons)
        return tables.run(tmp_path, todo, measure=tables.measure, **options)

    return go


def names(made):
    return [run.name for run in made]


def test_a_run_resumes_where_it_stopped(run, measured):
    run(["mosaic"], range(2))
    assert len(measured) == 4  # real and mosaic, two seeds
    run(["mosaic"], range(3))
    assert sorted(names(measured[4:])) == ["adult_mosaic_eps1_seed2", "adult_real_seed2"]


def test_another_epsilon_is_another_run(run, measured):
    run(["mosaic"])
    run(["mosaic"], epsilons=(1.0, math.inf))
    assert names(measured[2:]) == ["adult_mosaic_epsinf_seed0"]


def test_a_quick_result_is_replaced_by_a_full_one_and_never_the_reverse(run, measured, tmp_path):
    for quick in (True, False, True):
        run(["mosaic"], quick=quick)
    assert len(measured) == 4
    kept = json.loads((tmp_path / "adult_mosaic_eps1_seed0.json").read_text())
    assert set(kept["scores"]) == set(ALL)
    assert {"nacre", "source", "scikit-learn", "python"} <= set(kept["versions"])


def test_other_settings_are_measured_again(run, measured, monkeypatch):
    run(["merf-network"])
    plan = tables.PLANS["adult"]
    more = Plan(**{**vars(plan), "settings": {"merf-network": {"frequencies": 40}}})
    monkeypatch.setitem(tables.PLANS, "adult", more)
    run(["merf-network"])
    assert [r.settings["frequencies"] for r in measured if r.settings] == [500, 40]


def test_results_of_another_version_are_measured_again_if_asked(run, measured, monkeypatch):
    run(["mosaic"])
    monkeypatch.setattr(tables, "source", lambda: "newer")
    run(["mosaic"])
    assert len(measured) == 2
    run(["mosaic"], again=True)
    assert len(measured) == 4


def test_cheap_runs_come_first_and_none_starts_after_the_deadline(run, measured, capsys):
    run(["mosaic"], datasets=("census", "cervical"), minutes=0)
    assert not measured
    assert "Time is up: 4 runs are left" in capsys.readouterr().out
    run(["mosaic", "pearl"], datasets=("census", "cervical"), minutes=10)
    order = [(r.dataset, r.variant) for r in measured]
    assert order[:3] == [("cervical", "real"), ("cervical", "mosaic"), ("cervical", "pearl")]
    assert order[3] == ("census", "real")


def test_a_failure_is_told_and_the_others_go_on(run, tmp_path, measured):
    failed = run(["merf", "pearl"], datasets=("adult", "credit"))
    assert sorted(failed) == [
        f"{name}, merf, ε = 1, seed 0: ValueError: too wide" for name in ("adult", "credit")
    ]
    kept = {p.name for p in tmp_path.glob("credit*")}
    assert "credit_pearl_eps1_seed0.json" in kept
    assert "credit_merf_eps1_seed0.failed.json" in kept
    assert "credit_merf_eps1_seed0.json" not in kept


def test_a_success_forgets_the_failure(run, tmp_path, monkeypatch):
    run(["merf"])
    monkeypatch.setattr(tables, "measure", lambda run, names, jobs: result("merf", 0, names))
    run(["merf"])
    assert not list(tmp_path.glob("*.failed.json"))


def test_the_command_writes_the_page_and_ends_with_its_notes(run, measured, tmp_path, capsys):
    (tmp_path / "notes.md").write_text("## Why\n\nNoise.\n")
    page = tmp_path / "docs" / "results.md"
    places = ["--results", str(tmp_path), "--docs", str(page)]
    run(["mosaic"])
    tables.main(["--render", *places])
    text = page.read_text()
    assert text.endswith("## Why\n\nNoise.\n")
    assert text.strip() in capsys.readouterr().out


def test_the_command_runs_what_is_chosen(monkeypatch, tmp_path):
    todo = []
    monkeypatch.setattr(tables, "run", lambda folder, runs, *_, **__: todo.extend(runs) or [])
    places = ["--results", str(tmp_path), "--docs", str(tmp_path / "results.md")]
    chosen = ["--datasets", "adult,isolet", "--methods", "mst", "--epsilons", "0.5,inf"]
    tables.main([*chosen, "--seeds", "3,", *places])
    assert names(todo) == [
        f"{name}_{rest}_seed3"
        for name in ("adult", "isolet")
        for rest in ("real", "mst_eps0.5", "mst_epsinf")
    ]


@pytest.mark.parametrize("wrong", [["--methods", "magic"], ["--datasets", "iris"]])
def test_if_nothing_that_is_known_is_left_it_stops(wrong, tmp_path):
    with pytest.raises(SystemExit, match="No method is left|No such data set: iris"):
        tables.main(["--results", str(tmp_path), *wrong])


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
    assert found["accuracy"] == many["accuracy"] == 0.75


def _said(truth, hard):
    return Prediction(model="x", truth=truth, hard=hard, scores=None)


def test_results_are_plain_json(tmp_path):
    (made,) = make_runs(["adult"], {}, [0])
    place = results.keep(tmp_path, made, result("real"))
    assert json.loads(place.read_text())["seed"] == 0
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_a_run_is_measured_from_the_cut_to_the_scores(epsilon, monkeypatch):
    table, schema = hanging_together(400, 5, seed=0, label=True)
    split = Split(table.slice(0, 300), table.slice(300), schema)
    small = {"frequencies": 8, "blocks": 1, "components": 2, "steps": 4}
    plan = Plan(source="", positive="v1", part=0.75, metrics=("tv1",), settings={"merf": small})
    monkeypatch.setitem(tables.PLANS, "toy", plan)
    monkeypatch.setattr(trial, "read", lambda name, seed: split)
    run = make_run("toy", "merf", variants()["merf"], epsilon, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows for the noise
        found = trial.measure(run, ["LDA"])
    assert found["rows"] == {"fitted": 300, "scored": 100}
    assert found["guarantee"] == run.guarantee
    assert found["changed"] == small
    assert found["settings"]["steps"] == 4
    assert set(found["scores"]["LDA"]) == {"accuracy", "roc", "prc"}
    assert 0 <= found["statistics"]["tv1"] <= 1
    json.dumps(found, allow_nan=False)
