"""The label model: it repairs labels from noisy counts, and does not believe noise."""

import numpy as np
import pytest

from nacre.histograms.draw import chances, draw_labels
from nacre.methods.mosaic.teacher import evidence, teach


def table(n=20_000, seed=0):
    """Two columns, and a label that depends on both and on their interaction."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, n), rng.integers(0, 3, n)
    logit = np.array([-1.5, -0.5, 0.5, 1.5])[a] + np.array([-1.0, 0, 1])[b] * np.where(a > 1, 1, -1)
    return a, b, 1 / (1 + np.exp(-logit))


def counts(cell, chance, size, noise, rng):
    both = np.stack([np.bincount(cell, 1 - chance, size), np.bincount(cell, chance, size)])
    return both + rng.normal(0, noise, both.shape)


def learned(noise, pairs=True, seed=1):
    a, b, truth = table()
    rng, shares = np.random.default_rng(seed), np.array([0.5, 0.5])
    cells = [(a, 4), (b, 3)] + ([(a * 3 + b, 12)] if pairs else [])
    parts = [
        evidence(cell, counts(cell, truth, size, noise, rng), noise**2, shares, 1.0)
        for cell, size in cells
    ]
    base = np.zeros((len(a), 2))
    tilts = teach(base, parts)
    return truth, chances(base + sum(t[:, c].T for t, (c, _) in zip(tilts, cells, strict=True)))[
        :, 1
    ]


def test_the_teacher_finds_the_label_and_interactions_need_pairs():
    truth, found = learned(noise=5.0)
    _, additive = learned(noise=5.0, pairs=False)
    assert np.abs(found - truth).mean() < 0.03
    assert np.abs(additive - truth).mean() > 0.1
    assert np.abs(truth - 0.5).mean() > 0.2, "knowing nothing would be as good"


def test_noise_shrinks_the_teacher_towards_its_base():
    truth, found = learned(noise=1e5)
    assert np.abs(found - 0.5).max() < 0.05
    assert np.abs(truth - 0.5).max() > 0.4


def test_evidence_does_not_blame_the_label_for_errors_in_x():
    cell = np.repeat([0, 1], [300, 700])  # the noisy counts say 500 and 500
    noisy = np.array([[100.0, 400], [400, 100]])
    found = evidence(cell, noisy, 0.01, np.array([0.5, 0.5]), 1.0)
    assert found.target.sum(0) == pytest.approx([300, 700])
    assert found.target[1] / found.target.sum(0) == pytest.approx([0.8, 0.2], abs=0.01)


def test_surprise_is_one_for_noise_alone_and_grows_with_error():
    rng = np.random.default_rng(3)
    cell, truth = rng.integers(0, 200, 20_000), np.full(20_000, 0.3)
    noisy = counts(cell, truth, 200, 10.0, rng)
    part = evidence(cell, noisy, 100.0, np.array([0.7, 0.3]), 1.0)
    same, other = (np.stack([1 - c, c], 1) for c in (truth, np.full(20_000, 0.6)))
    assert 0.5 < part.surprise(same) < 2
    assert part.surprise(other) > 5


def test_labels_follow_their_chances_with_quotas_along_the_score():
    rng = np.random.default_rng(4)
    chance = rng.dirichlet([2, 1, 0.2], 3000)
    drawn = [draw_labels(chance, rng) for _ in range(60)]
    for label in drawn[:3]:
        assert np.bincount(label, minlength=3) == pytest.approx(chance.sum(0), abs=3)
    hot = np.mean([label[:, None] == np.arange(3) for label in drawn], 0)
    high = chance[:, 0] > 0.8
    assert hot[high].mean(0) == pytest.approx(chance[high].mean(0), abs=0.02)
    certain = np.eye(3)[[2, 0, 1, 1]]
    assert draw_labels(certain, rng).tolist() == [2, 0, 1, 1]
