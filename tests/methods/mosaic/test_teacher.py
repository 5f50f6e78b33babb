"""The label model: it repairs labels from noisy counts, and does not believe noise."""

import numpy as np
import pytest

from nacre.histograms.draw import chances, draw_labels
from nacre.methods.mosaic.prior import Prior, factors, ordered_classes
from nacre.methods.mosaic.teacher import _Posterior, evidence, teach


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
        evidence(
            cell, counts(cell, truth, size, noise, rng), noise**2, shares, Prior.apart(size, 1.0)
        )
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


def test_neighboring_bins_help_each_other_through_the_noise():
    rng = np.random.default_rng(5)
    cell = rng.integers(0, 40, 20_000)
    truth = 1 / (1 + np.exp(-2 * np.sin(np.arange(40) / 8)))[cell]
    noisy, shares = counts(cell, truth, 40, 60.0, rng), np.array([0.5, 0.5])
    errors = []
    for prior in (Prior.apart(40, 1.0), Prior.single(40, 40, 0.25)):
        part = evidence(cell, noisy, 60.0**2, shares, prior)
        chance = chances(teach(np.zeros((len(cell), 2)), [part])[0][:, cell].T)[:, 1]
        errors.append(np.abs(chance - truth).mean())
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 0.05


@pytest.mark.parametrize(("classes", "ordered"), [(2, False), (3, False), (4, True)])
def test_the_slopes_of_the_posterior_are_its_slopes(classes, ordered):
    rng = np.random.default_rng(6)
    cell = rng.integers(0, 6, 200)
    shares = np.full(classes, 1 / classes)
    tables = [
        evidence(at, rng.normal(20, 5, (classes, size)), 25.0, shares, prior)
        for at, size, prior in (
            (cell, 6, Prior.single(5, 6, 0.5)),
            (cell // 2, 3, Prior.single(0, 3, 0.5)),
            (cell, 6, Prior.pair((3, 3), (0, 2), 0.2)),
        )
    ]
    among = ordered_classes(classes, classes) if ordered else None
    posterior = _Posterior(rng.normal(size=(200, classes)), tables, among)
    z, step = rng.normal(size=posterior.size), 1e-6
    slopes = posterior(z)[1]
    for place in range(0, posterior.size, 3):
        moved = step * np.eye(posterior.size)[place]
        found = (posterior(z + moved)[0] - posterior(z - moved)[0]) / (2 * step)
        assert slopes[place] == pytest.approx(found, rel=1e-4, abs=1e-5)


def covariance_of(prior):
    inner, outer = factors([prior])
    factor = (outer @ inner).toarray()
    assert factor == pytest.approx(np.kron(prior.left, prior.right))
    return factor @ factor.T


def test_priors_are_smooth_over_ordered_bins_only():
    covariance = covariance_of(Prior.single(6, 7, 0.5))
    assert np.diag(covariance)[:6] == pytest.approx(np.full(6, 0.25 + 9), rel=1e-2)
    assert covariance[0, 1] > covariance[0, 3] > 0
    assert covariance[:6, 6] == pytest.approx(np.zeros(6), abs=1e-9)
    # A family is what a column beside this one would be: one more coefficient for all its bins.
    families = [np.array([0, 0, 1]), np.array([0, 0, 0])]
    alike = covariance_of(Prior.single(0, 3, 0.5, families))
    assert alike == pytest.approx(0.25 * np.array([[3, 2, 1], [2, 3, 1], [1, 1, 3]]))
    assert covariance_of(Prior.pair((0, 3), (0, 2), 0.2)) == pytest.approx(0.04 * np.eye(6))
    mixed = covariance_of(Prior.pair((3, 3), (0, 2), 0.2))
    assert mixed[0, 0] > mixed[0, 2] > mixed[0, 4] and mixed[0, 3] == 0
    # What the category says whatever the ordered column is, is left to its own table.
    assert mixed.reshape(3, 2, 3, 2).sum((0, 2)) == pytest.approx(np.zeros((2, 2)), abs=1e-9)
    assert np.abs(ordered_classes(4, 5).sum(0)).max() < 1e-9


def test_evidence_does_not_blame_the_label_for_errors_in_x():
    cell = np.repeat([0, 1], [300, 700])  # the noisy counts say 500 and 500
    noisy = np.array([[100.0, 400], [400, 100]])
    found = evidence(cell, noisy, 0.01, np.array([0.5, 0.5]), Prior.apart(2, 1.0))
    assert found.target.sum(0) == pytest.approx([300, 700])
    assert found.target[1] / found.target.sum(0) == pytest.approx([0.8, 0.2], abs=0.01)


def test_surprise_is_one_for_noise_alone_and_grows_with_error():
    rng = np.random.default_rng(3)
    cell, truth = rng.integers(0, 200, 20_000), np.full(20_000, 0.3)
    noisy = counts(cell, truth, 200, 10.0, rng)
    part = evidence(cell, noisy, 100.0, np.array([0.7, 0.3]), Prior.apart(200, 1.0))
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
