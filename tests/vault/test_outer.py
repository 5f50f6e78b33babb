"""Programs that stop short of outer products say the same, and clip the same norm."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.vault.loop import Loop, LoopStage
from nacre.vault.outer import Factored, Parts
from nacre.vault.tracing import trace

RNG = np.random.default_rng(0)
W, V = (jnp.asarray(RNG.normal(size=shape), jnp.float32) for shape in ((5, 4), (4, 3)))
X = jnp.asarray(RNG.normal(size=5), jnp.float32)


def gradient(x):
    """By two layers of weights, one of them with the inputs last, and by a bias."""

    def loss(weights):
        w, bias, v = weights
        return jnp.sum(jnp.tanh(v @ jnp.tanh(x @ w + bias)) ** 2)

    return jax.grad(loss)((W, jnp.ones(4), V.T))


def twice(x):
    """By weights that are used twice: a sum of two outer products is none."""
    square = W[:4]
    return jax.grad(lambda w: jnp.sum(jnp.tanh(jnp.tanh(x[:4] @ w) @ w)))(square)


def not_vectors(x):
    return jnp.tensordot(x, W, 0), x @ W


@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        (gradient, [(4,), (5, 4), (3, 4)]),
        (lambda x: jnp.outer(x, x[:2] + 1).T, [(10,)]),  # a product, but not by dot_general
        (twice, [(16,)]),
        (not_vectors, [(104,)]),
        (lambda x: (x.sum(), jnp.tensordot(x, x[1:], 0)), [(1,), (5, 4)]),
    ],
)
def test_parts_hold_all_outputs_in_order(function, sizes):
    program = trace(function, jax.ShapeDtypeStruct((5,), jnp.float32))
    factored = Factored(program)
    assert factored.sizes == sizes
    with jax.enable_x64(True):
        parts = factored(X)
        arrays = parts.arrays()
        assert [a.shape for a in arrays] == sizes
        wanted = np.concatenate([np.ravel(v) for v in jax.tree.leaves(function(X))])
        np.testing.assert_allclose(factored.flat(arrays), wanted, rtol=1e-6, atol=1e-7)
        norm = np.linalg.norm(np.concatenate([np.ravel(a) for a in arrays]))
        np.testing.assert_allclose(parts.squared_norm(), norm**2, rtol=1e-14)


def test_products_of_float32_are_exact():
    third, tenth = np.float32(1 / 3), np.float32(0.1)
    with jax.enable_x64(True):
        factors = (jnp.asarray([third], jnp.float64), jnp.asarray([tenth], jnp.float64))
        _, found = Parts(jnp.zeros(0), (factors,)).arrays()
    assert float(found[0, 0]) == float(third) * float(tenth) != float(third * tenth)


@pytest.mark.parametrize("size", [3, 1_000_000])
def test_a_contribution_fills_the_clip_and_stays_below_it(size):
    """Also where so many numbers are summed that the norm itself is rounded many times."""
    rng = np.random.default_rng(size)
    loop = Loop(
        prepare=lambda state, key: state,
        stages=(LoopStage(per_row=lambda *_: jnp.zeros(1), clip=0.1),),
        update=lambda state, sums, key: state,
        threshold=1,
        multiplier=2.0**-20,  # units so small that truncation hides nothing
        chunk=64,
    )
    most = loop._units(loop.stages[0])
    with jax.enable_x64(True):
        vectors = [np.float64(np.float32(rng.normal(size=n))) for n in (size, 7, 5)]
        parts = Parts(vectors[0], ((vectors[1], vectors[2]),))
        found = [np.asarray(v) for v in loop._clipped(loop.stages[0], parts)]
    square = sum(int(v) ** 2 for v in np.concatenate([np.ravel(f) for f in found]).tolist())
    assert square <= most**2
    assert square >= most**2 * (1 - 1e-6)
