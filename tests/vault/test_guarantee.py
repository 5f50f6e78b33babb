"""A guarantee is a value that anybody can recompute."""

import dataclasses
import json
import math

import pytest

from nacre.vault import Adjacency, Guarantee, Release, gaussian_mu

GAUSSIAN = Release(
    name="sum",
    mechanism="gaussian",
    theorem="Gaussian DP",
    adjacency=Adjacency.ADD_REMOVE,
    size=3,
    sensitivity=2.0,
    noise=2.0 / gaussian_mu(0.999, 1e-5),
)
STEPS = Release(
    name="training",
    mechanism="subsampled-gaussian",
    theorem="PLD",
    adjacency=Adjacency.REPLACE_ONE,
    size=1,
    sensitivity=1.0,
    noise=4.0,
    rate=0.01,
    steps=1000,
)


def guarantee(**change):
    given = {
        "epsilon": 1.0,
        "delta": 1e-5,
        "adjacency": Adjacency.ADD_REMOVE,
        "releases": (GAUSSIAN,),
    }
    return Guarantee(**(given | change))


def test_round_trip_through_json():
    for one in (
        guarantee(),
        guarantee(epsilon=math.inf, delta=1.0, releases=(GAUSSIAN, STEPS.without_noise())),
        guarantee(adjacency=Adjacency.REPLACE_ONE, releases=(STEPS,)),
    ):
        text = json.dumps(one.to_dict(), allow_nan=False)
        assert Guarantee.from_dict(json.loads(text)) == one


def test_a_true_guarantee_is_verified():
    guarantee().verify()
    assert guarantee().recompute() == pytest.approx(0.999, abs=1e-6)
    guarantee(adjacency=Adjacency.REPLACE_ONE, releases=(STEPS,)).verify()


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 0.99},
        {"delta": 1e-6},
        {"releases": (GAUSSIAN, GAUSSIAN)},
        {"releases": (dataclasses.replace(GAUSSIAN, noise=1.0),)},
        {"releases": (dataclasses.replace(GAUSSIAN, sensitivity=9.0),)},
        {"adjacency": Adjacency.REPLACE_ONE},
        {"releases": (dataclasses.replace(STEPS, adjacency="add-remove", noise=1.0),)},
    ],
)
def test_a_false_one_is_not(change):
    with pytest.raises(ValueError, match=r"Do not rely|adjacency"):
        guarantee(**change).verify()


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": math.nan},
        {"delta": 0},
        {"delta": 1},
        {"delta": math.nan},
        {"epsilon": math.inf},
        {"releases": (GAUSSIAN, GAUSSIAN.without_noise())},
    ],
)
def test_guarantees_that_make_no_sense(change):
    with pytest.raises(ValueError):
        guarantee(**change)


def test_it_says_what_it_rests_on():
    assert "discrete Gaussian" in " ".join(guarantee().assumptions)
    said = guarantee(adjacency=Adjacency.REPLACE_ONE, releases=(STEPS,)).assumptions
    assert "assumed that a row's place" in " ".join(said) and "computational" in " ".join(said)
    assert all("public" in one.assumptions[0] for one in (guarantee(), guarantee(releases=())))


def test_it_reads_well():
    assert str(guarantee()) == "(ε = 1, δ = 1e-05), add-remove, per row, 1 release"


@pytest.mark.parametrize(
    "changes",
    [
        {"size": -5},
        {"size": "x"},
        {"epsilon": 50.0},
        {"delta": 0.5},
        {"mechanism": "approximate"},
        {"mechanism": "approximate", "epsilon": 1.0},
        {"noise": 5e-324},
        {"noise": "4"},
    ],
)
def test_a_release_that_contradicts_itself_is_refused(changes):
    honest = dataclasses.replace(GAUSSIAN, sensitivity=1.0, noise=4.0)
    assert honest.multiplier == 4
    with pytest.raises(ValueError, match="Release 'sum'"):
        dataclasses.replace(honest, **changes)
