"""The networks: convolutions are convolutions, sizes are the papers', dropout is for training."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.signal import correlate2d

from nacre.evaluate.images.networks import FEATURES, Classifier, Convolution, LeNet
from nacre.evaluate.images.residual import Residual

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
    x, lenet = jax.ShapeDtypeStruct((3, *shape), jnp.float32), LeNet(shape, 7, rng=rng())
    assert jax.eval_shape(lenet.features, x).shape == (3, FEATURES)
    for network in (lenet, Classifier(shape, 7, rng=rng()), Residual(shape, 7, rng=rng())):
        assert jax.eval_shape(network, x).shape == (3, 7)


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


def test_the_residual_network_is_small_and_begins_as_its_shortcuts():
    network = Residual((28, 28, 1), 10, rng=rng())
    leaves = jax.tree.leaves(eqx.filter(network, eqx.is_array))
    assert sum(leaf.size for leaf in leaves) == 28_266
    x = jax.random.normal(KEY, (2, 5, 5, 16))
    bias = network.blocks[0].second.bias
    assert np.allclose(network.blocks[0](x), x + bias)
