"""The characteristic function of a mixture of products, in closed form.

Phi(t) = sum_r w_r prod_c E_r exp(i t_c x_c): for each frequency a product over the few columns
that it touches, of one matrix product per column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError


class MixtureCharacteristic(eqx.Module):
    """The characteristic function of a mixture at public frequencies, in blocks.

    Attributes:
        real: for each column, the real parts of E exp(i t x) over each cell, for the frequencies
            that touch it, in their order: (blocks, number of them, cells).
        imaginary: the imaginary parts.
        order: where each frequency's factors are among the columns' products, and the inverse.
        filled: how many frequencies have a factor in each slot; the last has one for all.
    """

    real: list[jax.Array]
    imaginary: list[jax.Array]
    order: tuple[jax.Array, jax.Array]
    filled: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, support: NDArray[np.int64], transforms: Sequence[NDArray[np.complex128]]):
        """Lay out the frequencies.

        Args:
            support: (width, order), the columns of each frequency, unused places -1 on the left,
                sorted so that frequencies with fewer columns come first.
            transforms: for each column, E exp(i t x) over each cell (blocks, number, cells).
        """
        k, slots = support.shape
        self.filled = tuple(int((support[:, slot] >= 0).sum()) for slot in range(slots))
        for slot in range(slots):
            if (support[k - self.filled[slot] :, slot] < 0).any():
                raise NacreError("Frequencies with fewer columns must come first.")
        place = np.full(support.shape, -1, np.int64)
        start = 0
        for column, transform in enumerate(transforms):
            rows, found = np.nonzero(support == column)
            place[rows, found] = start + np.arange(len(rows))
            if len(rows) != transform.shape[1]:
                raise NacreError("A transform is needed for each frequency that touches a column.")
            start += len(rows)
        forward = np.concatenate(
            [place[k - self.filled[slot] :, slot] for slot in reversed(range(slots))]
        )
        self.order = (jnp.asarray(forward), jnp.asarray(np.argsort(forward)))
        self.real = [jnp.asarray(t.real, jnp.float32) for t in transforms]
        self.imaginary = [jnp.asarray(t.imag, jnp.float32) for t in transforms]

    def __call__(
        self, columns: Sequence[jax.Array], weights: jax.Array, block: Any
    ) -> tuple[jax.Array, jax.Array]:
        """Real and imaginary parts for a block of frequencies, each (width, labels)."""
        parts = zip(self.real, self.imaginary, columns, strict=True)
        used = [part for part in parts if part[0].shape[1]]
        a = _permute(jnp.concatenate([e[block] @ p.T for e, _, p in used]), *self.order)
        b = _permute(jnp.concatenate([f[block] @ p.T for _, f, p in used]), *self.order)
        # The last slot is filled for every frequency; earlier ones only for a tail of them.
        k = done = self.filled[-1]
        re, im = a[:k], b[:k]
        for n in reversed(self.filled[:-1]):
            head = k - n
            x, y = a[done : done + n], b[done : done + n]
            done += n
            re, im = (
                jnp.concatenate([re[:head], re[head:] * x - im[head:] * y]),
                jnp.concatenate([im[:head], re[head:] * y + im[head:] * x]),
            )
        return re @ weights.T, im @ weights.T


@jax.custom_vjp
def _permute(x: jax.Array, forward: jax.Array, backward: jax.Array) -> jax.Array:
    """x[forward], with the inverse gather as its derivative: a scatter is ten times slower."""
    return x[forward]


def _first(x: jax.Array, forward: jax.Array, backward: jax.Array) -> tuple[Any, Any]:
    return x[forward], backward


def _second(backward: jax.Array, gradient: Any) -> tuple[Any, None, None]:
    return gradient[backward], None, None


_permute.defvjp(_first, _second)
