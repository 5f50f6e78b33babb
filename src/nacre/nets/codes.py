"""A generator of codes in front of a decoder, fitted to the mean features of real rows' codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from nacre.nets.layers import AbstractLayer, run
from nacre.nets.match import Balance, Targets, distance
from nacre.nets.trained import TableNetwork
from nacre.nets.waves import cosine_sine


class CodeMatch(eqx.Module):
    """The squared distance between released and generated mean features of codes, by class.

    Generated codes are decoded, rows are drawn from what comes out, and *these* are encoded and
    compared: so rows of the kind that will be sampled have the embedding that real rows have, even
    where the decoder does not undo the encoder.  The decoder stays as it was released.

    Attributes:
        targets: what was released.
        matrix: the frequencies over the places of a code, (blocks, width, code).
        arrays: of the encoder, public as it was trained with noise.
        encoder: its layers.
        decoder: how many of the model's last layers are the decoder's.
        batch: how many rows are generated a step.
        balance: how classes are weighted, as in `NetworkMatch`.
        constant: c of the label kernel y.y' + c.
    """

    targets: Targets
    matrix: jax.Array
    arrays: list[dict[str, jax.Array]]
    encoder: tuple[AbstractLayer, ...] = eqx.field(static=True)
    decoder: int = eqx.field(static=True)
    batch: int = eqx.field(static=True)
    balance: Balance = eqx.field(static=True)
    constant: float = eqx.field(static=True)

    def __call__(self, model: TableNetwork, logs: Any, step: Any, key: Any) -> Any:
        """The loss on the step's block of frequencies, and rows that are generated afresh."""
        targets, classes = self.targets, len(self.targets.prior)
        each = max(self.batch // classes, 8)
        rows = self._held(model).rows(jnp.repeat(jnp.arange(classes), each), key)
        blocks, width, _ = self.matrix.shape
        block = step % blocks
        phases = run(self.encoder, self.arrays, rows, jnp) @ self.matrix[block].T
        waves, released = cosine_sine(phases), (targets.real, targets.imaginary)
        error = jnp.zeros(())
        for wave, target in zip(waves, released, strict=True):
            found, joint = wave.reshape(classes, each, width), target[block].T  # type: ignore[index]
            error += distance(targets, found, joint, 0, self.balance, self.constant) / width
        return error

    def _held(self, model: TableNetwork) -> TableNetwork:
        """The model, the decoder's part without a gradient."""
        arrays = model.network.arrays[-self.decoder :]
        return with_decoder(model, jax.lax.stop_gradient(arrays))


def with_decoder(model: TableNetwork, arrays: Sequence[Any]) -> TableNetwork:
    """A model whose last layers, which read a row from a code, have these arrays."""
    kept = model.network.arrays[: -len(arrays)]
    return eqx.tree_at(lambda found: found.network.arrays, model, [*kept, *arrays])
