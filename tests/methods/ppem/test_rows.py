"""What PPEM asks of a row: bounds hold and are reached, rows stay apart, constants are public."""

import dataclasses
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest

import nacre
from nacre.methods.ppem.conditional import ConditionalPhase
from nacre.methods.ppem.generator import Net
from nacre.methods.ppem.learn import statistic_noise
from nacre.methods.ppem.marginal import MarginalPhase
from nacre.methods.ppem.networks import conditional_layers, ensemble, marginal_layers
from nacre.methods.ppem.ppem import PPEM
from nacre.methods.ppem.scaling import schema_scaling
from nacre.methods.ppem.stein import Statistic
from nacre.nets.descent import first_weights
from nacre.nets.layers import freeze
from nacre.rows import Row, Stream, TableEncoder
from nacre.schema import Categorical, Integer, Real, Schema
from nacre.vault import Adjacency, Expected, Plan, Vault
from nacre.vault.loop import Loop, LoopStage
from nacre.vault.plan import Planned

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SCHEMA = Schema(
    {
        "age": Integer(low=0, high=99),
        "height": Real(low=0, high=2, decimals=2, nullable=True),
        "job": Categorical(values=("a", "b", "c")),
        "rich": Categorical(values=("no", "yes")),
    },
    label="rich",
)
ENCODER = TableEncoder(SCHEMA)
KEY = jax.random.key(0)
METHOD = dataclasses.replace(PPEM(protect=[("age", "job"), ("age",)]).small(), anchors=8)
ONE = dataclasses.replace(METHOD, protect=("age",))  # for fits, as fewer energies compile sooner
ENERGIES = 3  # two sets, and their union
PHASES = ("marginal", "conditional")


def questions(method=METHOD, rows=1000):
    found = method.questions(ENCODER, Adjacency.ADD_REMOVE, rows)
    return {question.name: question for question in found}


@functools.cache
def program(phase, method=METHOD):
    rng = np.random.default_rng(0)
    parts = method.parts(ENCODER)
    shared = {"method": method, "parts": parts, "scaling": schema_scaling(2), "expected": 64}
    layers = marginal_layers(method, parts)
    first = first_weights(layers, rng)
    if phase == "conditional":
        arrays = freeze(layers, first, rng.standard_normal((64, method.latent), np.float32))
        own = first_weights(conditional_layers(method, parts), rng)
        return ConditionalPhase(marginal=Net(layers, tuple(arrays)), **shared).program(own, rng)
    energies = ensemble(method, parts)
    critical = (3.84,) * len(energies.energies)
    statistic = Statistic(method.statistic_most, 64, 0.0, critical, method.penalty)
    return MarginalPhase(ensemble=energies, statistic=statistic, **shared).program(first, rng)


def some_rows(n, seed, extreme=False):
    rng = np.random.default_rng(seed)
    layout = ENCODER.layout
    most = np.array([number.positions for number in layout.numbers])
    numbers = rng.integers(0, most, (n, len(most)), endpoint=True)
    if extreme:
        numbers = np.where(rng.random(numbers.shape) < 0.5, 0, most)
    codes = rng.integers(0, layout.sizes, (n, len(layout.sizes)))
    return Row(jnp.asarray(numbers, jnp.int32), jnp.asarray(codes, jnp.int32))


@functools.cache
def shared(phase, method=METHOD):
    """What is public in the first step."""
    found = program(phase, method)
    return jax.jit(found.prepare)(found.state, KEY)


@functools.cache
def sums_of(phase):
    """A function of (rows, valid): the sums of every stage of one step on all rows, no noise."""
    found, stages = program(phase, ONE), questions(ONE)[phase].stages
    earlier = ()
    for function in found.per_row:
        shape = jax.eval_shape(function, shared(phase, ONE), earlier, ENCODER.shape, KEY)
        earlier = (*earlier, shape)
    zeros = jax.tree.map(lambda shape: jnp.zeros(shape.shape), earlier)
    state = (found.state, zeros)
    loop = Loop(
        prepare=lambda state, key: found.prepare(state[0], key),
        stages=tuple(
            LoopStage(per_row=function, clip=stage.clip, share=stage.share)
            for function, stage in zip(found.per_row, stages, strict=True)
        ),
        update=lambda state, sums, key: (state[0], sums),
        threshold=2**32 - 1,
        multiplier=0.0,
        chunk=found.chunk,
    )
    run = loop.checked(state, ENCODER.shape, KEY).compiled()
    keys = jax.random.split(jax.random.key(1)), KEY, jnp.arange(1, dtype=jnp.int32)
    return lambda rows, valid: run(state, rows, jnp.asarray(valid), *keys)[1]


def flat(tree):
    return np.concatenate([np.asarray(leaf, np.float64).ravel() for leaf in jax.tree.leaves(tree)])


@pytest.mark.parametrize("phase", PHASES)
def test_a_rows_contribution_does_not_move_when_another_changes(phase):
    # The later stage is compared where the earlier one's answer is the same: of one row alone it
    # follows from the released sums, which are public.
    summed, clips = sums_of(phase), [stage.clip for stage in questions(ONE)[phase].stages]
    rows = some_rows(3, seed=1)

    def first(kept):
        return flat(summed(rows, [place in kept for place in range(3)])[0])

    alone = [first((place,)) for place in range(3)]
    assert all(0 < np.linalg.norm(each) <= clips[0] * (1 + 1e-6) for each in alone)
    assert np.linalg.norm(alone[1] - alone[2]) > 1e-4
    for other in (1, 2):
        np.testing.assert_allclose(first((0, other)) - alone[other], alone[0], atol=1e-5)


def test_a_gradient_given_the_released_sums_is_a_function_of_its_own_row():
    found = program("marginal")
    few, enough = (jnp.asarray([[total, 9.0]] * ENERGIES) for total in (3.0, 12.0))
    rows = some_rows(2, seed=3)
    one = Row(rows.numbers[0], rows.codes[0])
    gradient = jax.jit(found.per_row[1])
    calm, other = (flat(gradient(shared("marginal"), (sums,), one, KEY)) for sums in (enough, few))
    assert np.abs(calm - other).max() > 1e-6, "the penalty's slopes come from the released sums"


def test_stein_sums_never_exceed_their_bound_and_reach_it():
    found, clip = program("marginal"), questions()["marginal"].stages[0].clip
    assert clip == pytest.approx(math.sqrt(2 * ENERGIES))

    @jax.jit
    def contributions(scale, rows):
        """With weights that are `scale` times as large: energies as steep as can be."""
        state = {**found.state, "energy": jax.tree.map(lambda w: scale * w, found.state["energy"])}
        public = found.prepare(state, KEY)
        return jax.vmap(lambda row: found.per_row[0](public, (), row, KEY))(rows)

    def largest(scale, rows):
        sums = contributions(scale, rows)
        return float(jnp.sqrt(jnp.sum(sums.reshape(len(sums), -1) ** 2, axis=1)).max())

    norms = [
        largest(scale, some_rows(64, seed, seed > 1)) for seed in range(4) for scale in (1, 50)
    ]
    assert max(norms) <= clip * (1 + 1e-6)
    assert max(norms) == pytest.approx(clip)  # |w| = 1 for every energy


@pytest.mark.parametrize("phase", PHASES)
def test_gradients_are_clipped_to_their_bound_and_reach_it(phase):
    summed, stage = sums_of(phase), questions(ONE)[phase].stages[-1]
    rows = some_rows(16, seed=5, extreme=True)
    norms = []
    for place in range(16):
        last = summed(rows, [place == other for other in range(16)])[-1]
        norms.append(np.linalg.norm(flat(last)))
    assert max(norms) <= stage.clip * (1 + 1e-6)
    assert max(norms) == pytest.approx(stage.clip)


@pytest.mark.parametrize("phase", PHASES)
def test_as_many_numbers_are_released_as_are_announced(phase):
    found, earlier = program(phase), ()
    for function in found.per_row:
        earlier = (*earlier, jax.eval_shape(function, shared(phase), earlier, ENCODER.shape, KEY))
    sizes = [math.prod(shape.shape) for shape in jax.tree.leaves(earlier)]
    assert sum(sizes) == questions()[phase].size


def test_all_of_it_is_one_budget_and_both_stages_one_event():
    asked = questions()
    assert list(asked) == ["histograms", "class means", *PHASES]
    assert sum(question.share for question in asked.values()) == pytest.approx(1)
    plan = planned(asked.values())
    noise = statistic_noise(asked["marginal"], plan, 1000)
    first, second = asked["marginal"].stages
    release = plan.find(asked["marginal"]).release
    # 1/sigma^2 = (clip/s1)^2 + (C/s2)^2.
    other = second.clip * release.noise / math.sqrt(second.share)
    effective = ((first.clip / noise) ** 2 + (second.clip / other) ** 2) ** -0.5
    assert effective == pytest.approx(release.noise)


def planned(asked, rows=1000):
    """A plan at a fixed scale, without the search for the largest that a budget allows."""
    adjacency = Adjacency.ADD_REMOVE
    return Plan(
        epsilon=50.0,
        delta=1e-6,
        adjacency=adjacency,
        asked=tuple(
            Planned(question=q, release=q.release(1.0, adjacency), expected=Expected())
            for q in asked
        ),
        rows=rows,
    )


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    rich = rng.random(n) < 0.3
    return pa.table(
        {
            "age": np.clip(rng.normal(np.where(rich, 60, 30), 8), 0, 99).astype(int),
            "height": pa.array(rng.random(n).round(2) + 0.5, mask=rng.random(n) < 0.2),
            "job": rng.choice(["a", "b", "c"], n),
            "rich": np.where(rich, "yes", "no"),
        }
    )


def test_one_row_more_changes_nothing_that_is_said_in_the_clear():
    """All of it is in the plan for 200 rows, which was made without any."""
    plan = planned(questions(ONE, 200).values(), rows=200)
    vault = Vault(Stream(ENCODER, people(201)), plan)
    ONE.learn(vault, plan, key=KEY)
    announced = [asked.release.to_dict() for asked in plan.asked]
    assert [release.to_dict() for release in vault.releases] == announced
    assert [release["name"] for release in announced] == list(questions(ONE))


def test_with_noise_alpha_lmdp_is_said_beside_the_guarantee():
    releases = planned(questions(ONE).values()).releases
    found = nacre.Guarantee(
        epsilon=2.0,
        delta=1e-6,
        adjacency=Adjacency.ADD_REMOVE,
        releases=releases,
        hidden=ONE.protected,
    )
    assert str(found).startswith("(ε = 2, δ = 1e-06)")
    assert str(found).endswith("beside it α-LMDP was asked for, of age (α = 0.05)")
    assert "protects no single row" in found.assumptions[-1]
    assert dataclasses.replace(ONE, penalty=0.0).protected == ()


def test_a_delta_of_one_over_the_rows_is_refused_before_anything_is_spent(tmp_path):
    ledger = nacre.Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=5, delta=0.009)
    with pytest.raises(nacre.NacreError, match=r"not below 1/.*Nothing was spent"):
        nacre.fit(
            people(500),
            SCHEMA,
            method=ONE,
            epsilon=1,
            delta=1 / 500,
            adjacency="replace-one",
            ledger=ledger,
            dataset="people",
        )
    assert not ledger.history("people")


def test_noise_in_the_marginal_model_alone_is_never_a_guarantee():
    method = dataclasses.replace(ONE, noised="marginal", penalty=0.0)
    with pytest.raises(nacre.NacreError, match="protects no whole row"):
        nacre.plan(SCHEMA, method=method, epsilon=1, delta=1e-6, rows=200)
    with pytest.raises(nacre.NacreError, match="public number of rows"):
        nacre.plan(SCHEMA, method=method, epsilon=math.inf)
    with pytest.raises(nacre.NacreError, match="not below"):
        nacre.plan(
            SCHEMA,
            method=dataclasses.replace(method, marginal_delta=1 / 200),
            epsilon=math.inf,
            rows=200,
        )
    plan = nacre.plan(SCHEMA, method=method, epsilon=math.inf, rows=200)
    noisy = [release for release in plan.releases if release.private]
    assert [release.name for release in noisy] == ["protected histograms", "marginal"]
    assert all(release.noise > 0 for release in noisy)
    # What is bought to scale protected numbers is a part of what the marginal model may cost.
    assert sum(release.epsilon for release in noisy) == pytest.approx(1.0)
    assert sum(release.delta for release in noisy) == pytest.approx(1e-6)
    by_schema = dataclasses.replace(method, scale="schema")
    *_, marginal, _ = nacre.plan(SCHEMA, method=by_schema, epsilon=math.inf, rows=200).releases
    assert (marginal.name, marginal.epsilon, marginal.delta) == ("marginal", 1.0, 1e-6)
    found = nacre.Guarantee(
        epsilon=math.inf, delta=1.0, adjacency=plan.adjacency, releases=plan.releases
    )
    said = str(found)
    assert said.startswith("NOT PRIVATE: noise in 'protected histograms', 'marginal' only")
    said = " ".join(found.assumptions)
    both = "'protected histograms' and 'marginal' only, which by itself costs (ε = 1, δ = 1e-06)"
    assert "protects no whole row" in said and both in said
    assert nacre.Guarantee.from_dict(found.to_dict()) == found
    with pytest.raises(nacre.NacreError, match="no guarantee to verify"):
        found.verify()
