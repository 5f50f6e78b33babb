"""Values that noise hides: what they hold together is kept, and no few of them get all of it."""

import numpy as np
import pytest

from nacre.histograms.clean import clean, surely_counted


def test_hidden_values_share_what_they_hold():
    rng = np.random.default_rng(0)
    real = rng.multinomial(10_000, (share := 1 / np.arange(1, 901)) / share.sum())
    noise, gaps = 20.0, []
    for _ in range(10):
        found, sure = surely_counted(real + rng.normal(0, noise, 900), noise)
        assert found.sum() == pytest.approx(10_000, rel=0.15)
        assert (found > 0).all() and 20 < sure.sum() < 80
        gaps.append(np.abs(found / found.sum() - real / 10_000).sum() / 2)
    assert np.mean(gaps) < 0.27  # a share in proportion to noise is off by .35


def test_of_values_that_noise_does_not_hide_nothing_changes():
    counts = np.array([5000.0, 300.0, 80.0, 0.0])
    found, sure = surely_counted(counts, 1.0)
    assert sure.tolist() == [True, True, True, False]
    assert found[:3].tolist() == counts[:3].tolist() and found[3] < 0.01


@pytest.mark.parametrize("classes", [1, 2])
def test_the_few_that_stand_out_do_not_get_what_noise_hides(classes):
    rng, noise = np.random.default_rng(1), 32.0
    real = np.full((classes, 400), 30.0 / classes)
    lone = []
    for _ in range(20):
        noisy = real + rng.normal(0, noise, real.shape)
        noisy[:, 7] = 4 * noise  # one that surely occurs
        sizes = np.full((classes, 1), 12_000.0 / classes)  # another column, of one cell
        (table, _), (sure, _), _ = clean([noisy, sizes], [noise] * 2, [np.ones(0), np.ones(0)])
        lone.append(table.sum(0).max() / table.sum())
        assert sure[7]
    assert max(lone) < 0.05  # it was given half of all rows
