"""A smooth density behind noisy counts: closer than cell by cell, and with falling tails."""

import numpy as np
import pytest
from scipy import stats

from nacre.histograms.density import second_differences, smooth_density


def edges_of(cells: int) -> np.ndarray:
    """Cells that are narrow around zero, as those of numbers with a zero are."""
    return np.sinh(np.linspace(-3, 3, cells + 1))


def test_a_smooth_density_is_found_through_noise_whatever_the_cells():
    rng, edges = np.random.default_rng(0), edges_of(120)
    truth = 10_000 * np.diff(stats.norm.cdf(edges, 0.5, 1.5))
    errors = []
    for _ in range(10):
        noisy = truth + rng.normal(0, 40, len(truth))
        start = np.full(len(truth), truth.mean())
        found = smooth_density(noisy, 40.0, np.diff(edges), start)
        assert (found > 0).all()
        errors.append([np.abs(each - truth).sum() for each in (found, noisy)])
    smooth, raw = np.mean(errors, 0)
    assert smooth < 0.25 * raw


def test_tails_without_evidence_fall():
    rng, edges = np.random.default_rng(1), np.linspace(-10, 10, 101)
    noisy = 10_000 * np.diff(stats.norm.cdf(edges)) + rng.normal(0, 20, 100)
    found = smooth_density(noisy, 20.0, np.diff(edges), np.maximum(noisy, 0))
    assert found[:20].sum() + found[-20:].sum() < 20
    assert found[70] > found[75] > found[80]


def test_counts_without_noise_and_few_cells_are_left_alone():
    counts = np.random.default_rng(2).integers(0, 1000, 50).astype(float)
    assert smooth_density(counts, 1e-3, np.ones(50), counts) is counts
    assert smooth_density(counts[:5], 10.0, np.ones(5), counts[:5]).tolist() == counts[:5].tolist()


@pytest.mark.parametrize("scale", [0.0, 1e-6, 1e4, 1e9])
def test_any_counts_give_finite_ones(scale):
    rng = np.random.default_rng(3)
    for noise in (0.1, 50.0, 1e6):
        counts = scale * rng.normal(size=64) + noise * rng.normal(size=64)
        found = smooth_density(counts, noise, rng.uniform(1e-6, 1e6, 64), np.maximum(counts, 0))
        assert np.isfinite(found).all()
        assert (found >= 0).all()


def test_bands_are_those_of_the_matrix_of_second_differences():
    matrix = np.diff(np.eye(9), 2, axis=0)
    whole = matrix.T @ matrix
    bands = second_differences(9)
    for apart in range(3):
        assert bands[2 - apart, apart:].tolist() == np.diag(whole, apart).tolist()
