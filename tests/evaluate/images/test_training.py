"""Training learns, seeds decide, and each image is seen as often as the others."""

import numpy as np

from nacre.evaluate.images.networks import FEATURES, Classifier, LeNet
from nacre.evaluate.images.residual import Residual
from nacre.evaluate.images.training import _batches, features, logits, train
from nacre.rows import Images


def rng():
    return np.random.default_rng(0)


def stripes(n, seed):
    """Vertical or horizontal stripes with noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    base = np.zeros((2, 8, 8))
    base[0, :, ::2] = 150
    base[1, ::2, :] = 150
    return Images(
        np.clip(base[labels] + rng.normal(50, 30, (n, 8, 8)), 0, 255).astype(np.uint8)[..., None],
        labels,
    )


def test_training_learns_and_the_seed_decides():
    images, test = stripes(300, 0), stripes(500, 1)

    def found(steps, seed):
        network = train(Classifier((8, 8, 1), 2, rng=rng()), images, steps=steps, seed=seed)
        return logits(network, test)

    assert np.mean(found(30, seed=3).argmax(1) == test.labels) > 0.95
    one, same, other = (found(2, seed) for seed in (3, 3, 4))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_chunks_do_not_matter(monkeypatch):
    network, images = LeNet((8, 8, 1), 2, rng=rng()), stripes(25, 0)
    whole = features(network, images)
    monkeypatch.setattr("nacre.evaluate.images.training._CHUNK", 10)
    assert np.allclose(features(network, images), whole, atol=1e-6)
    assert whole.shape == (25, FEATURES)


def test_the_residual_network_learns():
    learnt = train(Residual((8, 8, 1), 2, rng=rng()), stripes(300, 0), steps=30, seed=0)
    test = stripes(500, 1)
    assert np.mean(logits(learnt, test).argmax(1) == test.labels) > 0.95


def test_each_image_is_seen_once_an_epoch():
    batches = _batches(300, rng())
    seen = np.concatenate([next(batches) for _ in range(75)])  # 32 epochs
    for epoch in seen.reshape(32, 300):
        assert np.array_equal(np.sort(epoch), np.arange(300))
    small = _batches(5, rng())
    assert np.bincount(next(small)).min() >= 25
