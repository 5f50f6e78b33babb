"""Two small networks that images are judged by: LeNet for features, a CNN for accuracy.

Layers of whole batches, channels last, with first weights from NumPy: on a CPU the same networks of
`eqx.nn` layers under `vmap` take 1.2 (LeNet) to 1.8 times (CNN) as long a step, and three times as
long to compile.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

FEATURES = 84


def _uniform(shape: tuple[int, ...], inputs: int, rng: np.random.Generator) -> jax.Array:
    """First weights of a layer: drawn by NumPy, as JAX would compile a program for each shape."""
    bound = 1 / math.sqrt(inputs)
    return jnp.asarray(rng.uniform(-bound, bound, shape), jnp.float32)


class Convolution(eqx.Module):
    """A convolution of a batch of images, channels last."""

    weight: jax.Array
    bias: jax.Array
    stride: int = eqx.field(static=True)
    padding: int = eqx.field(static=True)

    def __init__(
        self,
        channels: int,
        out: int,
        *,
        kernel: int,
        stride: int = 1,
        padding: int = 0,
        rng: np.random.Generator,
    ):
        inputs = kernel * kernel * channels
        self.weight = _uniform((kernel, kernel, channels, out), inputs, rng)
        self.bias = _uniform((out,), inputs, rng)
        self.stride, self.padding = stride, padding

    def size(self, length: int) -> int:
        """How long an axis of this length is afterwards."""
        return (length + 2 * self.padding - self.weight.shape[0]) // self.stride + 1

    def __call__(self, x: jax.Array) -> jax.Array:
        """[batch, height, width, channels] to the same with other sizes."""
        return self.bias + jax.lax.conv_general_dilated(
            x,
            self.weight,
            (self.stride, self.stride),
            [(self.padding, self.padding)] * 2,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )


class Dense(eqx.Module):
    """A linear layer on a batch."""

    weight: jax.Array
    bias: jax.Array

    def __init__(self, width: int, out: int, *, rng: np.random.Generator):
        self.weight = _uniform((width, out), width, rng)
        self.bias = _uniform((out,), width, rng)

    def __call__(self, x: jax.Array) -> jax.Array:
        """[batch, width] to [batch, out]."""
        return x @ self.weight + self.bias


def _halve(x: jax.Array) -> jax.Array:
    """The largest of each two by two pixels; a last odd one is dropped."""
    n, height, width, channels = x.shape
    x = x[:, : height // 2 * 2, : width // 2 * 2]
    return x.reshape(n, height // 2, 2, width // 2, 2, channels).max(axis=(2, 4))


class LeNet(eqx.Module):
    """LeNet-5 with rectifiers and maxima (LeCun et al., 1998); its last hidden layer is used."""

    convolutions: tuple[Convolution, Convolution]
    dense: tuple[Dense, Dense, Dense]

    def __init__(self, shape: tuple[int, int, int], classes: int, *, rng: np.random.Generator):
        first = Convolution(shape[2], 6, kernel=5, padding=2, rng=rng)
        second = Convolution(6, 16, kernel=5, padding=2, rng=rng)
        self.convolutions = first, second
        flat = math.prod(length // 2 // 2 for length in shape[:2]) * 16
        self.dense = (
            Dense(flat, 120, rng=rng),
            Dense(120, FEATURES, rng=rng),
            Dense(FEATURES, classes, rng=rng),
        )

    def features(self, x: jax.Array) -> jax.Array:
        """[batch, height, width, channels] to [batch, 84]."""
        for convolution in self.convolutions:
            x = _halve(jax.nn.relu(convolution(x)))
        x = x.reshape(len(x), -1)
        for dense in self.dense[:2]:
            x = jax.nn.relu(dense(x))
        return x

    def __call__(self, x: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Logits of each class."""
        return self.dense[2](self.features(x))


class Classifier(eqx.Module):
    """Two convolutions of stride 2 (32 and 64 channels), dropout 1/2 after each, one linear layer.

    The CNN of Cao et al. (2021), with which functional Rényi DP measures accuracy.
    """

    convolutions: tuple[Convolution, Convolution]
    dense: Dense
    dropout: float = eqx.field(static=True)

    def __init__(
        self,
        shape: tuple[int, int, int],
        classes: int,
        *,
        rng: np.random.Generator,
        dropout: float = 0.5,
    ):
        first = Convolution(shape[2], 32, kernel=3, stride=2, padding=1, rng=rng)
        second = Convolution(32, 64, kernel=3, stride=2, padding=1, rng=rng)
        self.convolutions = first, second
        flat = math.prod(second.size(first.size(length)) for length in shape[:2]) * 64
        self.dense = Dense(flat, classes, rng=rng)
        self.dropout = dropout

    def __call__(self, x: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Logits of each class; with a key, units are dropped as in training."""
        for place, convolution in enumerate(self.convolutions):
            x = convolution(x)
            if key is not None and self.dropout:
                kept = jax.random.bernoulli(
                    jax.random.fold_in(key, place), 1 - self.dropout, x.shape
                )
                x = jnp.where(kept, x / (1 - self.dropout), 0)
            x = jax.nn.relu(x)
        return self.dense(x.reshape(len(x), -1))
