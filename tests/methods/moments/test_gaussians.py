"""From sums to Gaussians: squares, and matrices made positive."""

import numpy as np

from nacre.methods.moments.gaussians import positive, square

RNG = np.random.default_rng(0)


def test_square_takes_the_mean_of_both_answers_to_each_product():
    flat = RNG.normal(size=(3, 16))
    found = square(flat, 4)
    assert found.shape == (3, 4, 4)
    assert np.allclose(found, found.swapaxes(1, 2))
    assert np.allclose(found[1, 0, 2], (flat[1, 2] + flat[1, 8]) / 2)
    z = RNG.normal(size=5)
    assert np.allclose(square(np.outer(z, z).reshape(-1), 5), np.outer(z, z))


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
