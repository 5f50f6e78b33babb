"""From sums to Gaussians: squares, matrices made positive, and moments of classes."""

import numpy as np

from nacre.methods.moments.gaussians import _by_class, halved, positive, square
from nacre.vault import Sums

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


def test_halved_is_the_noise_of_a_square():
    found = square(np.random.default_rng(5).normal(size=(20_000, 9)), 3).std(0)
    assert np.allclose(found, halved(3), atol=0.02)


def sums_of(places, classes, noise, rng):
    """What the vault would say of places along directions, by class."""
    size = places.shape[1]
    first = np.stack([places[classes == c].sum(0) for c in range(2)])
    second = np.stack([places[classes == c].T @ places[classes == c] for c in range(2)])
    values = np.concatenate([first, second.reshape(2, size * size)], axis=1)
    values += noise * rng.standard_normal(values.shape)
    return Sums(values=values, noise=(noise, noise), counts=np.bincount(classes).astype(float))


def two_classes(n=40_000, size=12):
    """Wide along the even directions, or along the odd ones; means apart along the first."""
    rng = np.random.default_rng(1)
    classes = rng.integers(0, 2, n)
    widths = np.where(np.arange(size) % 2 == classes[:, None], 0.3, 0.1)
    places = rng.standard_normal((n, size)) * widths
    places[:, 0] += np.where(classes, 0.2, -0.2)
    return places, classes, rng


def test_classes_have_their_moments_without_noise():
    places, classes, rng = two_classes()
    counts, means, factors = _by_class(sums_of(places, classes, 1e-6, rng), 4e4, np.ones(12))
    for code in range(2):
        own = places[classes == code]
        assert counts[code] == len(own)
        assert np.allclose(means[code], own.mean(0), atol=1e-6)
        assert np.allclose(factors[code] @ factors[code].T, np.cov(own.T), atol=1e-4)


def test_noisy_classes_are_nearer_to_the_truth_than_their_noisy_sums():
    places, classes, rng = two_classes()
    noise = 400.0
    sums = sums_of(places, classes, noise, rng)
    counts, means, factors = _by_class(sums, 4e4, (places**2).mean(0))
    for code in range(2):
        own = places[classes == code]
        raw = square(sums.values[code, 12:], 12) / counts[code] - np.outer(means[code], means[code])
        truth = np.cov(own.T)
        off = np.linalg.norm(factors[code] @ factors[code].T - truth)
        assert off < 0.7 * np.linalg.norm(raw - truth)
