"""Programs that methods are made of pass the vault, and mean there what they mean outside."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from tests.privacy.programs import checked

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
