"""A network while it is trained: an Equinox module over the layers of `layers.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.nets.layers import AbstractLayer, freeze, run, start
from nacre.nets.modes import ModeSplit
from nacre.nets.network import NetworkGenerator, input_width, latent_inputs
from nacre.nets.vector import RowVector

FROZEN = 1 << 13  # generated rows whose statistics batch norms are frozen at


class Network(eqx.Module):
    """Layers with the arrays that are trained; maps a batch (n, inputs) to (n, outputs)."""

    layers: tuple[AbstractLayer, ...] = eqx.field(static=True)
    arrays: list[dict[str, jax.Array]]

    def __init__(self, layers: Sequence[AbstractLayer], rng: np.random.Generator):
        self.layers = tuple(layers)
        self.arrays = [
            {name: jnp.asarray(value) for name, value in own.items()} for own in start(layers, rng)
        ]

    def __call__(self, x: Any) -> Any:
        """A batch through all layers."""
        return run(self.layers, self.arrays, x, jnp)


class TableNetwork(eqx.Module):
    """Latent numbers and a label in, rows of a table out."""

    network: Network
    vector: RowVector = eqx.field(static=True)
    latent: int = eqx.field(static=True)

    def rows(self, classes: Any, key: Any) -> Any:
        """A generated row (n, d) for each class of `classes` (n,), with a gradient."""
        first, second = jax.random.split(key)
        return self.vector.rows(self._outputs(classes, first), second)

    def chances(self, classes: Any, key: Any) -> Any:
        """The same before categories are drawn: numbers, and the chance of each value."""
        first, _ = jax.random.split(key)
        return self.vector.chances(self._outputs(classes, first))

    def _outputs(self, classes: Any, key: Any) -> Any:
        inputs = jax.random.normal(key, (len(classes), self.latent))
        if self.vector.classes > 1:
            hot = jax.nn.one_hot(classes, self.vector.classes)
            inputs = jnp.concatenate([inputs, hot], axis=1)
        return self.network(inputs)


def table_network(
    vector: RowVector, layers: Sequence[AbstractLayer], latent: int, rng: np.random.Generator
) -> TableNetwork:
    """A network for the rows of a table, with its first weights."""
    return TableNetwork(Network(layers, rng), vector, latent)


def paper_layers(vector: RowVector, latent: int) -> tuple[AbstractLayer, ...]:
    """z and the label -> 4d -> 2d -> d with batch norms and ReLU (PEARL, DP-MERF)."""
    from nacre.nets.layers import mlp

    d = vector.width
    return mlp(input_width(latent, vector.classes), 4 * d, 2 * d, d, batch_norm=True)


def finished(
    model: TableNetwork,
    weights: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    sampled: bool = True,
    split: ModeSplit | None = None,
) -> NetworkGenerator:
    """The generator: arrays as NumPy's, batch norms frozen at the statistics of many rows.

    As many of each class that is drawn, as in the batches that it was trained on.
    """
    vector, network, drawn = model.vector, model.network, np.flatnonzero(weights)
    classes = drawn[np.arange(FROZEN) % len(drawn)]
    inputs = latent_inputs(classes, len(weights), model.latent, rng)
    return NetworkGenerator(
        vector=vector,
        layers=network.layers,
        arrays=freeze(network.layers, network.arrays, inputs),
        latent=model.latent,
        weights=np.asarray(weights, np.float64),
        sampled=sampled,
        split=split,
    )
