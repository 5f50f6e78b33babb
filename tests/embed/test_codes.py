"""Fourier features of codes: bounded whatever the code is, and the cosines that they stand for."""

import jax.numpy as jnp
import numpy as np
import pytest

from nacre.embed.codes import CodeFeatures, code_frequencies
from nacre.embed.fourier import feature_norm
from nacre.exact import AMPLITUDE

MATRIX = code_frequencies(blocks=2, width=15, code=3, scale=0.5, rng=np.random.default_rng(0))
FEATURES = CodeFeatures(MATRIX, lambda row: jnp.asarray(row, jnp.float32))


@pytest.mark.parametrize(
    "code",
    [[0, 0, 0], [1, -2, 3], [1e30, -1e30, 1e30], [np.inf, 0, 0], [np.nan, 1, 1], [3e38, 3e38, 0]],
)
def test_the_norm_is_bounded_for_every_code(code):
    norm = np.linalg.norm(np.asarray(FEATURES(code), np.float64))
    assert norm <= feature_norm(30)
    assert norm > 0.99 * feature_norm(30)  # and reached: less would be wasted noise


def test_they_are_cosines_and_sines():
    code = np.array([0.3, -1.2, 2.0])
    phases = MATRIX.reshape(30, 3) @ code
    expected = np.concatenate([np.sin(phases), np.cos(phases)])
    np.testing.assert_allclose(np.asarray(FEATURES(code)) / AMPLITUDE, expected, atol=1e-3)


def test_scales_go_from_one_to_eight_times():
    many = code_frequencies(blocks=1, width=4000, code=40, scale=2.0, rng=np.random.default_rng(1))
    scales = np.sqrt((many[0] ** 2).mean(axis=1))
    assert 1.0 < scales.min() < 2.2 and 14 < scales.max() < 24
    assert np.median(np.log(scales)) == pytest.approx(np.log(2 * np.sqrt(8)), abs=0.1)
