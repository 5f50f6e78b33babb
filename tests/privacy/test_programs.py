"""Which programs the vault runs: attacks by what is in a program are refused, honest ones pass."""

import collections
import functools

import equinox as eqx
import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import optax
import pyarrow as pa
import pytest
from jax.custom_batching import custom_vmap
from jax.experimental import pallas as pl
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from tests.vaults import open_vault, plain_encoder

from nacre.rows import Row
from nacre.vault import Bound, Segment, Sum
from nacre.vault.exact_sum import ExactSum
from nacre.vault.loop import Loop, LoopStage
from nacre.vault.tracing import RefusedFunction, trace

ENCODER = plain_encoder(8, 2)
SHAPE = ENCODER.shape
SEEN = []


def spy(x):
    SEEN.append(np.asarray(x))


def key_shape():
    return jax.eval_shape(lambda: jax.random.key(0, impl="threefry2x32"))


def checked(function):
    """The program of a function of (numbers, key)."""
    return trace(lambda row, key: function(row.numbers, key), SHAPE, key_shape())


# -- attacks ------------------------------------------------------------------------------------


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


# -- honest programs ----------------------------------------------------------------------------

KEY = jax.random.key(7)
NETWORKS = {
    name: eqx.nn.MLP(8, 3, 16, 2, activation=activation, key=KEY)
    for name, activation in {
        "relu": jax.nn.relu,
        "leaky relu": jax.nn.leaky_relu,
        "softplus": jax.nn.softplus,
        "gelu": jax.nn.gelu,
        "tanh": jnp.tanh,
        "silu": jax.nn.silu,
    }.items()
}


class Convolutional(eqx.Module):
    first: eqx.nn.Conv2d
    norm: eqx.nn.GroupNorm
    pool: eqx.nn.MaxPool2d
    last: eqx.nn.Linear

    def __init__(self, key):
        self.first = eqx.nn.Conv2d(1, 4, 3, padding=1, key=key)
        self.norm = eqx.nn.GroupNorm(2, 4)
        self.pool = eqx.nn.MaxPool2d(2, 2)
        self.last = eqx.nn.Linear(8, 3, key=key)

    def __call__(self, x):
        x = self.norm(self.first(jnp.tile(x, 2).reshape(1, 4, 4)))
        x = self.pool(jax.nn.relu(x))
        return self.last(x.mean(-1).ravel())


NETWORKS["convolutional"] = Convolutional(KEY)
NETWORKS["layer norm"] = eqx.nn.Sequential(
    [eqx.nn.LayerNorm(8), eqx.nn.Linear(8, 8, key=KEY), eqx.nn.Lambda(jax.nn.relu)]
)


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_of_networks_pass(name):
    network = NETWORKS[name]

    def gradient(numbers, key):
        x = numbers / 65536.0

        @eqx.filter_grad
        def of(network):
            return optax.softmax_cross_entropy_with_integer_labels(network(x), numbers[0] % 3)

        return eqx.filter(of(network), eqx.is_array)

    program = checked(gradient)
    assert not program.exact
    if name != "leaky relu":  # one comparison of values is enough, and compiling is slow
        return
    numbers = jnp.arange(8, dtype=jnp.int32) * 8000
    found = jax.jit(program)(numbers, jnp.zeros(2, jnp.int32), jax.random.key(0))
    wanted = jax.tree.leaves(jax.jit(gradient)(numbers, None))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def autoencoder(x, key):
    noise = jax.random.normal(key, (8,))
    kept = jax.random.bernoulli(key, 0.5, (8,))
    return optax.sigmoid_binary_cross_entropy(x * noise * kept, x / 65536.0)


def transposed(x, key):
    image = jnp.tile(x * 1.0, 2).reshape(1, 1, 4, 4)
    names = ("NCHW", "HWIO", "NCHW")
    weights = jnp.ones((3, 3, 1, 2))
    return jax.lax.conv_transpose(image, weights, (2, 2), "SAME", dimension_numbers=names)


def dropped(x, key):
    return eqx.nn.Dropout(0.5)(x * 1.0, key=key)


def looped(x, key):
    power = jax.lax.while_loop(lambda y: y.sum() < 100, lambda y: jax.nn.relu(y) + 1, x * 1.0)
    total, _ = jax.lax.scan(lambda c, y: (jax.nn.elu(c) + y, None), 0.0, power)
    return jax.lax.cond(total > 0, jax.nn.celu, lambda y: y, power)


HONEST = {
    "autoencoder": autoencoder,
    "transposed convolution": transposed,
    "categorical": lambda x, key: jax.random.categorical(key, x * 1.0),
    "gumbel": lambda x, key: jax.nn.softmax(jax.random.gumbel(key, (8,)) + x),
    "uniform of a raw key": lambda x, key: jax.random.uniform(jax.random.PRNGKey(3), (8,)) * x,
    "randint": lambda x, key: jax.random.randint(key, (8,), 0, 10) * x,
    "permutation": lambda x, key: jax.random.permutation(key, x),
    "dropout": dropped,
    "loops": looped,
    "remat": jax.checkpoint(lambda x, key: jnp.sin(x * 1.0)),
    "eqx jit": eqx.filter_jit(lambda x, key: jnp.sort(x)[::-1].cumsum()),
    "scatter": lambda x, key: jnp.zeros(9).at[x % 9].add(1.0).at[0].max(2.0),
    "one hot": lambda x, key: jax.nn.one_hot(x % 5, 5).ravel(),
    "logsumexp": lambda x, key: jax.nn.logsumexp(x * 1.0),
    "histogram": lambda x, key: jnp.searchsorted(jnp.arange(10), x % 10),
    "second derivative": lambda x, key: jax.hessian(lambda y: jnp.sum(jnp.tanh(y) ** 2))(x * 1.0),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_functions_pass(name):
    program, key = checked(HONEST[name]), jax.random.key(3)
    if name not in ("loops", "dropout", "scatter"):
        return
    numbers = jnp.array([5, 3, 8, 1, 9, 2, 7, 4], jnp.int32)
    found = jax.jit(program)(numbers, jnp.zeros(2, jnp.int32), key)
    wanted = jax.tree.leaves(jax.jit(HONEST[name])(numbers, key))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


# -- the exact product --------------------------------------------------------------------------


def product(weights, owners=(0, 0, 1), values=(0, 1, 0), names="exact_product"):
    from nacre import exact

    weights = np.asarray(weights, np.int32)
    public = [jnp.asarray(np.asarray(part, np.int32)) for part in (weights, owners, values)]
    called = jax.jit(getattr(exact, names))
    return lambda row: called(row.numbers, row.codes, *public)


def summed(features, size):
    return ExactSum(features, Bound(segments=(Segment(size=size, norm=2.0**20),)), ENCODER)


SMALL = np.arange(22).reshape(11, 2) * 5


def test_a_product_is_exact_if_the_vault_finds_its_bound():
    # Seven numbers of 2^11 with weights that add up to 2^13 - 2: just below 2^24.
    edge = np.zeros((11, 1), int)
    edge[:8, 0] = [2**10] * 7 + [2**10 - 2]
    over = edge.copy()
    over[7, 0] += 2
    assert summed(product(SMALL), 2).exact
    assert summed(product(edge), 1).exact
    assert not summed(product(over), 1).exact
    # One code, two values: only one of them can count, unless both stand for the same.
    hot = np.zeros((11, 1), int)
    hot[8:10, 0] = 2**23 + 1
    assert summed(product(hot), 1).exact
    assert not summed(product(hot, values=(0, 0, 0)), 1).exact
    assert not summed(product(hot, owners=(0, 1, 1)), 1).exact


def test_weights_that_the_vault_cannot_read_or_bound_are_not_exact():
    from nacre.exact import run_exact_product

    owners, values = jnp.zeros(3, jnp.int32), jnp.arange(3, dtype=jnp.int32)

    def from_the_row(row):
        return run_exact_product(
            row.numbers, row.codes, jnp.zeros((11, 2), jnp.int32) + row.codes[0], owners, values
        )

    def in_a_loop(row):
        product_of = product(SMALL)
        return jax.lax.fori_loop(0, 2, lambda _, y: y + product_of(row), jnp.zeros(2, jnp.int32))

    assert not summed(product(SMALL * 10**6), 2).exact
    assert not summed(from_the_row, 2).exact
    assert not summed(in_a_loop, 2).exact


def test_an_impostor_is_found_out():
    def impostor(numbers, codes, weights, owners, values):
        return jnp.sin(numbers @ weights[:8] * 1.0).astype(jnp.int32)

    impostor.__name__ = "exact_product"
    called, weights = jax.jit(impostor), jnp.asarray(SMALL, jnp.int32)
    ends = jnp.zeros(3, jnp.int32)
    assert not summed(lambda row: called(row.numbers, row.codes, weights, ends, ends), 2).exact
