"""Images are moved where they should be, and by as much as the moments say."""

import numpy as np

from nacre.methods.moments.gaussians import Gaussians
from nacre.methods.moments.movements import KINDS, fields, measured, moved


def bar(across=0.0):
    """A soft upright bar, moved to the left."""
    x = np.arange(12) - 5.5 + across
    return np.tile(np.exp(-(x**2) / 8), (10, 1))


def test_a_shift_by_whole_pixels_takes_what_is_there():
    images = np.random.default_rng(0).random((3, 10, 12, 2), np.float32)
    amounts = np.zeros((3, KINDS), np.float32)
    amounts[1, 0], amounts[2, 1] = 1, -2
    found = moved(images, amounts)
    assert np.array_equal(found[0], images[0])
    assert np.allclose(found[1, :-1], images[1, 1:], atol=1e-5)
    assert np.allclose(found[1, -1], images[1, -1], atol=1e-5)  # beyond the edge is the edge
    assert np.allclose(found[2, :, 2:], images[2, :, :-2], atol=1e-5)


def test_a_quarter_turn_is_a_turn():
    image = np.random.default_rng(0).random((1, 9, 9, 1), np.float32)
    quarter = np.zeros((1, KINDS), np.float32)
    quarter[0, [2, 4, 5]] = 1, -1, -1  # down takes what across had: y + x - y, x - y - x
    assert np.allclose(moved(image, quarter)[0, ..., 0], np.rot90(image[0, ..., 0]), atol=1e-5)
    assert fields(9, 9).shape == (KINDS, 2, 81)


def test_movements_are_read_off_the_moments():
    rng = np.random.default_rng(1)
    slope = (bar(0.05) - bar(-0.05)).reshape(-1) / 0.1
    directions = np.concatenate([slope[None], 0.1 * rng.normal(size=(9, 120))])
    for spread in (0.4, 0.8):  # pixels, across
        gaussians = Gaussians(
            counts=np.array([100.0]),
            means=np.zeros((1, 10)),
            factors=np.diag([spread] + [0.05] * 9)[None],
            directions=directions,
            base=bar().reshape(-1),
        )
        factor = measured(gaussians, (10, 12, 1))[0]
        down, across = np.sqrt(np.diag(factor @ factor.T))[:2]
        assert abs(across / spread - 1) < 0.15
        assert down < 0.1 * spread  # an upright bar looks the same wherever it is
