"""The audit rings for every published mistake, and for nothing that has none."""

import pytest

from nacre.audit.as_published import CONTROLS, PLAIN
from nacre.audit.bounds import counted
from nacre.audit.controls import check_controls


@pytest.fixture(scope="module")
def checked():
    return {found.control.name: found for found in check_controls()}


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_the_mistake_is_flagged_and_its_mend_is_not(control, checked):
    found = checked[control.name]
    assert found.published.confidence == 0.95
    assert found.published.epsilon > control.epsilon
    assert found.corrected.epsilon <= control.epsilon
    assert found.passed


def test_a_plain_gaussian_is_not_flagged(checked):
    found = checked[PLAIN.name]
    assert 0.8 < found.published.epsilon <= 1.0  # close to what is claimed, and below it
    assert found.passed


def test_a_mend_that_is_none_would_be_seen():
    """The flags hang on the runs, not on the names: published runs in the mend's place ring."""
    import dataclasses

    broken = dataclasses.replace(CONTROLS[0], corrected=CONTROLS[0].published)
    blind = dataclasses.replace(CONTROLS[0], published=CONTROLS[0].corrected)
    assert not any(found.passed for found in check_controls([broken, blind], runs=400))


def test_mends_are_not_empty():
    """What is mended still says something of the canary, where noise lets it: it is no constant."""
    import numpy as np

    told = 0
    for control in CONTROLS:
        rng = np.random.default_rng(1)
        scores = [control.corrected(world, 20_000, rng) for world in (False, True)]
        told += counted(*scores, delta=control.delta).epsilon > 0
    assert told >= 6


def test_controls_are_no_methods():
    from nacre.registry import ENCODERS, GENERATORS, METHODS

    places = [*METHODS.values(), *ENCODERS.values(), *GENERATORS.values()]
    assert not any("as_published" in place or "audit" in place for place in places)
