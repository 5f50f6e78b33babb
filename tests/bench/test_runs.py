"""What there is to run: names, guarantees, settings, and in which order."""

import argparse
import math

import pytest
from bench.tables.plans import PLANS
from bench.tables.runs import REAL, Run, cheapest_first, make_run, make_runs
from bench.variants import Variant, is_stepwise, usable, variants
from tests.bench.fakes import result

from bench import choices
from nacre import registry
from nacre.methods import find


@pytest.fixture
def steps(monkeypatch):
    """A method that trains step by step, registered."""
    monkeypatch.setitem(registry.METHODS, "toy", "tests.methods.toy_steps:ToySteps")


def test_the_file_of_a_result_is_named_after_the_run():
    run = Run(dataset="adult", variant="pearl-network", seed=3, epsilon=0.8, delta=1e-5)
    assert run.name == "adult_pearl-network_eps0.8_seed3"
    assert Run(dataset="adult", variant=REAL, seed=0).name == "adult_real_seed0"
    assert str(run) == "adult, pearl-network, ε = 0.8, seed 3"


def test_no_two_runs_share_a_file():
    runs = make_runs(PLANS, usable()[0], range(2))
    assert len({run.name for run in runs}) == len(runs)
    assert all(run.epsilon in PLANS[run.dataset].epsilons for run in runs if run.variant != REAL)


def test_without_privacy_there_is_no_delta_and_json_knows_no_infinity():
    run = make_run("adult", "mosaic", variants()["mosaic"], math.inf, 0)
    assert run.delta is None
    assert run.guarantee == {"epsilon": None, "delta": None, "adjacency": "replace-one"}
    assert Run(dataset="adult", variant=REAL, seed=0).guarantee is None


def test_what_trains_step_by_step_is_found_and_runs_under_add_remove(steps):
    assert is_stepwise(find("toy")())
    assert not is_stepwise(find("mosaic")())
    assert make_run("adult", "toy", variants()["toy"], 1.0, 0).adjacency == "add-remove"
    assert make_run("adult", "mst", variants()["mst"], 1.0, 0).adjacency == "replace-one"
    assert make_run("adult-official", "mst", variants()["mst"], 1.0, 0).adjacency == "add-remove"


def test_every_registered_method_of_tables_is_a_variant(steps):
    assert {"toy", "mosaic", "pearl", "pearl-network"} <= set(usable()[0])


def test_methods_that_are_not_here_are_skipped_with_a_message(capsys, monkeypatch):
    monkeypatch.delitem(registry.METHODS, "mst")
    found = choices.chosen_variants("mosaic,mst,magic")
    assert list(found) == ["mosaic"]
    said = capsys.readouterr().out
    assert "mst: this version has no method 'mst'" in said
    assert "There is no method 'magic'" in said


def test_a_setting_or_preset_that_is_not_here_skips_the_variant(monkeypatch):
    for wrong in ({"settings": {"magic": 1}}, {"preset": "as_dreamt"}, {"settings": {"steps": -1}}):
        odd = Variant(title="Odd", method="merf", **wrong)
        monkeypatch.setattr("bench.variants.variants", lambda odd=odd: {"odd": odd})
        found, (problem,) = usable()
        assert not found
        assert problem.startswith("odd: ") and problem.endswith(": skipped.")


def test_variants_begin_with_the_papers_settings_and_the_plan_changes_them():
    variant = Variant(title="", method="merf", preset="as_published", settings={"latent": 3})
    method = variant.make({"frequencies": 70})
    assert (method.generator, method.latent, method.frequencies) == ("network", 3, 70)


# DP-MERF, Table 4: features with privacy and without; a frequency gives two.
@pytest.mark.parametrize(
    ("name", "private", "without"),
    [("adult", 1000, 50_000), ("credit", 5000, 50_000), ("isolet", 500, 100_000)],
)
def test_dp_merf_as_published_has_the_papers_features(name, private, without):
    variant = variants()["merf-network"]
    for epsilon, features in ((1.0, private), (math.inf, without)):
        run = make_run(name, "merf-network", variant, epsilon, 0)
        assert variant.make(run.settings).frequencies == features // 2


def test_what_was_measured_decides_which_run_is_cheap():
    runs = make_runs(["adult", "cervical"], usable(["mosaic"])[0], [0], [1.0])
    guessed = [(r.dataset, r.variant) for r in cheapest_first(runs, [])]
    assert guessed[0] == ("cervical", REAL)
    slow = result(REAL, dataset="cervical") | {"score_seconds": 1e6}
    assert cheapest_first(runs, [slow])[-1].variant == REAL


def test_lists_of_epsilons_and_seeds():
    assert choices.epsilons("0.8,1,inf") == [0.8, 1.0, math.inf]
    assert choices.seeds("3") == [0, 1, 2]
    assert choices.seeds("3,5") == [3, 5]
    assert choices.seeds("3,") == [3]
    for parse, wrong in [
        (choices.epsilons, "0"),
        (choices.epsilons, "one"),
        (choices.epsilons, ""),
        (choices.epsilons, "nan"),
        (choices.seeds, "-1"),
        (choices.seeds, ""),
    ]:
        with pytest.raises(argparse.ArgumentTypeError):
            parse(wrong)
