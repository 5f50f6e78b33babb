"""Training a small network on labelled images, and applying it."""

from collections.abc import Iterator
from typing import Any, Protocol, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from nacre.errors import NacreError
from nacre.evaluate.images.accuracy import BATCH
from nacre.evaluate.images.networks import LeNet
from nacre.rows import Images

_CHUNK = 1_000
_ADAM = optax.adam(1e-3)


class ImageNetwork(Protocol):
    """Logits of a batch of images; a key turns on what is random in training."""

    def __call__(self, x: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """[batch, height, width, channels] to [batch, classes]."""
        ...


Trained = TypeVar("Trained", bound=ImageNetwork)


def train(network: Trained, images: Images, *, steps: int, seed: int) -> Trained:
    """Minimize the cross-entropy by Adam on batches of `images`, which must have labels.

    Each image is seen once before any is seen again.

    The loop is plain Python: a step takes far longer than a call, one compiled step serves every
    set of images of one size, and XLA's convolutions are slow inside a compiled loop.
    """
    if images.labels is None:
        raise NacreError("These images have no labels to learn from.")
    rng, key = np.random.default_rng(seed), jax.random.key(seed)
    state = _start(network)
    for step, chosen in zip(range(steps), _batches(len(images), rng), strict=False):
        pixels, labels = images.pixels[chosen], images.labels[chosen]
        network, state = _step(network, state, pixels, labels, jax.random.fold_in(key, step))
    return network


def _batches(n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Places of images, epoch after epoch; a last one that is too short goes over into the next."""
    left = np.zeros(0, np.int64)
    while True:
        while len(left) < BATCH:
            left = np.concatenate([left, rng.permutation(n)])
        yield left[:BATCH]
        left = left[BATCH:]


@eqx.filter_jit
def _start(network: Any) -> Any:
    return _ADAM.init(eqx.filter(network, eqx.is_inexact_array))


@eqx.filter_jit
def _step(network: Any, state: Any, pixels: Any, labels: Any, key: jax.Array) -> tuple[Any, Any]:
    def loss(network: Any) -> jax.Array:
        logits = network(_unit(pixels), key)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    updates, state = _ADAM.update(eqx.filter_grad(loss)(network), state)
    return eqx.apply_updates(network, updates), state


def logits(network: ImageNetwork, images: Images) -> np.ndarray:
    """The network's logits of each image."""
    return _in_chunks(_logits, network, images)


def features(network: LeNet, images: Images) -> np.ndarray:
    """LeNet's features of each image."""
    return _in_chunks(_features, network, images)


@eqx.filter_jit
def _logits(network: Any, pixels: jax.Array) -> jax.Array:
    return network(_unit(pixels))


@eqx.filter_jit
def _features(network: LeNet, pixels: jax.Array) -> jax.Array:
    return network.features(_unit(pixels))


def _in_chunks(function: Any, network: Any, images: Images) -> np.ndarray:
    # The last chunk is filled up, so that one shape is compiled.
    pixels = np.pad(images.pixels, ((0, -len(images) % _CHUNK), (0, 0), (0, 0), (0, 0)))
    parts = [
        np.asarray(function(network, pixels[i : i + _CHUNK]), np.float64)
        for i in range(0, len(pixels), _CHUNK)
    ]
    return np.concatenate(parts)[: len(images)]


def _unit(pixels: jax.Array) -> jax.Array:
    """Bytes as numbers from -1 to 1."""
    return jnp.asarray(pixels, jnp.float32) / 127.5 - 1
