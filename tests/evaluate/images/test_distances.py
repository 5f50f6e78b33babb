"""FID and KID against SciPy, scikit-learn and closed forms."""

import numpy as np
import pytest
from scipy.linalg import sqrtm
from sklearn.metrics.pairwise import polynomial_kernel

from nacre.evaluate.images.metrics.fid import bootstrapped_fid, fid, frechet
from nacre.evaluate.images.metrics.kid import kid, subset_kid


def features(n, shift=0.0, seed=0, d=5):
    rng = np.random.default_rng(seed)
    return rng.normal(shift, 1, (n, d)) @ np.random.default_rng(9).normal(size=(d, d))


def test_fid_is_scipys():
    x, y = features(200), features(150, 0.4, 1)
    covariances = [np.cov(z.T) for z in (x, y)]
    mixed = sqrtm(covariances[0] @ covariances[1]).real
    expected = ((x.mean(0) - y.mean(0)) ** 2).sum() + np.trace(sum(covariances) - 2 * mixed)
    assert fid(x, y) == pytest.approx(expected)


def test_frechet_of_gaussians_in_closed_form():
    # Commuting covariances: |m - m'|² + Σ (σ - σ')².
    mean, other = np.array([1.0, -2.0]), np.array([0.0, 1.0])
    found = frechet(mean, np.diag([4.0, 9.0]), other, np.diag([1.0, 16.0]))
    assert found == pytest.approx(1 + 9 + (2 - 1) ** 2 + (3 - 4) ** 2)


def test_a_singular_covariance_is_no_problem():
    x = np.column_stack([np.arange(50.0), np.zeros(50), np.zeros(50)])
    assert fid(x, x) == pytest.approx(0, abs=1e-8)
    assert fid(x, x + 2) == pytest.approx(12)


def test_the_same_distribution_is_near_zero_and_a_shift_is_not():
    rng = np.random.default_rng(0)
    same, error = bootstrapped_fid(features(4000), features(4000, seed=1), rng)
    other, _ = bootstrapped_fid(features(4000), features(4000, 1.0, 2), rng)
    exact = (np.random.default_rng(9).normal(size=(5, 5)).sum(0) ** 2).sum()
    assert 0 < same < 0.3
    assert 0 < error < 0.2
    assert other == pytest.approx(exact, rel=0.1)


def test_kid_is_sklearns_kernel():
    x, y = features(60), features(40, 0.3, 1)
    within = []
    for z in (x, y):
        k = polynomial_kernel(z, z, degree=3, gamma=1 / 5, coef0=1)
        within.append(k[~np.eye(len(z), dtype=bool)].mean())
    across = polynomial_kernel(x, y, degree=3, gamma=1 / 5, coef0=1).mean()
    assert kid(x, y) == pytest.approx(sum(within) - 2 * across)


def test_kid_over_subsets():
    rng = np.random.default_rng(0)
    same, error = subset_kid(features(800), features(800, seed=1), rng, size=200)
    other, _ = subset_kid(features(800), features(800, 1.0, 2), rng, size=200)
    assert abs(same) < 6 * error / 10 + 0.5  # the mean of a hundred
    assert other > 20 * abs(same)
    # Two hundred of fifty rows cannot be drawn: half of them are, and subsets still differ.
    assert subset_kid(features(50), features(50, seed=1), rng, size=200)[1] > 0
