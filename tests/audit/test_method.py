"""The audit of a method: reaches what is claimed, and rings when the vault is broken."""

import dataclasses
import json
import math
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.audit import MethodAudit, audit_method
from nacre.audit.canary import worst_canary
from nacre.audit.noise import CERTAIN, Noise
from nacre.audit.pair import simulated
from nacre.audit.run import plan_of, run
from nacre.audit.steps import Observed
from nacre.errors import NacreError
from nacre.methods import find
from nacre.methods.method import AbstractMethod
from nacre.vault import (
    Adjacency,
    Bound,
    Choice,
    Expected,
    Plan,
    Program,
    Segment,
    Stage,
    Steps,
    Sum,
    Teacher,
    Votes,
    loop,
)
from nacre.vault.doors import sum as sum_door
from nacre.vault.doors import votes as votes_door
from nacre.vault.noise import add_discrete_gaussian
from nacre.vault.plan import Planned

PLACES = 80


@dataclasses.dataclass(frozen=True, kw_only=True)
class Asks(AbstractMethod):
    """Asks through four doors and makes nothing of it."""

    title: ClassVar[str] = "Asks"
    paper: ClassVar[str] = "none"
    summary: ClassVar[str] = "none"
    doors: tuple[str, ...] = ("sum",)

    def questions(self, encoder, adjacency, rows):
        share = 1 / len(self.doors)
        one = Bound(segments=(Segment(size=4, norm=1.0, signed=False),), count=0.5)
        two = Bound(segments=(Segment(size=2, norm=1.0, signed=False),) * 2)
        known = {
            "sum": Sum(name="sum", share=share, bound=one),
            "choose": Choice(name="choose", share=share, bound=two, count=3),
            "steps": Steps(
                name="steps", share=share, steps=4, size=PLACES, batch=20, rows=rows,
                stages=(Stage(clip=1.0),),
            ),
            "votes": Votes(name="votes", share=share, queries=200, parts=5, classes=2),
        }  # fmt: skip
        return tuple(known[door] for door in self.doors)

    def learn(self, vault, plan, *, key):
        def job(row, places=4):
            return (row.codes[1] == jnp.arange(places)).astype(jnp.int32)

        for planned in plan.asked:
            question = planned.question
            if isinstance(question, Sum):
                vault.sum(question, job)
            elif isinstance(question, Choice):
                choices = vault.choose(
                    question, lambda row: (2 * jnp.arange(2) + row.codes[::2], jnp.ones(2, int))
                )
                while choices.left:
                    choices(np.array([[0.0, 0.0, 20.0, 20.0]]))
            elif isinstance(question, Votes):
                teacher = Teacher(
                    state=jnp.zeros(5),
                    learn=lambda state, rows, valid, public, key: state,
                    predict=lambda state, query: (query > state).astype(jnp.int32),
                    public=None,
                    query=jnp.zeros(()),
                    capacity=20,
                )
                vault.vote(question, teacher, key=key)(np.linspace(-1, 1, 200, dtype=np.float32))
            else:

                def drawn(shared, earlier, row, key):  # hangs on what the row draws, too
                    return job(row, PLACES) * (1 + jax.random.uniform(key, (PLACES,)))

                program = Program(
                    state=jnp.zeros(PLACES),
                    prepare=lambda state, key: state,
                    per_row=(drawn,),
                    update=lambda state, sums, key: state + sums[0],
                )
                vault.train(question, program, key=key)
        raise AssertionError("All answers were given, so the witness should have left.")


def runs_of(method, pair, count):
    """At so much budget that every run tells its world; without a search for the noise."""
    asked = [
        Planned(question=q, release=q.release(8.0, pair.adjacency), expected=Expected())
        for q in method.questions(pair.encoder, pair.adjacency, 20)
    ]
    plan = Plan(epsilon=1e3, delta=1e-5, adjacency=pair.adjacency, asked=tuple(asked))
    worlds = [[run(method, plan, pair, present=w) for _ in range(count)] for w in (False, True)]
    return plan, worlds


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_sums_of_the_pair_are_as_far_apart_as_the_plan_allows(adjacency):
    pair = simulated("table", adjacency)
    plan, worlds = runs_of(Asks(), pair, 1)
    reached = np.sqrt(worlds[1][0][1].squared_mu)
    assert 0.999 * plan.mu < reached <= plan.mu


@pytest.mark.parametrize("doors", [("sum",), ("steps",)])
def test_evidence_points_to_the_world_that_it_comes_from(doors):
    """At mu = 8 log-likelihood ratios are 64 apart, with a deviation of 8: no luck is needed."""
    _, worlds = runs_of(Asks(doors=doors), simulated("table"), 2)
    without, present = ([seen.answers for seen, _ in world] for world in worlds)
    assert np.mean(present) > np.mean(without)


@pytest.mark.parametrize("door", ["sum", "steps", "votes"])
def test_noise_is_as_large_as_stated_and_too_little_is_noticed(door, monkeypatch):
    count = 4 if door == "sum" else 1  # five numbers a run, or hundreds

    def noise():
        _, worlds = runs_of(Asks(doors=(door,)), simulated("table"), count)
        heard = [witness.drawn for world in worlds for _, witness in world]
        return sum((own for each in heard for own in each.values()), Noise())

    low, high = noise().interval(CERTAIN)
    assert low < 1 < high
    true = loop.discrete_gaussian
    monkeypatch.setattr(loop, "discrete_gaussian", lambda key, size: true(key, size) // 4)
    for module in (sum_door, votes_door):
        monkeypatch.setattr(
            module, "add_discrete_gaussian", lambda x, scale: add_discrete_gaussian(x, scale / 4)
        )
    found = noise()
    low, high = found.interval(CERTAIN)
    assert low < 1 / 4 < high < 1 and found.too_small()


def test_noise_of_few_numbers_is_not_lost_among_many():
    asked = {"sum": Noise(16_000.0, 16_000), "sum, rows": Noise(0.0, 16)}
    audit = object.__new__(MethodAudit)
    object.__setattr__(audit, "noises", asked)
    assert not audit.noise.too_small() and audit.noiseless == ("sum, rows",)
    assert Noise(math.nan, 4).too_small()


def test_the_count_of_numbers_has_no_end():
    seen = Observed(None, None, 0.0, np.float32(-5), np.int32(2**31 - 1), np.int32(1000))
    assert seen.noise == Noise(1000 * (2**31 - 1) - 5.0, 1000 * (2**31 - 1))


def test_evidence_of_choices_is_that_of_their_chances():
    """The blocks move apart by 2 at each choice: a log ratio of at most 2 over the noise each."""
    pair = simulated("table")
    plan, worlds = runs_of(Asks(doors=("choose",)), pair, 2)
    most = 3 * 2 / plan.asked[0].release.noise
    told = [seen.answers for world in worlds for seen, _ in world]
    assert all(0 < abs(each) <= most for each in told)


def test_a_broken_vault_is_refuted(monkeypatch):
    true = Bound.sensitivity
    monkeypatch.setattr(Bound, "sensitivity", lambda self, adjacency: true(self, adjacency) / 64)
    found = audit_method(Asks(), epsilon=1.0, runs=16)
    assert found.reached_mu == pytest.approx(64 * found.claimed_mu, rel=1e-3)
    assert found.shown.epsilon > 1.0
    assert found.refuted


def test_an_audit_goes_on_where_it_stopped(tmp_path):
    file = tmp_path / "audit.jsonl"
    settings = {"epsilon": 1.0, "resume": file}
    found = audit_method(Asks(), runs=8, **settings)
    assert not found.refuted and found.shown.epsilon <= 1.0
    assert [own.numbers for own in found.noises.values()] == [16 * 4, 16]  # sums, and a count
    first = file.read_text().splitlines()
    file.write_text("\n".join(first[:-3]) + '\n{"present": tr')  # the machine stopped here
    again = audit_method(Asks(), runs=9, **settings)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) == 2 + 18
    assert again.canary == found.canary
    with pytest.raises(NacreError, match="another audit"):
        audit_method(Asks(), epsilon=2.0, runs=8, resume=file)


def test_the_canary_climbs():
    pair = simulated("table")
    weak = dataclasses.replace(pair, canary=pair.ordinary[0])
    lengths = [lambda stream: float(stream.whole().rows.numbers[0].sum())]
    assert worst_canary(weak, lengths).canary["age"] == 100
    assert worst_canary(weak, []) is weak


def test_a_real_method_is_audited_to_its_samples():
    pair = simulated("table")
    method = find("merf")().small()
    plan = plan_of(method, pair, epsilon=1.0, delta=1e-5)
    seen, witness = run(method, plan, pair, present=True, samples=True)
    assert 0 <= seen.samples <= 1
    assert 0.99 * plan.mu < np.sqrt(witness.squared_mu) <= plan.mu


@pytest.mark.parametrize("wrong", [{"runs": 2}, {"epsilon": 0}, {"delta": 2.0}, {"jobs": 0}])
def test_what_cannot_be_audited_is_refused(wrong):
    with pytest.raises(NacreError):
        audit_method(Asks(), **{"epsilon": 1.0, "runs": 8} | wrong)
    with pytest.raises(NacreError, match="promises nothing"):
        audit_method("wgan", epsilon=1.0)
