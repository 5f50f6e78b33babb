"""A small residual network (He et al., 2016), channels last."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from nacre.evaluate.images.networks import Convolution, Dense

CHANNELS = (16, 32)


class Block(eqx.Module):
    """Two convolutions beside a shortcut; it begins as the shortcut alone."""

    first: Convolution
    second: Convolution

    def __init__(self, channels: int, *, rng: np.random.Generator):
        self.first = Convolution(channels, channels, kernel=3, padding=1, rng=rng)
        last = Convolution(channels, channels, kernel=3, padding=1, rng=rng)
        # So no normalization is needed, which would couple the images of a batch.
        self.second = eqx.tree_at(lambda c: c.weight, last, jnp.zeros_like(last.weight))

    def __call__(self, x: jax.Array) -> jax.Array:
        """The same shape again."""
        return x + self.second(jax.nn.relu(self.first(jax.nn.relu(x))))


class Residual(eqx.Module):
    """A convolution that halves the image and a block, twice; means; one linear layer.

    28,266 weights for ten classes of gray images.
    """

    halvings: tuple[Convolution, Convolution]
    blocks: tuple[Block, Block]
    dense: Dense

    def __init__(self, shape: tuple[int, int, int], classes: int, *, rng: np.random.Generator):
        few, many = CHANNELS
        self.halvings = (
            Convolution(shape[2], few, kernel=3, stride=2, padding=1, rng=rng),
            Convolution(few, many, kernel=3, stride=2, padding=1, rng=rng),
        )
        self.blocks = Block(few, rng=rng), Block(many, rng=rng)
        self.dense = Dense(many, classes, rng=rng)

    def __call__(self, x: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Logits of each class."""
        for halving, block in zip(self.halvings, self.blocks, strict=True):
            x = block(halving(x))
        return self.dense(jax.nn.relu(x).mean(axis=(1, 2)))
