"""Scattering features: one code under JAX and NumPy, norm one, any size."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.embed.scattering import ANGLES, Scattering

# Height, width, channels, and how many places the features are averaged around.
SIZES = [
    (8, 8, 1, 4),
    (28, 28, 1, 49),
    (32, 32, 3, 64),
    (64, 64, 1, 64),
    (9, 21, 1, 18),
    (40, 6, 2, 16),
    (1, 1, 1, 1),
]
KINDS = 1 + 2 * ANGLES + ANGLES**2


def pictures(shape, n=2):
    """Bytes, as fractions; black and white ones last."""
    rng = np.random.default_rng(0)
    found = rng.integers(0, 256, (n, *shape)) / 255
    return np.concatenate([found, np.zeros((1, *shape)), np.ones((1, *shape))]).astype(np.float32)


@pytest.mark.parametrize(("height", "width", "channels", "places"), SIZES)
def test_features_have_norm_one_and_the_size_that_is_said(height, width, channels, places):
    scattering = Scattering(height, width, channels)
    found = scattering(pictures((height, width, channels)), np)
    assert scattering.size == places * KINDS * channels == found.shape[1]
    assert found.dtype == np.float32 and np.isfinite(found).all()
    norms = np.linalg.norm(found.astype(float), axis=1)
    assert (norms <= 1 + 1e-5).all()
    if min(height, width) > 1:
        assert norms[:2] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("height", "width", "channels"), [(8, 8, 1), (28, 28, 1), (40, 9, 2)])
def test_jax_and_numpy_agree(height, width, channels):
    scattering = Scattering(height, width, channels)
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (2, height, width, channels)).astype(np.float32) / 255
    ours = jax.jit(lambda x: scattering(x, jnp))(images)
    assert np.abs(np.asarray(ours) - scattering(images, np)).max() < 1e-5


def test_of_a_black_image_nothing_is_left():
    black = Scattering(8, 8)(np.zeros((1, 8, 8, 1), np.float32), np)
    assert not black.any()


def test_brightness_does_not_matter_and_a_turn_does():
    scattering = Scattering(16, 16)
    bars = np.zeros((1, 16, 16, 1), np.float32)
    bars[:, ::4] = 0.8
    one, dim, turned = (scattering(x, np)[0] for x in (bars, bars / 2, bars.swapaxes(1, 2)))
    assert np.abs(one - dim).max() < 1e-5
    assert one @ turned < 0.9


def test_a_small_shift_matters_less_than_to_pixels():
    scattering = Scattering(28, 28)
    image = np.zeros((1, 28, 28, 1), np.float32)
    image[:, 8:20, 12:15] = 1
    moved = np.roll(image, 2, axis=2)
    one, other = (scattering(x, np)[0] for x in (image, moved))
    pixels = float((image * moved).sum() / (image**2).sum())
    assert one @ other > 0.9 > pixels
