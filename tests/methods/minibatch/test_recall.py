"""What noisy steps release is remembered as it was released, and trained on again."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.vaults import open_vault

import nacre
from nacre.embed.spectrum import RowSpectrum
from nacre.methods.minibatch.features import FixedEmbedding, FreshWaves, features_program
from nacre.methods.minibatch.memory import Memory
from nacre.methods.minibatch.recall import Recall, Recalled
from nacre.methods.minibatch.student import make_student
from nacre.nets.minimize import Schedule
from nacre.nets.vector import RowVector
from nacre.rows import TableEncoder
from nacre.schema import Categorical, Code, Integer, Layout, Number, Schema
from nacre.vault import Adjacency

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

VECTOR = RowVector(Layout(numbers=(Number("a", 100),), codes=(Code("y", 2),)), label=0)
FRESH = FreshWaves(RowSpectrum(1, (0.3,)), 4)
FIXED = FixedEmbedding(np.ones((4, 1), np.float32), 1, 0)
EXPECTED = np.array([10.0, 30.0])
STEPS = 5


def student():
    return make_student(
        VECTOR,
        parallel=False,
        latent=2,
        each=16,
        schedule=Schedule(STEPS, 0.01),
        weights=np.ones(2),
        rng=np.random.default_rng(0),
    )


def stepped(features, slots):
    """The last state, and of each step what it read through and the sums it was handed."""
    program = features_program(student(), features, EXPECTED, slots=slots, key=jax.random.key(0))
    state, seen, update = program.state, [], jax.jit(program.update)
    for step in range(STEPS):
        key = jax.random.key(step)
        sums = jax.random.normal(key, (2, 8))
        seen.append((program.prepare(state, key), sums))
        state = update(state, (sums,), key)
    return state, seen


def test_the_last_releases_are_remembered_as_they_were_with_their_frequencies():
    state, seen = stepped(FRESH, slots=3)
    for step in (2, 3, 4):
        frequencies, sums = seen[step]
        np.testing.assert_array_equal(FRESH.draw(state.memory.keys[step % 3]), frequencies)
        means = state.memory.means[step % 3]
        np.testing.assert_allclose(means, sums / EXPECTED[:, None], rtol=1e-6)
    assert len({float(frequencies[0, 0]) for frequencies, _ in seen}) == STEPS, "all are fresh"


def test_of_the_same_features_the_mean_of_all_releases_is_remembered():
    state, seen = stepped(FIXED, slots=1)
    mean = np.mean([sums for _, sums in seen], axis=0) / EXPECTED[:, None]
    np.testing.assert_allclose(state.memory.means[0], mean, atol=1e-6)


def test_without_recall_nothing_is_kept_and_the_steps_are_the_same():
    (without, _), (state, _) = stepped(FRESH, slots=0), stepped(FRESH, slots=STEPS)
    assert without.memory == ()
    assert jax.tree.leaves(state.memory)
    # Rows, as biases before a batch norm drift by rounding alone, and change nothing.
    made, same, first = (
        np.asarray(student().rows(arrays, jax.random.key(1)))
        for arrays in (without.arrays, state.arrays, [n.network.arrays for n in student().networks])
    )
    np.testing.assert_allclose(made, same, atol=1e-3)
    assert np.abs(made - first).max() > 0.02


def test_all_releases_have_their_turn():
    memory = Memory(jax.random.split(jax.random.key(0), 5), jnp.arange(5.0)[:, None, None])
    loss = Recalled(memory, lambda arrays, key, means, own: (key, means))
    seen = [loss(None, None, jnp.asarray(step), None) for step in range(10)]
    assert [float(means[0, 0]) for _, means in seen] == [*range(5)] * 2
    assert all(key == memory.keys[int(means[0, 0])] for key, means in seen)


def test_recall_moves_rows_to_where_the_releases_say():
    """Both releases say that class 0 is at .2 and class 1 at .8."""
    keys = jax.random.split(jax.random.key(1), 2)
    means = jnp.stack([FRESH(FRESH.draw(key), jnp.array([[0.2], [0.8]])) for key in keys])
    one, reported = student(), []
    state = one.start(lambda arrays, key: key, keys[0])._replace(memory=Memory(keys, means))
    recall = Recall(FRESH, 150)
    after = recall(one, state, reported.append, key=jax.random.key(2))
    before, rows = (
        np.asarray(one.rows(each.arrays, jax.random.key(3)))[:, :, 0] for each in (state, after)
    )
    wanted = np.array([0.2, 0.8])
    assert np.abs(before.mean(1) - wanted).max() > 0.15
    assert np.abs(rows.mean(1) - wanted).max() < 0.05
    assert reported[-1] == 1.0


SCHEMA = Schema({"a": Integer(low=0, high=100), "y": Categorical(values=("n", "p"))}, label="y")


@pytest.fixture
def caught(monkeypatch):
    """The states that recall is handed."""
    states = []
    call = Recall.__call__

    def keep(self, student, state, on_progress, *, key):
        states.append((self, state))
        return call(self, student, state, on_progress, key=key)

    monkeypatch.setattr(Recall, "__call__", keep)
    return states


def learned(method, rows):
    codes = np.arange(rows) % 2
    ticks = np.where(codes, 80, 20) + np.arange(rows) % 7
    table = SCHEMA.decode(SCHEMA.layout.encoded(ticks[:, None], codes[:, None]))
    questions = method.questions(TableEncoder.of(SCHEMA), Adjacency.ADD_REMOVE, rows)
    vault = open_vault(table, SCHEMA, *questions, epsilon=1e6, scale=10.0)
    plan = dataclasses.replace(vault.plan, rows=rows)
    method.learn(vault, plan, key=jax.random.key(0))
    return ticks / 100, codes


def test_what_is_recalled_is_what_the_vault_released(caught):
    """With hardly any noise, and all rows in each batch: the classes' own mean features."""
    method = nacre.Functional(
        release="features", frequencies=6, blocks=1, steps=3, sample=300, batch=32, recall=2
    )
    x, y = learned(method, 300)
    ((recall, state),) = caught
    assert state.memory.means.shape == (3, 2, 12)
    for key, means in zip(state.memory.keys, state.memory.means, strict=True):
        waves = recall.features(recall.features.draw(key), jnp.asarray(x[:, None], jnp.float32))
        wanted = np.stack([np.asarray(waves)[y == place].mean(0) for place in range(2)])
        # The noise of a mean is about .005; other keys or sums are off by some .3.
        np.testing.assert_allclose(means, wanted, atol=0.05)


def test_zero_and_the_papers_schedules_recall_nothing(caught):
    learned(
        nacre.Functional(release="features", recall=0, steps=2, sample=50, frequencies=8, batch=16),
        300,
    )
    assert not caught
    assert nacre.Functional.as_published().recall == nacre.MERF.as_published().recall == 0
