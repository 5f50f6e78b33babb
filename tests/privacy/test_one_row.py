"""Functions of one row: what would see two rows, or carry one out, is refused before any charge."""

import ctypes

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from jax.custom_batching import custom_vmap, sequential_vmap
from jax.experimental import checkify, io_callback
from tests.vaults import open_vault, plain_encoder

from nacre.rows import Row
from nacre.schema import Integer, Schema
from nacre.vault import Bound, Program, Segment, Steps, Sum
from nacre.vault.doors import steps as steps_door
from nacre.vault.doors import sum as sum_door
from nacre.vault.loop import Loop, LoopStage
from nacre.vault.tracing import RefusedFunction

SCHEMA = Schema(columns={"a": Integer(low=0, high=9), "b": Integer(low=0, high=9)})
QUESTION = Sum(name="test", share=0.5, bound=Bound(segments=(Segment(size=2, norm=1e5),)))
TRAINING = Steps(name="training", share=0.5, steps=1, batch=1, size=2, rows=10)
SHAPE = plain_encoder(2).shape
SEEN = []


@custom_vmap
def centered(x):
    return x


@centered.def_vmap
def _centered_rule(size, batched, x):
    return x - x.sum(0) // size, True


@sequential_vmap
def one_after_another(x):
    return x


def spy(x):
    SEEN.append(np.asarray(x))


def after_printing(x):
    jax.debug.print("{}", x)
    return x


def after_callback(x):
    jax.debug.callback(spy, x)
    return x


def after_check(x):
    checkify.check(x[0] > 0, "row {}", x[0])
    return x


def within_cond(x):
    return jax.lax.cond(x[0] > 0, after_callback, lambda y: y, x)


def within_loop(x):
    return jax.lax.fori_loop(0, 2, lambda _, y: after_callback(y), x)


def pure_callback(x):
    return jax.pure_callback(lambda y: y, x, x, vmap_method="sequential")


def outside_world(x):
    return jax.ffi.ffi_call("anything", x)(x)


def stored(x):
    STORE[...] = x
    return x


STORE = jax.new_ref(jnp.zeros(2, jnp.int32))

REFUSED = {
    "psum": lambda x: jax.lax.psum(x, "batch"),
    "pmean": lambda x: x - jax.lax.pmean(x, "batch"),
    "all_gather": lambda x: jax.lax.all_gather(x, "batch").sum(0),
    "custom_vmap": centered,
    "sequential_vmap": one_after_another,
    "print": after_printing,
    "debug.callback": after_callback,
    "io_callback": lambda x: io_callback(lambda y: y, x, x),
    "pure_callback": pure_callback,
    "callback in cond": within_cond,
    "callback in loop": within_loop,
    "callback in jit": lambda x: jax.jit(after_callback)(x),
    "callback in remat": lambda x: jax.checkpoint(after_callback)(x),
    "checkify": after_check,
    "foreign function": outside_world,
    "mutable array": stored,
    "numpy": lambda x: np.asarray(x),
    "python number": lambda x: x * int(x[0]),
    "python branch": lambda x: x if x[0] > 0 else -x,
    "file": lambda x: (ctypes.c_int(x[0]), x)[1],
}


@pytest.fixture
def vault(monkeypatch):
    def no_noise(*_):
        pytest.fail("noise was drawn")

    def no_charge(release):
        pytest.fail("something was charged")

    monkeypatch.setattr(sum_door, "add_discrete_gaussian", no_noise)
    monkeypatch.setattr(steps_door, "system_key", no_noise)
    rows = pa.table({"a": list(range(10)), "b": list(range(10))})
    return open_vault(rows, SCHEMA, QUESTION, charge=no_charge)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_sum(vault, name):
    SEEN.clear()
    with pytest.raises((RefusedFunction, TypeError)):
        vault.sum(QUESTION, lambda row: REFUSED[name](row.numbers))
    assert not SEEN and not vault.releases
    assert not np.asarray(STORE[...]).any()


def loop_of(per_row, **more):
    settings = {"threshold": 2**31, "multiplier": 1e-4, "chunk": 64} | more
    return Loop(
        prepare=lambda state, key: state,
        stages=(LoopStage(per_row=per_row, clip=1.0),),
        update=lambda state, sums, key: sums[0],
        **settings,
    )


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_train(name):
    SEEN.clear()
    loop = loop_of(lambda shared, earlier, row, key: REFUSED[name](row.numbers) * 1.0)
    with pytest.raises((RefusedFunction, TypeError)):
        loop.checked(jnp.zeros(2), SHAPE, jax.random.key(0))
    assert not SEEN


def test_a_refusal_by_train_comes_before_the_charge(monkeypatch):
    monkeypatch.setattr(steps_door, "system_key", lambda: pytest.fail("a key was drawn"))
    program = Program(
        state=jnp.zeros(2),
        prepare=lambda state, key: state,
        per_row=(lambda s, e, row, k: jax.lax.pmean(row.numbers * 1.0, "i"),),
        update=lambda state, sums, key: sums[0],
    )
    charged = []
    rows = pa.table({"a": list(range(10)), "b": list(range(10))})
    vault = open_vault(rows, SCHEMA, TRAINING, charge=charged.append, scale=0.1)
    with pytest.raises(RefusedFunction, match="LayerNorm"):
        vault.train(TRAINING, program, key=jax.random.key(0))
    assert not charged and not vault.releases


def ask(features, question=QUESTION):
    rows = pa.table({"a": [1, 2, 3], "b": [4, 5, 6]})
    return open_vault(rows, SCHEMA, question).sum(question, features)


def test_a_function_that_changes_its_mind_is_called_once():
    calls, seen = [], []

    def fickle(row):
        calls.append(1)
        if len(calls) > 1:
            jax.debug.callback(seen.append, row.numbers)
        return row.numbers

    ask(fickle)
    assert calls == [1] and not seen


def test_a_stored_row_is_worth_nothing():
    kept = []

    def thief(row):
        kept.append(row.numbers)
        return row.numbers

    ask(thief)
    assert len(kept) == 1
    for act in (np.asarray, lambda x: jnp.sum(x).item(), lambda x: int(x[0]), lambda x: x + 1):
        with pytest.raises((jax.errors.JAXTypeError, TypeError)):
            act(kept[0])


def test_training_runs_checked_programs_only_and_update_cannot_use_a_stored_row():
    kept = []

    def thief(shared, earlier, row, key):
        kept.append(row.numbers)
        return row.numbers * 1.0

    unchecked = loop_of(thief)
    rows = Row(jnp.ones((5, 2), jnp.int32), jnp.ones((5, 0), jnp.int32))
    secret = jax.random.split(jax.random.key(1))
    arguments = (jnp.zeros(2), rows, np.ones(5, bool), secret, jax.random.key(2))
    with pytest.raises(RefusedFunction), jax.enable_x64(True):
        unchecked.compiled()(*arguments, range(1))
    loop = Loop(
        prepare=unchecked.prepare,
        stages=unchecked.stages,
        update=lambda state, sums, key: kept[-1] * 1.0 if kept else sums[0],
        threshold=2**31,
        multiplier=1.0,
        chunk=64,
    )
    with pytest.raises(jax.errors.UnexpectedTracerError), jax.enable_x64(True):
        checked = loop.checked(arguments[0], SHAPE, jax.random.key(0))
        checked.compiled()(*arguments, range(1))


def test_honest_functions_pass():
    def layer_norm(row):
        x = row.numbers / 9.0
        return (x - x.mean()) / jnp.sqrt(x.var() + 1e-5)

    bound = Bound(segments=(Segment(size=2, norm=2.0),))
    sums = ask(layer_norm, Sum(name="test", share=1.0, bound=bound))
    assert sums.values.shape == (1, 2)
