"""The lowest cosines of an image: orthonormal, by frequency, weighted."""

import numpy as np
import pytest

from nacre.embed.cosines import cosine_basis


@pytest.mark.parametrize("shape", [(8, 8, 1), (5, 9, 1), (6, 6, 3), (1, 7, 1)])
def test_cosines_are_orthonormal(shape):
    height, width, channels = shape
    for most in (4, 10_000):
        basis, weights = cosine_basis(shape, most, 0.5)
        count = min(most, height * width) * channels
        assert basis.shape == (height * width * channels, count) and weights.shape == (count,)
        assert np.allclose(basis.T @ basis, np.eye(count), atol=1e-5)


def test_all_cosines_together_keep_the_length_of_an_image():
    basis, _ = cosine_basis((5, 6, 2), 30, 0.5)
    image = np.random.default_rng(0).random(60)
    assert np.linalg.norm(image @ basis) == pytest.approx(np.linalg.norm(image), rel=1e-5)


def test_the_first_is_the_mean_and_weights_grow_with_frequency():
    basis, weights = cosine_basis((4, 4, 1), 16, 0.5)
    assert np.allclose(basis[:, 0], 1 / 4)
    assert weights[0] == 1 and (np.diff(weights) >= 0).all()
    assert weights[-1] == pytest.approx((1 + np.hypot(3, 3)) ** 0.5)
    assert np.array_equal(cosine_basis((4, 4, 1), 16, 0.0)[1], np.ones(16))


def test_channels_do_not_mix():
    basis, _ = cosine_basis((3, 3, 2), 4, 1.0)
    by_channel = basis.reshape(9, 2, 4, 2)
    assert np.allclose(by_channel[:, 0, :, 1], 0) and np.allclose(by_channel[:, 1, :, 0], 0)
    assert np.array_equal(by_channel[:, 0, :, 0], by_channel[:, 1, :, 1])
