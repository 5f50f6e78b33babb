"""A plan lists every question, and its one search spends the budget: no more, hardly less."""

import dataclasses
import math

import pytest

from nacre.rows import Label
from nacre.vault import (
    Adjacency,
    Bound,
    Choice,
    Keys,
    Plan,
    Segment,
    Stage,
    Steps,
    Sum,
    count_question,
    epsilon_of,
    gaussian_mu,
)

BLOCKS = Bound(segments=(Segment(size=4, norm=1.0, signed=False),) * 3)
SUM = Sum(name="sum", share=0.5, bound=BLOCKS)
CHOICE = Choice(name="choice", share=0.2, bound=BLOCKS, count=3)
STEPS = Steps(name="steps", share=0.5, steps=20, batch=50, size=1, rows=500)
BUDGET = {"epsilon": 1.0, "delta": 1e-5}


def plan(*questions, **more):
    return Plan.of(questions, **{**BUDGET, **more})


@pytest.mark.parametrize("adjacency", Adjacency)
def test_sums_and_choices_spend_the_whole_budget_by_their_shares(adjacency):
    found = plan(SUM, CHOICE, count_question(0.3), adjacency=adjacency)
    assert [round(r.mu**2 / found.mu**2, 6) for r in found.releases] == [0.5, 0.2, 0.3]
    assert epsilon_of(found.releases, 1e-5, adjacency) == pytest.approx(1, rel=1e-6)
    assert found.mu == pytest.approx(gaussian_mu(1, 1e-5), rel=1e-4)


def test_shares_are_relative_the_budget_is_spent_whatever_they_add_up_to():
    small = plan(dataclasses.replace(SUM, share=0.01))
    whole = plan(dataclasses.replace(SUM, share=1.0))
    assert small.releases[0].noise == pytest.approx(whole.releases[0].noise, rel=1e-6)


@pytest.mark.parametrize(
    ("questions", "adjacency"),
    [
        ((STEPS, dataclasses.replace(STEPS, name="more", steps=7, batch=100)), "add-remove"),
        ((STEPS, dataclasses.replace(STEPS, name="more", steps=7, batch=100)), "replace-one"),
        ((dataclasses.replace(SUM, share=0.3), STEPS), "add-remove"),
        ((count_question(0.2), STEPS), "replace-one"),
        ((Keys(name="k", column="x", epsilon=0.2, delta=1e-6), STEPS), "add-remove"),
    ],
    ids=["two phases", "two phases, replace-one", "sum, phase", "count, phase", "keys, phase"],
)
def test_step_wise_phases_spend_the_budget_whatever_comes_with_them(questions, adjacency):
    found = plan(*questions, adjacency=adjacency)
    assert 0.99 < epsilon_of(found.releases, 1e-5, Adjacency(adjacency)) <= 1.0
    assert found.mu is None


def test_stages_of_a_step_cost_what_one_stage_costs():
    stages = (Stage(clip=1.0, share=0.3), Stage(clip=7.0, share=0.7))
    both = dataclasses.replace(STEPS, stages=stages).release(0.3, Adjacency.ADD_REMOVE)
    assert both == STEPS.release(0.3, Adjacency.ADD_REMOVE)


def test_what_was_released_before_counts():
    (draft,) = plan(count_question(1.0), epsilon=0.5).releases
    rest = plan(SUM, prior=[draft])
    mine = rest.releases[0].mu ** 2
    assert draft.mu**2 + mine == pytest.approx(gaussian_mu(1, 1e-5) ** 2, rel=1e-3)
    assert epsilon_of([draft, *rest.releases], 1e-5) <= 1
    with pytest.raises(ValueError, match="another adjacency"):
        plan(SUM, prior=[draft], adjacency="replace-one")
    with pytest.raises(ValueError, match="used the budget up"):
        plan(SUM, prior=[draft], epsilon=0.4)


def test_shares_that_add_up_to_more_than_one():
    with pytest.raises(ValueError, match="must not add up to more than 1"):
        plan(SUM, dataclasses.replace(SUM, share=0.500001))


@pytest.mark.parametrize("share", [0, -1, 1.1, math.nan])
def test_shares_outside_their_range(share):
    with pytest.raises(ValueError, match="share"):
        plan(dataclasses.replace(SUM, share=share))


def test_a_budget_that_means_nothing_is_refused():
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        plan(SUM, epsilon=0)


def test_a_plan_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one question"):
        plan()


def test_the_plan_says_what_to_expect():
    counted = dataclasses.replace(
        SUM,
        meaning="rows in each cell",
        bound=dataclasses.replace(BLOCKS, count=1.0, by=Label("y", 2)),
    )
    found = plan(counted, CHOICE, rows=1000, method="Toy", reason="Chosen by you.")
    noise = found.noise(counted)
    said = str(found)
    assert said.startswith("Toy at (ε = 1, δ = 1e-05), add-remove, per row. Chosen by you.")
    assert "sum: 26 numbers, 50% of the budget" in said and "rows in each cell" in said
    assert f"a count of rows will be off by about {noise:.1f}" in said
    assert f"of 1,000 rows will be off by about {noise / 1000:.2g}" in said
    assert "choice: 3 choices among 3" in said
    data = found.to_dict()
    assert data["rows"] == 1000 and data["epsilon"] == 1.0
    assert [r["name"] for r in data["releases"]] == ["sum", "choice"]
    assert data["releases"][0]["count_error"] == pytest.approx(noise)


def test_steps_after_a_private_draft_leave_room_for_its_own_delta():
    both = [dataclasses.replace(STEPS, name=name, share=0.5) for name in ("one", "two")]
    sums = plan(dataclasses.replace(SUM, share=1.0), epsilon=0.1, delta=1e-7).releases
    keys = plan(Keys(name="k", column="x", epsilon=0.1, delta=5e-6)).releases
    for prior in (sums, keys, (*sums, *keys)):
        found = plan(*both, prior=prior)
        assert epsilon_of([*prior, *found.releases], 1e-5) <= 1.0
    with pytest.raises(ValueError, match="used delta up"):
        plan(*both, prior=keys, delta=5e-6)
