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


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(5.5, 1e-100), (5.5, 1e-20), (1.0, 0.01), (1.0, 1 - 1e-16), (4000.0, 1e-6), (701.0, 1e-6)],
)
def test_budgets_beyond_what_is_proved_are_not_verified(epsilon, delta):
    """A fit refuses them, too."""
    quiet = dataclasses.replace(GAUSSIAN, noise=2e9)
    with pytest.raises(ValueError, match="cannot be verified: what noise costs is proved for"):
        guarantee(epsilon=epsilon, delta=delta, releases=(quiet,)).verify()


def test_the_ends_of_what_is_proved_are_verified():
    quiet = dataclasses.replace(GAUSSIAN, noise=2e9)
    for epsilon, delta in ((700.0, 9.9e-3), (1e-5 * (1 - 5e-4), 1e-6), (1.0, 1.1e-20)):
        assert guarantee(epsilon=epsilon, delta=delta, releases=(quiet,)).verify() is None


def test_what_cannot_be_worked_out_is_not_verified():
    wild = dataclasses.replace(STEPS, adjacency=Adjacency.ADD_REMOVE, noise=1e-4, rate=0.5, steps=1)
    with pytest.raises(ValueError, match="delta=1e-05 cannot be verified: delta is used up"):
        guarantee(releases=(wild,)).verify()


@pytest.mark.parametrize(
    "change",
    [
        {"steps": 10**400},
        {"steps": 10**10},
        {"size": 10**400},
        {"size": 10**16},
        {"rate": 5e-324},
        {"rate": 1e-11},
        {"noise": 10**400},
        {"sensitivity": 10**400},
        {"noise": 1e301},
    ],
)
def test_numbers_that_no_fit_has_are_refused(change):
    with pytest.raises(ValueError, match="Release 'training'"):
        Release.from_dict(STEPS.to_dict() | change)


def test_a_list_without_end_is_refused():
    said = guarantee().to_dict()
    with pytest.raises(ValueError, match="at most 10,000 releases, not 10,001"):
        Guarantee.from_dict(said | {"releases": said["releases"] * 10_001})


@pytest.mark.parametrize("error", [OverflowError, ZeroDivisionError, MemoryError])
def test_what_fails_to_be_worked_out_is_not_verified(error, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr("nacre.vault.guarantee.epsilon_of", fail)
    with pytest.raises(ValueError, match="cannot be verified"):
        guarantee().verify()


def test_the_least_numbers_can_be_printed():
    assert "δ = 9.99989e-321" in str(guarantee(delta=1e-320, releases=()))
