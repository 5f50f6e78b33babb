"""Bins from noisy histograms: spikes alone, equal mass elsewhere, rare categories together."""

import numpy as np
import pytest

from nacre.nets.mosaic_bins import (
    bin_sums,
    clean,
    lump_rare,
    quantile_bins,
    simplex,
    smooth,
    within,
)

SETTINGS = {"most": 16, "floor": 0.01, "slots": 24}


def test_the_projection_is_the_nearest_point():
    rng = np.random.default_rng(0)
    noisy = rng.normal(3, 5, 20)
    found = simplex(noisy, 40.0)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(40)
    others = rng.dirichlet(np.ones(20) * 0.3, 2000) * 40
    assert ((others - noisy) ** 2).sum(1).min() >= ((found - noisy) ** 2).sum()


def test_cleaned_histograms_agree_on_sizes_that_lean_on_small_columns():
    rng = np.random.default_rng(1)
    truth = [np.full((2, size), 600 / size) for size in (2, 300)]
    noisy = [t + rng.normal(0, 20, t.shape) for t in truth]
    tables, sizes = clean(noisy, 20.0, [0, 300])
    for table in tables:
        assert table.min() >= 0
        assert table.sum(1) == pytest.approx(sizes)
    assert np.abs(sizes - noisy[0].sum(1)).max() < np.abs(sizes - noisy[1].sum(1)).max()


def test_a_class_too_rare_to_be_seen_is_more_like_all_rows_than_like_its_noise():
    rng = np.random.default_rng(4)
    shape = np.exp(-0.5 * ((np.arange(100) - 30) / 10) ** 2)
    shape /= shape.sum()
    truth = np.stack([50_000 * shape, 200 * shape])
    errors = []
    for _ in range(10):
        noisy = [truth + rng.normal(0, 30, truth.shape), np.array([[50_000.0], [200.0]])]
        (table, _), _ = clean(noisy, 30.0, [100, 0])
        found = table[1] / table[1].sum(), simplex(noisy[0][1], 200.0) / 200
        errors.append([np.abs(share - shape).sum() / 2 for share in found])
    pooled, alone = np.mean(errors, 0)
    assert pooled < 0.75 * alone


def test_smoothing_takes_noise_out_and_leaves_spikes_and_jumps():
    rng = np.random.default_rng(3)
    truth = np.r_[np.linspace(300, 500, 60), np.full(40, 100.0)]
    truth[25] = 3000
    noisy = truth + rng.normal(0, 40, 100)
    found = smooth(noisy, 40.0)
    assert found[25] == pytest.approx(3000, abs=150)
    assert np.abs(found[62:]).mean() == pytest.approx(100, abs=25)
    assert np.abs(found - truth).mean() < 0.6 * np.abs(noisy - truth).mean()
    assert smooth(truth, 0.0) == pytest.approx(truth)
    assert found.sum() == pytest.approx(noisy.sum(), rel=0.05)


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_smoothing_takes_any_number_of_cells(size):
    assert smooth(np.ones(size), 1.0) == pytest.approx(np.ones(size))


def test_a_spike_is_a_bin_by_itself():
    mass = np.ones(100)
    mass[40] = 80
    group = quantile_bins(mass, **SETTINGS)
    assert (group == group[40]).sum() == 1
    assert (np.diff(group) >= 0).all(), "bins of a number are intervals"


def test_bins_without_spikes_hold_equal_mass():
    mass = np.random.default_rng(2).uniform(0.8, 1.2, 512)
    weights = np.bincount(quantile_bins(mass, **SETTINGS), mass)
    assert len(weights) == 16
    assert weights.max() < 1.3 * weights.min()


def test_the_floor_and_the_slots_are_kept():
    mass = np.ones(200)
    mass[::10] = 30  # more spikes than slots
    group = quantile_bins(mass, most=16, floor=0.01, slots=7)
    assert group.max() + 1 == 7
    assert set(np.diff(group)) <= {0, 1}
    wide = np.bincount(quantile_bins(np.ones(200), most=16, floor=0.3, slots=24))
    assert wide.min() / 200 >= 0.15


@pytest.mark.parametrize("mass", [[5.0], [0.0, 0.0, 7.0], [1e-9, 1e-9]])
def test_degenerate_histograms_have_bins_too(mass):
    group = quantile_bins(np.array(mass), **SETTINGS)
    assert group[0] == 0 and set(np.diff(group)) <= {0, 1}


def test_rare_categories_share_the_last_bin():
    group = lump_rare(np.array([50.0, 1, 49, 0, 900]), floor=0.01, slots=24)
    assert group.tolist() == [0, 3, 1, 3, 2]
    assert lump_rare(np.array([5.0, 0.0]), floor=0.01, slots=24).tolist() == [0, 1]
    many = lump_rare(np.arange(1.0, 41), floor=0, slots=10)
    assert many.max() + 1 == 10
    assert set(many[-9:]) == set(range(9)) and (many[:-9] == 9).all()


def test_cells_inside_bins_follow_the_class_then_the_pool_then_nothing():
    group = np.array([0, 0, 1, 1, 2, 2])
    table = np.array([[3.0, 1, 0, 0, 0, 0], [1, 1, 2, 6, 0, 0]])
    found = within(group, table)
    assert bin_sums(group, found) == pytest.approx(np.ones((2, 3)))
    assert found[0] == pytest.approx([0.75, 0.25, 0.25, 0.75, 0.5, 0.5])
