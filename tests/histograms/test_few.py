"""Numbers of few values: told by all counts together, and no others are taken for such."""

import numpy as np
import pytest

from nacre.histograms.few import FewValues, jagged

NOISE, TICKS, ROWS = 40.0, 2_000, 15_000


def values_of(rng: np.random.Generator, share: float) -> np.ndarray:
    """Counts of ticks of which 150 hold this share of the rows, the others the rest."""
    counts = np.full(TICKS, (1 - share) * ROWS / TICKS)
    held = rng.exponential(size=150)
    counts[rng.choice(TICKS, 150, replace=False)] += share * ROWS * held / held.sum()
    return counts


@pytest.mark.parametrize("seed", range(5))
def test_rows_at_few_values_come_back_at_them(seed):
    rng = np.random.default_rng(seed)
    truth = values_of(rng, 1.0)
    noisy = truth + rng.normal(0, NOISE, TICKS)
    values = FewValues.of(noisy, np.full(TICKS, ROWS / TICKS), NOISE)
    assert values is not None
    rows = values.rows(noisy)
    assert rows[truth > 0].sum() > 0.7 * rows.sum()
    # No tick stands out of all by itself in so much noise, but for the heaviest.
    assert truth[noisy > 6 * NOISE].sum() < 0.6 * ROWS


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_rows_that_lie_anywhere_are_not_taken_for_few_values(share):
    rng = np.random.default_rng(7)
    for _ in range(20):
        noisy = values_of(rng, share) + rng.normal(0, NOISE, TICKS)
        assert FewValues.of(noisy, np.full(TICKS, ROWS / TICKS), NOISE) is None


def test_cells_of_few_values_are_jagged_and_smooth_ones_are_not():
    rng, widths = np.random.default_rng(3), np.tile([8.0, 7.0, 8.0], 80)
    smooth = ROWS * np.exp(-(np.linspace(-2, 2, 240) ** 2)) * widths
    smooth *= ROWS / smooth.sum()
    few = np.zeros(240)
    few[rng.choice(240, 60, replace=False)] = ROWS / 60
    for _ in range(20):
        noise = rng.normal(0, NOISE, 240)
        assert not jagged(smooth + noise, NOISE, widths)
        assert jagged(few + noise, NOISE, widths)
        spiky = smooth + noise
        spiky[[60, 90]] += ROWS / 4
        assert not jagged(spiky, NOISE, widths)
    assert not jagged(np.ones(2), 1.0, np.ones(2))
