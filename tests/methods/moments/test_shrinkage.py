"""Noise is taken from what was measured, and what was measured is left."""

import numpy as np
import pytest

from nacre.embed.cosines import cosine_frequencies
from nacre.methods.moments.shrinkage import (
    believed,
    leading,
    pairs_of_cosines,
    pairs_of_directions,
    shrunk,
)


def symmetric(size):
    """Noise of one on and off the diagonal."""
    upper = np.triu(np.random.default_rng(1).standard_normal((size, size)))
    return upper + np.triu(upper, 1).T


def test_noise_alone_is_not_believed_and_values_without_noise_are():
    values, groups = np.random.default_rng(0).normal(size=(400, 50)), np.zeros((400, 50), np.int64)
    assert believed(values, 1.0, groups).max() < 0.03
    assert np.array_equal(shrunk(values, 0.0, groups), values)
    assert not shrunk(np.zeros((2, 2)), 1.0, np.zeros((2, 2), np.int64)).any()


def test_groups_are_believed_by_themselves():
    groups = np.repeat([0, 1], 5_000)
    values = np.random.default_rng(0).normal(size=10_000)
    values *= np.where(groups, 3.0, 1.0)  # noise of one, and a signal of sqrt(8)
    found = believed(values, np.ones(10_000), groups)
    assert found[0] < 0.05 and found[-1] == pytest.approx(8 / 9, abs=0.02)


@pytest.mark.parametrize("channels", [1, 3])
def test_pairs_of_cosines_are_symmetric_and_have_a_diagonal_of_their_own(channels):
    frequencies = cosine_frequencies((9, 8, channels), 40)
    found = pairs_of_cosines(frequencies)
    assert np.array_equal(found, found.T)
    on = np.eye(len(found), dtype=bool)
    assert not set(found[on]) & set(found[~on])
    same = frequencies[:, None, 2] == frequencies[None, :, 2]
    assert not set(found[same]) & set(found[~same])
    assert set(range(found.max() + 1)) == set(found.ravel())


def test_pairs_of_directions_are_symmetric_and_have_a_diagonal_of_their_own():
    found = pairs_of_directions(90)
    on = np.eye(90, dtype=bool)
    assert np.array_equal(found, found.T) and not set(found[on]) & set(found[~on])
    assert pairs_of_directions(1).tolist() == [[0]]


def test_smooth_images_are_found_again_under_noise():
    """Blobs anywhere in the picture: their products of cosines fall off with the distance."""
    from nacre.embed.cosines import cosine_basis

    at = np.random.default_rng(0).uniform(2, 14, (3_000, 2, 1, 1))
    down, across = np.indices((16, 16))
    images = np.exp(-((down - at[:, 0]) ** 2 + (across - at[:, 1]) ** 2) / 8).reshape(3_000, -1)
    basis, _ = cosine_basis((16, 16, 1), 80, 0.5)
    places = (images - images.mean(0)) @ basis
    truth = places.T @ places / np.trace(places.T @ places)
    noisy = truth + 0.01 * symmetric(80)
    pairs = pairs_of_cosines(cosine_frequencies((16, 16, 1), 80))
    found = shrunk(noisy, 0.01, pairs)
    assert np.linalg.norm(found - truth) < 0.6 * np.linalg.norm(noisy - truth)


def test_what_noise_adds_to_a_direction_is_taken_off():
    size, noise = 400, 0.05
    truth = np.diag(np.r_[6.0, 4.0, 3.0, np.zeros(size - 3)])
    noisy = truth + noise * symmetric(size)
    vectors, found = leading(noisy, np.full((size, size), noise), most=3)
    along = np.einsum("ia,ij,ja->a", vectors, truth, vectors)
    assert found == pytest.approx(along, rel=0.1)
    assert np.linalg.eigvalsh(noisy)[-3] > 1.15 * along[2]  # which is not what eigenvalues say
