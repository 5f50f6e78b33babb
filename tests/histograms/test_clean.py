"""Histograms without noise: spikes and jumps stay, empty tails stay empty, sizes agree."""

import numpy as np
import pytest

from nacre.histograms.clean import clean, fade, filled, relative, simplex, smooth


def test_the_projection_is_the_nearest_point():
    rng = np.random.default_rng(0)
    noisy = rng.normal(3, 5, 20)
    found = simplex(noisy, 40.0)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(40)
    others = rng.dirichlet(np.ones(20) * 0.3, 2000) * 40
    assert ((others - noisy) ** 2).sum(1).min() >= ((found - noisy) ** 2).sum()


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_a_small_total_does_not_drown_in_large_counts(size):
    found = simplex(np.array([1e17, -1e17, 1e17]), size)
    assert found == pytest.approx([size / 2, 0, size / 2])


def test_cleaned_histograms_agree_on_sizes_that_lean_on_small_columns():
    rng = np.random.default_rng(1)
    truth = [np.full((2, size), 600 / size) for size in (2, 300)]
    noisy = [t + rng.normal(0, 20, t.shape) for t in truth]
    tables, _, sizes = clean(noisy, [20.0] * 2, [np.ones(0), np.ones(300)])
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
        (table, _), _, _ = clean(noisy, [30.0] * 2, [np.ones(100), np.ones(0)])
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


@pytest.mark.parametrize("cells", [100, 250])
def test_whole_numbers_that_do_not_divide_into_cells_stay_smooth(cells):
    # Days of a year in so many cells: some hold one day, some two or more, in no order.
    edges = np.rint(np.linspace(0, 366, cells + 1))
    widths, rng = np.diff(edges), np.random.default_rng(5)
    truth = 10_000 * widths / 366
    errors = []
    for _ in range(10):
        noisy = truth + rng.normal(0, 40, cells)
        sizes = (None, relative(widths))
        errors.append([np.abs(smooth(noisy, 40.0, own) - truth).sum() for own in sizes])
    alike, uneven = np.mean(errors, 0)
    assert uneven < 0.7 * alike
    assert smooth(truth, 1.0, relative(widths)) == pytest.approx(truth, rel=0.05)


def test_noise_in_empty_cells_fills_hardly_any():
    rng = np.random.default_rng(0)
    wrong = [filled(rng.normal(0, 20, 256), 20.0).any() for _ in range(200)]
    assert np.mean(wrong) < 0.08


def test_spikes_and_wide_low_stretches_are_found_and_nothing_beside_them():
    rng = np.random.default_rng(1)
    truth = np.zeros(256)
    truth[10], truth[100:164] = 500, 50
    found = np.mean([filled(truth + rng.normal(0, 20, 256), 20.0) for _ in range(20)], axis=0)
    assert found[10] == 1 and found[100:164].mean() > 0.8
    assert found[[*range(9), *range(12, 80), *range(190, 256)]].mean() < 0.05


def test_an_empty_tail_gets_no_hump_and_its_mass_lies_beside_what_is_there():
    rng = np.random.default_rng(2)
    truth = np.zeros((2, 256))
    truth[:, :60] = 20_000 * np.exp(-0.5 * ((np.arange(60) - 30) / 9) ** 2) / 60
    tails = []
    for _ in range(20):
        (found,), _, _ = clean([truth + rng.normal(0, 25, truth.shape)], [25.0], [np.ones(256)])
        tails.append(found[:, 120:].sum() / truth.sum())
        assert found.sum(0) == pytest.approx(truth.sum(0), abs=0.02 * truth.sum())
    assert np.median(tails) < 1e-4
    assert np.mean(tails) < 0.005


def test_tails_go_on_falling_as_they_did_unless_the_counts_say_otherwise():
    truth = 1000 * 0.9 ** np.arange(60)
    known = np.arange(60) < 20
    found = fade(truth, truth, 10.0, known, np.ones(60))
    assert found[:20] == pytest.approx(truth[:20])
    assert found[20:30] == pytest.approx(truth[20:30], rel=0.25)
    assert (np.diff(found[20:]) < 0).all()
    less = np.where(known, truth, -5.0)
    assert fade(less, truth, 1.0, known, np.ones(60))[20:].sum() == 0
    more = np.where(known, truth, 100.0)
    assert fade(more, truth, 1.0, known, np.ones(60))[20:].sum() == pytest.approx(4000, abs=0.1)
    unsure = fade(more, truth, 1000.0, known, np.ones(60))[20:].sum()  # noise of 3,650 on 4,000
    assert truth[20:].sum() < unsure < 2 * truth[20:].sum()


def test_holes_are_bridged_and_spikes_have_no_tails():
    level = np.repeat([80.0, 0.0, 80.0, 0.0, 500.0], [10, 3, 10, 30, 1])
    known = level > 0
    found = fade(np.where(known, level, 40.0), level, 20.0, known, np.ones(54))
    assert found[10:13].min() > 20
    spike = np.array([0.0] * 20 + [500.0] + [0.0] * 20)
    assert fade(spike, spike, 20.0, spike > 0, np.ones(41)).sum() == 500
    assert fade(0 * spike, spike, 20.0, np.zeros(41, bool), np.ones(41)).sum() == 0


def test_tails_fall_with_the_distance_not_with_the_cells():
    widths = np.r_[np.ones(20), np.full(10, 4.0)]
    truth = np.r_[1000 * 0.9 ** np.arange(20), np.zeros(10)]
    found = fade(truth, truth, 1e3, np.arange(30) < 20, widths)[20:]
    density = found / widths[20:]
    assert density[1:] / density[:-1] == pytest.approx(0.9**4, rel=0.02)


def test_many_empty_cells_hold_what_the_known_size_leaves():
    rng, found = np.random.default_rng(2), []
    truth = np.zeros((1, 256))
    truth[0, [0, *range(100, 110)]] = [20_000, *[400] * 10]
    small = np.array([[24_000.0]])  # another column, whose one cell tells the size
    for _ in range(30):
        noisy = truth + rng.normal(0, 30, truth.shape)
        (cleaned, _), (filled, _), _ = clean([noisy, small], [30.0] * 2, [np.ones(256), np.ones(0)])
        assert filled[[0, *range(100, 110)]].all() and filled.sum() < 15
        found.append(cleaned[0, ~filled].sum())
    # All 245 cells together have a noise of 470, what the size leaves one of 100.
    assert np.std(found) < 250 and np.mean(found) < 400


def test_a_pile_at_the_end_of_the_range_is_seen_sooner_than_one_within_it():
    rng = np.random.default_rng(3)
    at_end, within = np.zeros(256), np.zeros(256)
    at_end[-1] = within[200] = 100
    seen = [
        np.mean([filled(truth + rng.normal(0, 20, 256), 20.0)[place] for _ in range(200)])
        for truth, place in ((at_end, -1), (within, 200), (np.zeros(256), -1))
    ]
    assert seen[0] > 0.8 > seen[1] and seen[2] < 0.03


def test_rare_values_are_shrunk_to_what_is_surely_there():
    rng, truth = np.random.default_rng(0), np.array([6000.0, 3990.0, 10.0])
    found = []
    for _ in range(50):
        (table,), (sure,), _ = clean([(truth + rng.normal(0, 100, 3))[None]], [100.0], [np.ones(0)])
        assert sure[:2].all()
        found.append(table[0, 2])
    plain = np.maximum(truth[2] + rng.normal(0, 100, 1000), 0).mean()
    assert np.mean(found) < 0.75 * plain


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_noise_hides_do_not_become_spikes(seed):
    """900 of 12,000 rows lie in 250 cells, four in each and fewer: spikes are not to get them."""
    rng = np.random.default_rng(seed)
    truth, noise = np.zeros((1, 253)), 40.0
    truth[0, 100:250] = 6.0
    truth[0, 250:] = 200.0, 10_500.0, 400.0  # spikes, behind the cells that have an order
    noisy = truth + rng.normal(0, noise, truth.shape)
    (found,), (known,), _ = clean([noisy], [noise], [np.ones(250)], (truth.sum(1), 1.0))
    assert known[250:].all() and not known[:250].any()
    assert np.abs(found - truth)[0, 250:].max() < 4 * noise
    assert found[0, :250].sum() == pytest.approx(900, abs=4 * noise * np.sqrt(3))


def test_cells_that_are_empty_get_no_rows_from_noise():
    rng, noise, won = np.random.default_rng(5), 40.0, 0.0
    truth = np.r_[np.zeros(250), 200.0, 10_500.0, 400.0][None]
    for _ in range(40):
        noisy = truth + rng.normal(0, noise, truth.shape)
        (found,), _, _ = clean([noisy], [noise], [np.ones(250)], (truth.sum(1), 1.0))
        won += (found[0, :250].sum() > 0) / 40
    assert won < 0.2
