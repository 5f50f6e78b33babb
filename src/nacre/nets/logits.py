"""A mixture of product distributions while it is fitted: softmaxes over cells.

Each of R components has for each column a distribution over that column's cells, all independent
given the component; labels and components have joint weights.  The expectation of a product of
functions of single columns is a sum over components of products, so fitting needs no sampling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class MixtureLogits(eqx.Module):
    """The parameters while they are fitted.

    p(label, x) = sum_r w[label, r] prod_c p_c[r, x_c] over the component columns, times
    prod_c q_c[label, x_c] over the columns `by_label`: for a column of which only its marginals
    given the label are known, that is the solution of largest entropy.
    """

    joint: jax.Array
    base: list[jax.Array]
    tilt: list[jax.Array]
    given_label: list[jax.Array]

    def __init__(
        self,
        sizes: Sequence[int],
        by_label: Sequence[int],
        *,
        labels: int,
        components: int,
        spread: float = 0.5,
        rng: np.random.Generator,
    ):
        # Drawn and filled in NumPy: JAX would compile a program for each shape.
        def start(values: Any) -> jax.Array:
            return jnp.asarray(np.asarray(values, np.float32))

        self.joint = start(0.1 * rng.normal(size=(labels, components)))
        self.base = [start(np.zeros(size)) for size in sizes]
        self.tilt = [start(spread * rng.normal(size=(components, size))) for size in sizes]
        self.given_label = [start(np.zeros((labels, size))) for size in by_label]

    def weights(self) -> jax.Array:
        """Joint probabilities of label and component, (labels, R)."""
        return jax.nn.softmax(self.joint.reshape(-1)).reshape(self.joint.shape)

    def columns(self) -> list[jax.Array]:
        """Cell probabilities of each component column, (R, cells)."""
        return [
            jax.nn.softmax(base + tilt, axis=-1)
            for base, tilt in zip(self.base, self.tilt, strict=True)
        ]

    def label_columns(self) -> list[jax.Array]:
        """Cell probabilities of each column given the label, (labels, cells)."""
        return [jax.nn.softmax(logits, axis=-1) for logits in self.given_label]

    def complexity(self) -> jax.Array:
        """How far the components are from what they share, squared."""
        return sum((jnp.sum(tilt**2) for tilt in self.tilt), start=jnp.zeros(()))
