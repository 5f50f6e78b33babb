"""The two networks: convolutions are convolutions, training learns, seeds decide."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.signal import correlate2d

from nacre.evaluate.images.networks import FEATURES, Classifier, Convolution, LeNet
from nacre.evaluate.images.residual import Residual
from nacre.evaluate.images.training import _batches, features, logits, train
from nacre.rows import Images

KEY = jax.random.key(0)


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(5, 1, 2), (3, 2, 1), (2, 1, 0)])
def test_convolution_is_scipys(kernel, stride, padding):
    layer = Convolution(2, 3, kernel=kernel, stride=stride, padding=padding, rng=rng())
    x = np.random.default_rng(0).normal(size=(9, 8, 2)).astype(np.float32)
    found = np.asarray(layer(x[None])[0])
    assert found.shape == (layer.size(9), layer.size(8), 3)
    padded = np.pad(x, ((padding, padding), (padding, padding), (0, 0)))
    for out in range(3):
        expected = sum(
            correlate2d(padded[..., c], np.asarray(layer.weight)[..., c, out], "valid")
            for c in range(2)
        )
        assert np.allclose(
            found[..., out], expected[::stride, ::stride] + layer.bias[out], atol=1e-4
        )


@pytest.mark.parametrize("shape", [(28, 28, 1), (9, 11, 3)])
def test_shapes(shape):
    x = jnp.zeros((3, *shape))
    assert LeNet(shape, 7, rng=rng())(x).shape == (3, 7)
    assert LeNet(shape, 7, rng=rng()).features(x).shape == (3, FEATURES)
    assert Classifier(shape, 7, rng=rng())(x).shape == (3, 7)
    assert Residual(shape, 7, rng=rng())(x).shape == (3, 7)


def test_the_classifier_has_the_papers_sizes():
    network = Classifier((28, 28, 1), 10, rng=rng())
    assert [c.weight.shape[-1] for c in network.convolutions] == [32, 64]
    assert [c.stride for c in network.convolutions] == [2, 2]
    assert network.dense.weight.shape == (7 * 7 * 64, 10)
    assert network.dropout == 0.5


def test_dropout_acts_in_training_only():
    network, x = (
        Classifier((8, 8, 1), 3, rng=rng()),
        jax.random.normal(KEY, (2, 8, 8, 1)),
    )
    one, two = (network(x, jax.random.key(seed)) for seed in (1, 2))
    assert not np.allclose(one, two)
    assert np.array_equal(network(x), network(x))


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


def test_the_residual_network_is_small_and_begins_as_its_shortcuts():
    network = Residual((28, 28, 1), 10, rng=rng())
    leaves = jax.tree.leaves(eqx.filter(network, eqx.is_array))
    assert sum(leaf.size for leaf in leaves) == 28_266
    x = jax.random.normal(KEY, (2, 5, 5, 16))
    bias = network.blocks[0].second.bias
    assert np.allclose(network.blocks[0](x), x + bias)
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
