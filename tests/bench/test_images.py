"""Images: what is run and kept, and which number stands where on the page."""

import json
import math

import bench.images as images
import numpy as np
import pytest
from bench.images import render, trial
from bench.images.published import ROWS, merf
from bench.images.runs import DATASETS, EPSILONS, USUAL, VARIANTS, make_runs
from bench.tables.runs import REAL
from bench.variants import Variant

from nacre import registry
from nacre.datasets import digits
from nacre.evaluate.images.comparison import Effort
from nacre.evaluate.tables.classifiers import PUBLISHED


def result(run, **statistics):
    """As `trial.measure` gives it, made up."""
    found = {"dataset": run.dataset, "variant": run.variant, "seed": run.seed}
    if run.variant != REAL:
        found |= {"guarantee": run.guarantee, "changed": {}}
    return found | {
        "images": {"fitted": 60_000, "learnt from": 60_000, "scored": 10_000},
        "fit_seconds": 120.0,
        "sample_seconds": 7.0,
        "score_seconds": 300.0,
        "scores": {"LDA": {"accuracy": 0.71}} if "accuracy" in run.metrics else {},
        "errors": {},
        "statistics": {name: statistics.get(name, 0.8) for name in run.metrics},
    }


def only(variant="moments", epsilon=1.0, seed=0, dataset="mnist", metrics=("cnn-accuracy",)):
    runs = make_runs([dataset], [variant], [epsilon], [seed], metrics)
    return runs[0] if variant == REAL else runs[1]


@pytest.fixture
def run(tmp_path):
    """Run some methods and say which runs were made; merf fails."""

    def go(names, seeds=(0,), epsilons=(1.0,), metrics=("cnn-accuracy",), **options):
        made = []

        def measure(run, jobs):
            made.append(run)
            if run.variant == "merf":
                raise ValueError("too wide")
            return result(run)

        todo = make_runs(["mnist"], names, epsilons, seeds, metrics)
        go.failed = images.run(tmp_path, todo, measure=measure, **options)
        return made

    return go


def test_a_run_resumes_where_it_stopped(run):
    assert [r.name for r in run(["moments"])] == ["mnist_real_seed0", "mnist_moments_eps1_seed0"]
    more = run(["moments"], seeds=(0, 1), epsilons=(1.0, 0.2))
    assert [r.name for r in more] == [
        "mnist_moments_eps0.2_seed0",
        "mnist_real_seed1",
        "mnist_moments_eps1_seed1",
        "mnist_moments_eps0.2_seed1",
    ]


def test_more_metrics_are_measured_with_the_kept_ones(run, tmp_path):
    run(["moments"])
    assert {r.metrics for r in run(["moments"], metrics=("fid",))} == {("cnn-accuracy", "fid")}
    kept = json.loads((tmp_path / "mnist_moments_eps1_seed0.json").read_text())
    assert set(kept["statistics"]) == {"cnn-accuracy", "fid"}
    assert {"nacre", "source", "python"} <= set(kept["versions"])
    assert not run(["moments"], metrics=("cnn-accuracy",))


def test_a_failure_is_kept_and_the_others_go_on(run, tmp_path):
    run(["merf", "moments"])
    assert run.failed == ["mnist, merf, ε = 1, seed 0: ValueError: too wide"]
    assert (tmp_path / "mnist_merf_eps1_seed0.failed.json").is_file()
    assert (tmp_path / "mnist_moments_eps1_seed0.json").is_file()
    found = images.results.read_all(tmp_path)
    assert render._ours(found, "merf", ("mnist", 1.0, "cnn-accuracy")) == "failed (ValueError)"


def test_none_starts_after_the_deadline_and_another_version_is_run_again(run, monkeypatch, capsys):
    assert not run(["moments"], minutes=0)
    assert "Time is up: 2 runs are left" in capsys.readouterr().out
    run(["moments"])
    monkeypatch.setattr(images, "source", lambda: "newer")
    assert not run(["moments"])
    assert len(run(["moments"], again=True)) == 2


def test_one_seed_of_all_comes_before_the_next(run):
    made = run(["functional", "moments"], seeds=(1, 0))
    assert [r.seed for r in made] == [0, 0, 0, 1, 1, 1]
    assert [r.variant for r in made[:3]] == [REAL, "moments", "functional"]


def test_the_command_runs_what_is_chosen_and_writes_between_the_marks(monkeypatch, tmp_path):
    todo, page = [], tmp_path / "page.md"
    monkeypatch.setattr(images, "run", lambda folder, runs, *_, **__: todo.extend(runs) or [])
    page.write_text(f"# Title\n\n{render.BEGIN}\nyesterday\n{render.END}\nafter\n")
    places = ["--results", str(tmp_path), "--docs", str(page)]
    some = ["--datasets", "mnist", "--methods", "pearl", "--epsilons", "1,inf", "--seeds", "3,"]
    images.main([*some, "--metrics", "fid,kid", *places])
    assert [r.name for r in todo] == [
        f"mnist_{rest}_seed3" for rest in ("real", "pearl_eps1", "pearl_epsinf")
    ]
    assert {r.metrics for r in todo} == {("fid", "kid")}
    assert todo[1].guarantee == {"epsilon": 1.0, "delta": 1e-5, "adjacency": "add-remove"}
    assert todo[2].delta is None
    text = page.read_text()
    assert text.startswith("# Title\n") and text.endswith("after\n") and "yesterday" not in text
    for wrong in (["--methods", "magic"], ["--datasets", "iris"], ["--metrics", "beauty"]):
        with pytest.raises(SystemExit, match="No such"):
            images.main([*wrong, *places])
    page.write_text("no marks")
    with pytest.raises(SystemExit, match="no place"):
        images.main(["--render", *places])


def test_our_numbers_are_means_over_seeds_beside_the_published_ones():
    first, second = only(seed=0), only(seed=1)
    found = [result(first, **{"cnn-accuracy": 0.94}), result(second, **{"cnn-accuracy": 0.96})]
    text = render.render([*found, result(only(REAL), **{"cnn-accuracy": 0.991})])
    assert "| **Moments** | ours | not run | 95.0 ± 1.4 (2) | not run |" in text
    assert "| real images | ours | 99.1 (1) | 99.1 (1) | 99.1 (1) |" in text
    assert "| DPDM | Functional Rényi DP, Tables 1 and 3 | 97.3 | 93.4 | 71.9 |" in text
    assert "| Moments | MNIST | 120 | 7 | 2 |" in text


def test_unsound_results_are_marked_and_say_why():
    text = render.render([])
    assert "| Functional Rényi DP† |" in text and "| DP-Kernel† |" in text
    assert "| DP-MERF+AE† |" in text and "| DPDM† |" not in text
    assert "- DP-MERF+AE: the encoder is fitted to the private images without noise." in text
    assert text.startswith("Nothing has been measured.")


def test_distances_and_classifiers_stand_in_their_columns():
    near = only("pearl", metrics=("fid", "kid"))
    told = only("merf", epsilon=9.6, metrics=("accuracy", "f1"))
    text = render.render([result(near, fid=3.456, kid=0.0701), result(told, accuracy=0.6, f1=0.59)])
    assert "| **PEARL** | ours | 3.46 (1) | 70.1 (1) | not run | not run |" in text
    assert "| PEARL | PEARL, Table 1 | 3.52 | 70.5 | 1.92 | 26.9 |" in text
    assert "| **DP-MERF** | ours | 0.60 (1) | not run |" in text
    assert "| LDA | 0.88 | 0.59 | 0.60 | 0.69 | 0.70 | 0.66 | 0.71 |" in text


def test_every_row_of_a_table_has_as_many_cells_as_its_head():
    found = [result(only(name, e)) for name in USUAL for e in (*EPSILONS, math.inf)]
    for block in render.render(found).split("\n\n"):
        assert len({line.count("|") for line in block.splitlines() if line[:1] == "|"}) <= 1
    assert "ε = ∞" in render.render(found)


# A number typed wrongly would show here: the averages of Tables 9 and 10 are Table 3, as printed.
@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("score", ["accuracy", "f1"])
def test_the_papers_averages_are_those_of_their_rows(dataset, score):
    for method, epsilon in merf.COLUMNS:
        own = [
            r
            for r in ROWS
            if (r.dataset, r.score, r.method, r.epsilon) == (dataset, score, method, epsilon)
        ]
        each = {r.classifier: r.value for r in own if r.classifier}
        (mean,) = (r.value for r in own if not r.classifier and r.source == "DP-MERF, Table 3")
        assert set(each) == set(PUBLISHED)
        assert np.mean(list(each.values())) == pytest.approx(mean, abs=0.0101)


def test_published_shares_are_shares_and_each_has_a_source():
    for row in ROWS:
        assert row.source and row.dataset in DATASETS
        assert row.score == "fid" or 0 < row.value < (2 if row.score == "kid" else 1)


def test_the_variants_can_be_made_and_learn_from_images():
    assert set(USUAL) <= set(VARIANTS)
    for name, variant in VARIANTS.items():
        assert "image" in variant.make().data, name


def test_a_run_is_measured_from_the_images_to_the_scores(monkeypatch):
    split = digits()
    few = split._replace(
        train=type(split.train)(*(part[:200] for part in split.train)),
        test=type(split.test)(*(part[:60] for part in split.test)),
    )
    monkeypatch.setitem(registry.METHODS, "toy-mean", "tests.methods.toy_image:ToyMean")
    place = "tests.methods.toy_image:ToyPrototypes"
    monkeypatch.setitem(registry.GENERATORS, "ToyPrototypes", place)
    monkeypatch.setitem(VARIANTS, "toy", Variant(title="Toy", method="toy-mean"))
    monkeypatch.setattr(trial, "load_images", lambda name: few)
    monkeypatch.setattr(trial, "DRAWN", 150)
    monkeypatch.setattr(trial, "EFFORT", Effort(classifiers=("LDA",)))
    trial.real_side.cache_clear()
    wanted = only("toy", math.inf, metrics=("accuracy", "f1"))
    found = trial.measure(wanted)
    real = trial.measure(only(REAL, metrics=("accuracy",)))
    trial.real_side.cache_clear()
    assert found["images"] == {"fitted": 200, "learnt from": 150, "scored": 60}
    assert real["images"]["learnt from"] == 200 and "guarantee" not in real
    assert found["guarantee"] == wanted.guarantee and found["settings"]["spread"] == 8.0
    assert found["statistics"]["accuracy"] == found["scores"]["LDA"]["accuracy"] > 0.5
    assert real["statistics"]["accuracy"] > 0.7
    json.dumps(found, allow_nan=False)
