"""Counts of days and months with noise: what they tell, and what they do not."""

import numpy as np
import pytest

from nacre.histograms.day_counts import beyond_noise, season
from nacre.schema.calendar import MONTH, YEAR


def test_alike_days_are_noise_and_others_are_not():
    rng = np.random.default_rng(0)
    even = np.full(MONTH, 300.0)
    found = [beyond_noise(even + rng.normal(0, 100, MONTH), even, 100.0) for _ in range(200)]
    assert sum(each is not None for each in found) < 3
    # Chance is noise, too: of many rows the days of uniform dates differ by more than the rest.
    rows = [rng.poisson(even * 40) + rng.normal(0, 10, MONTH) for _ in range(200)]
    found = [beyond_noise(each, even * 40, 10.0) for each in rows]
    assert sum(each is not None for each in found) < 3
    comb = np.full(MONTH, 50.0)
    comb[0], comb[14] = 6500, 1050
    ratio = beyond_noise(comb + rng.normal(0, 100, MONTH), even, 100.0)
    assert ratio[0] * 300 == pytest.approx(6500, abs=650)
    assert ratio[14] * 300 == pytest.approx(1050, abs=650)
    others = np.delete(ratio, [0, 14]) * 300
    assert np.ptp(others) < 200 and others.mean() == pytest.approx(50, abs=60)
    # In a small table noise would give all rows to the day that stands out, or too few.
    rows, small = (
        np.full(MONTH, 20.0),
        np.r_[20.0 * MONTH * 0.6, np.full(29, 20 * MONTH * 0.4 / 29)],
    )
    held = [beyond_noise(small + rng.normal(0, 60, MONTH), rows, 60.0) for _ in range(200)]
    first = np.array([each[0] / each.sum() for each in held if each is not None])
    assert len(first) > 100 and first.mean() == pytest.approx(0.6, abs=0.03)
    assert first.std() < 0.13 and first.max() < 0.99
    assert beyond_noise(np.zeros(MONTH), np.zeros(MONTH), 1.0) is None
    assert beyond_noise(np.full(MONTH, 9.0), even * 0.01, 100.0) is None
    assert beyond_noise(comb, even, 0.0)[0] == pytest.approx(6500 / 300)


def test_months_differ_by_slow_waves_before_noise_does():
    rng = np.random.default_rng(0)
    even = np.full(YEAR, 800.0)
    found = [season(even + rng.normal(0, 100, YEAR), even, 100.0) for _ in range(400)]
    assert sum(each is not None for each in found) < 8
    swing = 1 + 0.25 * np.cos(2 * np.pi * np.arange(YEAR) / YEAR)
    found = [season(even * swing + rng.normal(0, 100, YEAR), even, 100.0) for _ in range(200)]
    there = [each for each in found if each is not None]
    assert len(there) > 150  # as days, they would be told in hardly any
    assert np.mean(there, 0) == pytest.approx(swing, abs=0.06)
    alone = np.where(np.arange(YEAR) == 7, 5.0, 1.0)
    assert season(even * alone, even, 0.0) == pytest.approx(alone / alone.mean(), rel=1e-3)
    assert season(np.zeros(YEAR), np.zeros(YEAR), 1.0) is None
    # A month that is nearly empty hides no season of the others.
    usual = np.where(np.arange(YEAR) == 6, 0.01, 1000.0)
    deep = 1 + 0.5 * np.cos(2 * np.pi * np.arange(YEAR) / YEAR)
    told = season(usual * deep + rng.normal(0, 60, YEAR), usual, 60.0)
    assert told is not None and np.isfinite(told).all() and told[0] > 1.2 > 0.9 > told[5]
    few = np.where(np.arange(YEAR) < 7, 800.0, 0.0)  # months of a table of seven
    assert season(few * alone, few, 50.0) is None
    assert season(few * swing * 1.5, few, 1.0) is not None
