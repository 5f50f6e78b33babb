"""Programs that stop short of outer products say the same, and clip the same norm."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.vault.loop import Loop, LoopStage
from nacre.vault.outer import Factored, Parts, norm_above
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
        parts = jax.jit(factored)(X)
        arrays, norms = jax.jit(lambda parts: (parts.arrays(), parts.norms()))(parts)
        assert [a.shape for a in arrays] == sizes
        wanted = np.concatenate([np.ravel(v) for v in jax.tree.leaves(jax.jit(function)(X))])
        flat = jax.jit(factored.flat)(arrays)
        np.testing.assert_allclose(flat, wanted, rtol=1e-6, atol=1e-7)
        norm = np.linalg.norm(np.concatenate([np.ravel(a) for a in arrays]))
        found = float(norms.whole)
        assert norm * (1 - 1e-15) <= found <= norm * (1 + 1e-5)


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
        multiplier=2.0**-16,  # units so small that truncation hides hardly anything
        chunk=64,
    )
    most = loop._units(loop.stages[0])
    with jax.enable_x64(True):
        vectors = [np.float64(np.float32(rng.normal(size=n))) for n in (size, 7, 5)]
        parts = Parts(vectors[0], ((vectors[1], vectors[2]),))
        found = [np.asarray(v) for v in loop._clipped(loop.stages[0], parts).arrays()]
    values = np.concatenate([np.ravel(f) for f in found])
    assert (values == np.rint(values)).all()
    square = sum(int(v) ** 2 for v in values.tolist())
    assert square <= most**2
    assert square >= most**2 * (1 - 1e-3)


@pytest.mark.parametrize("size", [1, 7, 106, 100_000])
def test_a_norm_is_the_same_in_any_order_and_never_too_small(size):
    rng = np.random.default_rng(size)
    for scale in (1e-40, 1e-3, 1.0, 1e30):
        vector = np.float64(np.float32(rng.standard_t(2, size) * scale))
        with jax.enable_x64(True):
            found = {float(norm_above(jnp.asarray(rng.permutation(vector)))) for _ in range(4)}
        (norm,) = found
        exact = math.sqrt(math.fsum((vector / scale) ** 2)) * scale
        assert exact * (1 - 1e-15) <= norm <= exact * (1 + 2e-3)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_norm_of_what_is_not_finite_is_not(bad):
    with jax.enable_x64(True):
        for others in ([], [0.0], [1.0, 2.0]):
            assert not np.isfinite(float(norm_above(jnp.asarray([bad, *others], jnp.float64))))


def test_the_product_of_a_chunk_is_the_sum_of_its_rows_to_the_last_unit():
    """At the largest integers that a loop accepts, where any rounding would show."""
    rng, rows, reach = np.random.default_rng(3), 256, math.isqrt(2**43)
    left, right = (rng.integers(-reach, reach + 1, (rows, n)) for n in (31, 17))
    left[:, 0], right[:, 0] = reach, reach
    rest = rng.integers(-(2**43), 2**43 + 1, (rows, 5))
    with jax.enable_x64(True):
        parts = jax.tree.map(lambda v: jnp.asarray(v, jnp.float64), Parts(rest, ((left, right),)))
        summed, matrix = (np.asarray(v) for v in jax.jit(Parts.total)(parts))
    exact = left.astype(object).T @ right.astype(object)
    assert (matrix.astype(np.int64) == exact.astype(np.int64)).all()
    assert (summed.astype(np.int64) == rest.sum(0)).all()


def test_vectors_of_a_product_share_its_length_and_are_rounded_towards_zero():
    loop_parts = Parts(jnp.zeros(0), ((jnp.asarray([3.0, -4.0]), jnp.asarray([0.3, 0.0, 0.4])),))
    with jax.enable_x64(True):
        parts = jax.tree.map(lambda v: v.astype(jnp.float64), loop_parts)
        whole = parts.whole(parts.norms(), 400.0, 10_000.0, True)
    ((left, right),) = whole.factors
    # |l||r| is 5 times .5, and 400 units of it: 1000, so sqrt(1000) = 31.6 for each of the two.
    assert left.tolist() == [18.0, -25.0]
    assert right.tolist() == [18.0, 0.0, 25.0]
