"""From sums to Gaussians: triangles and squares, and matrices made positive."""

import jax.numpy as jnp
import numpy as np
import pytest

from nacre.methods.moments.gaussians import positive, square, triangle

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_square_undoes_triangle_and_the_norm_is_that_of_the_product(size):
    z = RNG.normal(size=size).astype(np.float32)
    flat = np.asarray(triangle(jnp.asarray(z)), np.float64)
    assert flat.shape == (size * (size + 1) // 2,)
    assert np.allclose(square(flat, size), np.outer(z, z), atol=1e-5)
    assert np.linalg.norm(flat) == pytest.approx(float(z @ z), rel=1e-5)


def test_square_keeps_the_norm_of_any_symmetric_matrix_and_takes_many():
    flat = RNG.normal(size=(3, 10))
    found = square(flat, 4)
    assert found.shape == (3, 4, 4)
    assert np.allclose(found, found.swapaxes(1, 2))
    assert np.allclose(np.linalg.norm(found, axis=(1, 2)), np.linalg.norm(flat, axis=1))


def test_positive_lifts_small_eigenvalues_and_leaves_the_others():
    vectors, _ = np.linalg.qr(RNG.normal(size=(4, 4)))
    matrix = (vectors * [3.0, 1.0, 1e-3, -2.0]) @ vectors.T
    found = positive(matrix, 0.1)
    assert np.allclose(found, found.T)
    assert np.allclose(np.sort(np.linalg.eigvalsh(found)), [0.1, 0.1, 1, 3])
    assert np.allclose(found @ vectors[:, 0], 3 * vectors[:, 0])
    np.linalg.cholesky(found)
    good = positive(matrix, 0.1)
    assert np.allclose(positive(good, 0.05), good)
