"""Attacks by what is in a program are refused; honest programs are in test_honest_programs.py."""

import collections
import functools

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from jax.custom_batching import custom_vmap
from jax.experimental import pallas as pl
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from tests.privacy.programs import SHAPE, checked
from tests.vaults import open_vault, plain_encoder

from nacre.rows import Row
from nacre.vault import Bound, Segment, Sum
from nacre.vault.loop import Loop, LoopStage
from nacre.vault.tracing import RefusedFunction

SEEN = []


def spy(x):
    SEEN.append(np.asarray(x))


def from_row(impl, words):
    def draw(x, key):
        return jax.random.normal(jax.random.wrap_key_data(x[:words].astype(jnp.uint32), impl=impl))

    return draw


def plain_bits(x, key):
    return jax.lax.rng_bit_generator(x[:4].astype(jnp.uint32), (2,))[1]


@functools.cache
def leaky_generator():
    def bits(key, width, shape):
        jax.debug.callback(spy, key)
        return jnp.zeros(shape, f"uint{width}")

    return jax.extend.random.define_prng_impl(
        key_shape=(2,),
        seed=lambda seed: jnp.full(2, seed, jnp.uint32),
        split=lambda key, shape: jnp.broadcast_to(key, (*shape, 2)),
        random_bits=bits,
        fold_in=lambda key, data: key + data.astype(jnp.uint32),
        name="leaky",
    )


def own_generator(x, key):
    return jax.random.bits(
        jax.random.wrap_key_data(x[:2].astype(jnp.uint32), impl=leaky_generator())
    )


def own_key_as_constant():
    key = jax.random.key(1, impl=leaky_generator())
    return lambda x, _: jax.random.bits(jax.random.fold_in(key, x[0]))


@custom_vmap
def averaged(x):
    return x


@averaged.def_vmap
def _averaged_rule(size, batched, x):
    return jnp.broadcast_to(x.mean(0), x.shape), True


@jax.custom_jvp
def with_jvp(x):
    return averaged(x)


with_jvp.defjvps(lambda t, ans, x: t)


@jax.custom_vjp
def with_vjp(x):
    jax.debug.callback(spy, x)
    return x


with_vjp.defvjp(lambda x: (with_vjp(x), None), lambda kept, g: (g,))


@jax.custom_vjp
def callback_behind(x):
    return x * 1.0


callback_behind.defvjp(
    lambda x: (x * 1.0, x), lambda x, g: (jax.pure_callback(lambda y: y, x, x) * g,)
)


def kernel(x, key):
    def double(x_ref, out_ref):
        out_ref[...] = x_ref[...] * 2

    return pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(
        x
    )


def primitive_of_ones_own(name):
    own = Primitive(name)
    own.def_abstract_eval(lambda x: x)
    own.def_impl(lambda x: x)
    mlir.register_lowering(own, mlir.lower_fun(lambda x: x, multiple_results=False))
    batching.primitive_batchers[own] = lambda args, dims: (args[0].sum(0) + 0 * args[0], dims[0])
    return lambda x, key: own.bind(x)


def solve(x, key):
    return jnp.linalg.cholesky(jnp.eye(8) + jnp.outer(x, x) * 1e-9)[0]


ATTACKS = {
    "rbg key of a row": from_row("rbg", 4),
    "unsafe rbg key of a row": from_row("unsafe_rbg", 4),
    "rng_bit_generator": plain_bits,
    "own generator": own_generator,
    "own generator, constant key": lambda x, key: own_key_as_constant()(x, key),
    "custom_vmap in custom_jvp": lambda x, key: with_jvp(x * 1.0),
    "callback in custom_vjp": lambda x, key: with_vjp(x * 1.0),
    "callback in a backward rule": lambda x, key: jax.grad(lambda y: callback_behind(y).sum())(
        x * 1.0
    ),
    "callback in scan": lambda x, key: jax.lax.scan(lambda c, y: (c, with_vjp(y)), 0.0, x * 1.0)[1],
    "callback in a branch": lambda x, key: jax.lax.switch(x[0], [with_vjp, lambda y: y], x * 1.0),
    "pallas": kernel,
    "ffi": lambda x, key: jax.ffi.ffi_call("anything", x, vmap_method="broadcast_all")(x),
    "own primitive": primitive_of_ones_own("summed"),
    "own primitive under a known name": primitive_of_ones_own("neg"),
    "own primitive in jit": lambda x, key: jax.jit(primitive_of_ones_own("jit"))(x, key),
    "approx_max_k": lambda x, key: jax.lax.approx_max_k(x * 1.0, 2)[0],
    "linear algebra": solve,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_refused(name):
    SEEN.clear()
    with pytest.raises(RefusedFunction, match="not on the list|random keys|side effects"):
        checked(ATTACKS[name])
    jax.effects_barrier()
    assert not SEEN


def test_what_the_rbg_key_of_a_row_would_have_done():
    keys = jnp.arange(8, dtype=jnp.uint32).reshape(2, 4)
    draw = jax.vmap(lambda k: jax.random.normal(jax.random.wrap_key_data(k, impl="rbg")))
    # The second row is the same; what it draws is not.
    assert draw(keys)[1] != draw(keys.at[0].add(1))[1]


def test_keys_of_another_kind_are_not_given_to_rows():
    def per_row(shared, earlier, row, key):
        return jax.random.normal(key, (2,))

    loop = Loop(
        prepare=lambda state, key: None,
        stages=(LoopStage(per_row=per_row, clip=1.0),),
        update=lambda state, sums, key: sums[0],
        threshold=2**31,
        multiplier=1.0,
        chunk=64,
    )
    loop.checked(jnp.zeros(2), SHAPE, jax.random.key(0, impl="rbg"))  # the vault's own instead
    handed_on = lambda shared, earlier, row, key: jax.random.normal(shared, (2,))  # noqa: E731
    wrong = Loop(**(vars(loop) | {"prepare": lambda state, key: key}))
    wrong = Loop(**(vars(wrong) | {"stages": (LoopStage(per_row=handed_on, clip=1.0),)}))
    with pytest.raises(RefusedFunction, match="random keys"):
        wrong.checked(jnp.zeros(2), SHAPE, jax.random.key(0, impl="rbg"))


def test_a_rule_that_nobody_asks_for_is_left_behind():
    @jax.custom_jvp
    def honest(x):
        return x * 2

    @honest.defjvp
    def rule(primals, tangents):
        SEEN.append("called")
        return honest(primals[0]), tangents[0]

    SEEN.clear()
    program = checked(lambda x, key: jax.nn.relu(honest(x * 1.0)))
    assert not any("custom" in e.primitive.name for e in program.jaxpr.eqns)
    rows = jnp.arange(24, dtype=jnp.int32).reshape(3, 8)
    keys = jax.random.split(jax.random.key(0), 3)
    (found,) = jax.vmap(program)(rows, jnp.zeros((3, 2), jnp.int32), keys)
    np.testing.assert_array_equal(found, rows * 2.0)
    assert not SEEN


Pair = collections.namedtuple("Pair", ["indices", "values"])


class Spying(Pair):
    """Sees what it is made of, as every tree of JAX's does."""

    def __new__(cls, indices, values):
        SEEN.append(values)
        return super().__new__(cls, indices, values)


@jax.tree_util.register_pytree_node_class
class Report:
    def __init__(self, value):
        SEEN.append(value)
        self.value = value

    def tree_flatten(self):
        return (self.value,), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def is_mapped(value):
    return "Batch" in type(value).__name__


def test_classes_of_the_caller_never_hold_rows_in_sum():
    question = Sum(name="test", share=1.0, bound=Bound(segments=(Segment(size=2, norm=1e5),)))
    table = pa.table({"a0": [1, 2], "a1": [3, 4]})
    vault = open_vault(table, plain_encoder(2).schema, question)
    SEEN.clear()
    for wrapped in (
        lambda row: Spying(jnp.arange(2), row.numbers),
        lambda row: Report(row.numbers),
        lambda row: [jnp.arange(2), row.numbers],
    ):
        with pytest.raises(RefusedFunction, match="one vector"):
            vault.sum(question, wrapped)
    assert not any(is_mapped(value) for value in SEEN) and not vault.releases


def test_classes_of_the_caller_never_hold_rows_in_train():
    def per_row(shared, earlier, row, key):
        return Report(row.numbers / 65536.0)

    loop = Loop(
        prepare=lambda state, key: Report(state),
        stages=(LoopStage(per_row=per_row, clip=10.0),),
        update=lambda state, sums, key: sums[0].value,
        threshold=2**32 - 1,
        multiplier=0.0,
        chunk=64,
    ).checked(jnp.zeros(8), SHAPE, jax.random.key(0))
    SEEN.clear()
    rows = Row(jnp.full((3, 8), 65536, jnp.int32), jnp.zeros((3, 2), jnp.int32))
    secret = jax.random.split(jax.random.key(1))
    state = jnp.zeros(8)
    found = loop.compiled()(
        state, rows, jnp.ones(3, bool), secret, jax.random.key(2), jnp.arange(1, dtype=jnp.int32)
    )
    np.testing.assert_allclose(found, 3, rtol=1e-6)
    assert SEEN and not any(is_mapped(value) for value in SEEN)


def test_constants_belong_to_the_vault():
    weights = np.ones(8, np.int32)
    program = checked(lambda x, key: x * jnp.asarray(weights))
    weights[:] = 10**6
    numbers = jnp.ones(8, jnp.int32)
    (found,) = program(numbers, jnp.zeros(2, jnp.int32), jax.random.key(0))
    np.testing.assert_array_equal(found, 1)
    with pytest.raises(RefusedFunction, match="surrounding"):
        jax.jit(lambda w: checked(lambda x, key: x * w).shape)(weights)
