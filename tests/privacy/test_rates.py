"""Training whose rate follows from a noisy count: what it costs is fixed before the count."""

import dataclasses

import pytest

from nacre.errors import NacreError
from nacre.vault import Adjacency, Plan, Steps, count_question, epsilon_of
from nacre.vault.vault import promised

COUNT = count_question(0.05)
STEPS = Steps(name="training", share=0.95, steps=3, size=10, batch=50)


@pytest.fixture(scope="module")
def plan():
    return Plan.of([COUNT, STEPS], epsilon=1, delta=1e-5)


@pytest.mark.parametrize("rows", [60, 500])
def test_whatever_the_count_says_training_costs_what_was_reserved(plan, rows):
    count, reserved = plan.releases
    release = STEPS.after_count(reserved, rows)
    fixed = dataclasses.replace(release, epsilon=0.0, delta=0.0)
    assert 0.99 * reserved.epsilon < epsilon_of([fixed], reserved.delta) <= reserved.epsilon
    # What was reserved is added, whatever the rate; not composed, which a rate that was chosen by
    # looking at the count would break.
    assert (release.epsilon, release.delta) == (reserved.epsilon, reserved.delta)
    alone = epsilon_of([count], 1e-5 - reserved.delta) + reserved.epsilon
    assert epsilon_of([count, release], 1e-5) == pytest.approx(alone, rel=1e-9)
    assert 0.98 < alone <= 1


def test_a_release_with_a_delta_of_its_own_leaves_the_others_less(plan):
    count, reserved = plan.releases
    release = STEPS.after_count(reserved, 1000)
    fixed = dataclasses.replace(release, epsilon=0.0, delta=0.0)
    assert epsilon_of([count, fixed], 1e-5) < epsilon_of([count, release], 1e-5)
    assert epsilon_of([release], release.delta * 0.99) == float("inf")
    # A release that costs more than was reserved for it proves nothing.
    louder = dataclasses.replace(release, noise=release.noise / 1.5)
    assert epsilon_of([count, louder], 1e-5) == float("inf")


def test_steps_that_were_chosen_after_a_private_draft_are_added(plan):
    draft = Plan.of([count_question(1.0)], epsilon=0.5, delta=1e-6).releases
    public = dataclasses.replace(STEPS, rows=1000)
    (reserved,) = Plan.of([public], epsilon=1, delta=1e-5, prior=draft).releases
    assert reserved.mechanism == "approximate"
    assert epsilon_of(draft, 1e-6) + reserved.epsilon == pytest.approx(1, rel=2e-3)


def test_what_is_asked_after_a_private_draft_keeps_to_a_part_that_was_fixed_before_it():
    """Whether the draft found a label must not move what the draft itself may cost."""
    draft = Plan.of([count_question(1.0)], epsilon=0.5, delta=1e-6).releases
    left = 0.9 * 1e-5
    before = epsilon_of(draft, 1e-5 - left)
    public = dataclasses.replace(STEPS, rows=1000)
    for asked in ([public], [COUNT, public], [count_question(0.5), public]):
        share = 1 - sum(question.share for question in asked[:-1])
        asked[-1] = dataclasses.replace(public, share=share)
        plan = Plan.of(asked, epsilon=1, delta=1e-5, prior=draft)
        releases = plan.releases
        # Both parts at once may seem to cost less, but that is not what is proved.
        said = promised(plan, {}, checked=False, hidden=())
        said.verify()
        assert said.epsilon == 1 and said.recompute() < 1
        assert before + epsilon_of(releases, left) <= 1
        assert before + epsilon_of(releases, left) == pytest.approx(1, rel=5e-3)
        assert epsilon_of([*draft, *releases], 1e-5) <= 1
    with pytest.raises(NacreError, match="used the budget up"):
        Plan.of([public], epsilon=0.4, delta=1e-5, prior=draft)


def test_a_public_number_of_rows_fixes_the_rate_before(plan):
    public = Steps(name="training", share=0.95, steps=3, size=10, batch=50, rows=1000)
    (_, release) = Plan.of([COUNT, public], epsilon=1, delta=1e-5).releases
    assert release.rate == pytest.approx(0.05, abs=1e-9)
    assert release.delta == 0
    with pytest.raises(NacreError, match="without a public number"):
        Steps.release(STEPS, 1.0, Adjacency.ADD_REMOVE)


TINY = [
    {"epsilon": 1e-4, "delta": 1e-6, "steps": 10**6},
    {"epsilon": 1.0, "delta": 2e-16, "steps": 1000},
]


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("said", TINY)
def test_steps_for_which_no_noise_may_do_are_refused_before_the_count(said, adjacency):
    """The search for it comes after the count, where a refusal comes too late."""
    budget = {"epsilon": said["epsilon"], "delta": said["delta"], "adjacency": adjacency}
    question = dataclasses.replace(STEPS, steps=said["steps"])
    with pytest.raises(NacreError, match=r"'training' is too small for .* Nothing was spent"):
        Plan.of([COUNT, question], **budget)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(("epsilon", "delta"), [(2e-4, 1e-6), (1.0, 1e-14)])
def test_where_a_plan_is_made_noise_is_found_whatever_the_count_says(epsilon, delta, adjacency):
    question = dataclasses.replace(STEPS, steps=1000)
    found = Plan.of([COUNT, question], epsilon=epsilon, delta=delta, adjacency=adjacency)
    reserved = found.releases[1]
    for rows in (1, 60, 10**8):
        release = question.after_count(reserved, rows)
        fixed = dataclasses.replace(release, epsilon=0.0, delta=0.0)
        assert epsilon_of([fixed], reserved.delta, adjacency) <= reserved.epsilon
