"""Training whose rate follows from a noisy count: what it costs is fixed before the count."""

import pytest

from nacre.errors import NacreError
from nacre.vault import Adjacency, Plan, Release, Steps, count_question, epsilon_of

COUNT = count_question(0.05)
STEPS = Steps(name="training", share=0.95, steps=3, size=10, batch=50)


@pytest.fixture(scope="module")
def plan():
    return Plan.of([COUNT, STEPS], epsilon=1, delta=1e-5)


@pytest.mark.parametrize("rows", [60, 500])
def test_whatever_the_count_says_training_costs_what_was_reserved(plan, rows):
    count, reserved = plan.releases
    release = STEPS.after_count(reserved, rows)
    assert release.delta == reserved.delta
    assert epsilon_of([release], release.delta) <= reserved.epsilon
    # Together within the budget, by adding: not by composing, which a rate that was chosen by
    # looking at the count would break.
    assert 0.98 < epsilon_of([count, release], 1e-5) <= 1
    alone = epsilon_of([count], 1e-5 - release.delta) + epsilon_of([release], release.delta)
    assert epsilon_of([count, release], 1e-5) == pytest.approx(alone, rel=1e-6)


def test_a_release_with_a_delta_of_its_own_leaves_the_others_less(plan):
    count, reserved = plan.releases
    release = STEPS.after_count(reserved, 1000)
    fixed = Release(**{**release.to_dict(), "delta": 0.0})
    assert epsilon_of([count, fixed], 1e-5) < epsilon_of([count, release], 1e-5)
    assert epsilon_of([release], release.delta * 0.99) == float("inf")


def test_a_public_number_of_rows_fixes_the_rate_before(plan):
    public = Steps(name="training", share=0.95, steps=3, size=10, batch=50, rows=1000)
    (_, release) = Plan.of([COUNT, public], epsilon=1, delta=1e-5).releases
    assert release.rate == pytest.approx(0.05, abs=1e-9)
    assert release.delta == 0
    with pytest.raises(NacreError, match="without a public number"):
        Steps.release(STEPS, 1.0, Adjacency.ADD_REMOVE)
