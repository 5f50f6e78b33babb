"""Values and slopes of a function in a Gaussian kernel's space, and their bound of one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.embed.kernel import JITTER, GaussianKernels

KERNELS = GaussianKernels((1.5, 0.4))
POINTS = np.random.default_rng(0).random((6, 3)).astype(np.float32)


def test_known_covariances():
    kernel = GaussianKernels((1.5,))
    gram = np.asarray(jax.jit(kernel.gram)(jnp.array([[0.0, 0.0], [1.0, 0.5]])))
    assert kernel.unit == pytest.approx(1.5)
    assert gram[0, 1] == pytest.approx(0.757465128, rel=1e-6)
    np.testing.assert_allclose(gram[0, 4:] / 1.5, [-0.3366512, -0.1683256], rtol=1e-6)


def test_the_gram_matrix_is_made_of_the_kernels_derivatives():
    d = POINTS.shape[1]

    def joint(w, v):
        value = KERNELS(w, v)
        right = jax.grad(KERNELS, argnums=1)(w, v) * KERNELS.unit
        left = jax.grad(KERNELS, argnums=0)(w, v) * KERNELS.unit
        both = jax.jacfwd(jax.grad(KERNELS, argnums=1), argnums=0)(w, v).T * KERNELS.unit**2
        return jnp.block([[value, right[None]], [left[:, None], both]])

    m = len(POINTS)
    all_pairs = jax.jit(jax.vmap(lambda w: jax.vmap(lambda v: joint(w, v))(POINTS)))
    parts = np.asarray(all_pairs(POINTS))
    order = [*range(0, m * (1 + d), 1 + d)]
    order += [place * (1 + d) + 1 + a for place in range(m) for a in range(d)]
    wanted = parts.transpose(0, 2, 1, 3).reshape(m * (1 + d), -1)[np.ix_(order, order)]
    np.testing.assert_allclose(jax.jit(KERNELS.gram)(POINTS), wanted, atol=1e-5)


def test_statistics_are_those_of_one_rows_function():
    x = jnp.array([0.2, 0.9, 0.4])
    both = jax.jit(jax.vmap(jax.value_and_grad(KERNELS, argnums=1), (None, 0)))
    values, slopes = both(x, POINTS)
    wanted = np.concatenate([values, np.ravel(slopes) * KERNELS.unit])
    np.testing.assert_allclose(jax.jit(KERNELS.statistics)(POINTS, x), wanted, atol=1e-6)


@pytest.mark.parametrize("together", [0.0, 0.1, 1.0], ids=["one place", "near", "apart"])
def test_no_row_has_more_than_norm_one_and_some_row_has_it(together):
    """Hill-climbed over rows and points; without whitening, the same rows have far more."""

    def norm(both):
        points, x = both
        _, inverse = KERNELS.roots(points)
        return jnp.linalg.norm(inverse @ KERNELS.statistics(points, x))

    @jax.jit
    @jax.vmap
    def climb(both):
        return jax.tree.map(lambda v, g: v + 0.05 * jnp.nan_to_num(g), both, jax.grad(norm)(both))

    rng = np.random.default_rng(1)
    near = 0.5 + together * (rng.random((20, *POINTS.shape)) - 0.5)
    both = jnp.asarray(near, jnp.float32), jnp.asarray(rng.random((20, 3)), jnp.float32)
    for _ in range(60):
        both = climb(both)
    at_a_point = both[0], both[0][:, 0]
    norms = np.array([jax.jit(jax.vmap(norm))(each) for each in (both, at_a_point)])
    assert norms.max() <= 1 + 1e-4  # float32
    assert norms.max() >= 1 - 2 * JITTER
    raw = jax.jit(jax.vmap(KERNELS.statistics))(*at_a_point)
    if together < 1:
        assert np.linalg.norm(raw, axis=1).max() > 2


def test_noise_through_the_root_has_the_kernels_covariance_and_no_less():
    lower, inverse = map(np.asarray, jax.jit(KERNELS.roots)(POINTS))
    more = lower @ lower.T - jax.jit(KERNELS.gram)(POINTS)
    np.testing.assert_allclose(more, JITTER * np.eye(len(more)), atol=1e-5)
    np.testing.assert_allclose(inverse @ lower, np.eye(len(more)), atol=2e-3)
