"""The studies: what differs between their cases, and their tables."""

import numpy as np
import pytest
from bench.ablations import bandwidth, critic, generator, power, shrinkage
from bench.ablations.study import OFFICIAL, Study
from bench.choices import Deadline
from bench.kept import Kept

from bench import ablations


def fake(measure=lambda case, seed: {"score": len(case) + seed}):
    return Study(title="A study", remark="Of names.", cases=("a", "bb"), measure=measure)


def test_a_study_goes_on_where_it_stopped_and_shows_means(tmp_path):
    kept = Kept(tmp_path / "study.json")
    made = []
    study = fake(lambda case, seed: made.append(case) or {"score": len(case) + seed})
    assert ablations.run(study, kept, [0], Deadline(None)) == []
    assert ablations.run(study, kept, [0, 1], Deadline(None)) == []
    assert made == ["a", "bb", "a", "bb"]
    text = study.render(kept.read())
    assert "| | score | seeds |" in text
    assert "| a | 1.500 ± 0.5 | 2 |" in text
    assert "| bb | 2.500 ± 0.5 | 2 |" in text
    assert "All 4 results are of one version" in text


def test_only_some_cases_may_be_run(tmp_path):
    kept = Kept(tmp_path / "study.json")
    assert ablations.run(fake(), kept, [0], Deadline(None), only="b") == []
    assert [found["case"] for found in kept.read().values()] == ["bb"]


def test_shrinking_keeps_what_is_far_above_the_noise_and_drops_what_is_not():
    gap = np.array([10.0, 0.5, -0.5, 0.0])
    for case in ("by one factor", "by each square", "by one deviation"):
        found = shrinkage.shrunk(case, gap, 1.0)
        assert 8.9 < found[0] < 10
        assert np.all(np.abs(found) <= np.abs(gap))
    np.testing.assert_array_equal(shrinkage.shrunk("by each square", gap, 1.0)[1:], 0.0)
    np.testing.assert_array_equal(shrinkage.shrunk("as they are", gap, 1.0), gap)


def test_what_was_not_run_says_so_and_failures_are_told(tmp_path):
    kept = Kept(tmp_path / "study.json")

    def measure(case, seed):
        if case == "bb":
            raise ValueError("too wide")
        return {"score": 1.0}

    assert ablations.run(fake(measure), kept, [0], Deadline(None)) == [
        "bb, seed 0: ValueError: too wide"
    ]
    assert "| bb | not run | 0 |" in fake(measure).render(kept.read())
    assert ablations.run(fake(measure), Kept(tmp_path / "other.json"), [0], Deadline(0)) == []


def test_the_command_refuses_unknown_studies_and_prints_known_ones(tmp_path, capsys):
    with pytest.raises(SystemExit, match="No such study: luck.*critic, bandwidth"):
        ablations.main(["luck"])
    ablations.main(["critic", "power", "--render", "--results", str(tmp_path)])
    said = capsys.readouterr().out
    assert "| mixture, off |" in said
    assert "| optimized |" in said


def test_cases_differ_in_what_is_studied(monkeypatch):
    found = {}
    monkeypatch.setattr("bench.adult.official", lambda method, seed: found.update(last=method))

    def made(study):
        methods = []
        for case in study.cases:
            study.measure(case, 0)
            methods.append(found["last"])
        assert study.columns == OFFICIAL
        return methods

    assert [m.critic for m in made(critic.STUDY)] == ["off", "scale", "free"] * 2
    assert [m.bandwidth for m in made(bandwidth.STUDY)] == [0.0, 0.05, 0.1, 0.2] * 2
    both = [(m.title, m.generator, m.frequencies_on) for m in made(generator.STUDY)]
    assert len(set(both)) == len(both) == 8


def test_frequencies_are_those_of_the_papers_appendix():
    rng = np.random.default_rng(0)
    unoptimized = power.frequencies("unoptimized", 5, rng)
    assert unoptimized.shape == (20, 5)
    assert np.count_nonzero(unoptimized[:, 0]) == 1
    assert np.count_nonzero(power.frequencies("normal", 5, rng)) == 100
    only = power.frequencies("optimized", 5, rng)
    assert only.shape == (1, 5) and only[0, 0] != 0
    assert power.frequencies("unoptimized", 1, rng).shape == (1, 1)


def test_the_test_rejects_what_differs_and_keeps_its_level():
    rng = np.random.default_rng(0)
    assert power.power("normal", 2, 1.0, rng, trials=10) == 1.0
    # At level 0.05, more than 15 of 60 happen less than once in 10^6.
    assert power.power("optimized", 3, 0.0, rng, trials=60) <= 15 / 60
