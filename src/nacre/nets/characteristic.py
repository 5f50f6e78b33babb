"""The characteristic function of a mixture of products, in closed form.

Phi(t) = sum_r w_r prod_c E_r exp(i t_c x_c): for each frequency a product over the few columns
that it touches, of one matrix product per column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError


def mixture_characteristic(
    support: NDArray[np.int64], transforms: Sequence[NDArray[np.complex128]]
) -> Callable[[Sequence[jax.Array], jax.Array, Any], tuple[jax.Array, jax.Array]]:
    """A function of (columns, weights, block): real and imaginary parts, each (width, labels).

    Args:
        support: (width, order), the columns of each frequency, unused places -1 on the left, sorted
            so that frequencies with fewer columns come first.
        transforms: for each column, E exp(i t x) over each cell, for the frequencies that touch
            it, in their order: (blocks, number of them, cells).
    """
    k, order = support.shape
    filled = [int((support[:, slot] >= 0).sum()) for slot in range(order)]
    for slot in range(order):
        if (support[k - filled[slot] :, slot] < 0).any():
            raise NacreError("Frequencies with fewer columns must come first.")
    place = np.full(support.shape, -1, np.int64)
    start = 0
    for column, transform in enumerate(transforms):
        rows, slots = np.nonzero(support == column)
        place[rows, slots] = start + np.arange(len(rows))
        if len(rows) != transform.shape[1]:
            raise NacreError("A transform is needed for each frequency that touches a column.")
        start += len(rows)
    gather = _permutation(
        np.concatenate([place[k - filled[slot] :, slot] for slot in reversed(range(order))])
    )
    real = [jnp.asarray(t.real, jnp.float32) for t in transforms]
    imaginary = [jnp.asarray(t.imag, jnp.float32) for t in transforms]

    def characteristic(
        columns: Sequence[jax.Array], weights: jax.Array, block: Any
    ) -> tuple[jax.Array, jax.Array]:
        used = [u for u in zip(real, imaginary, columns, strict=True) if u[0].shape[1]]
        a = gather(jnp.concatenate([e[block] @ p.T for e, _, p in used]))
        b = gather(jnp.concatenate([f[block] @ p.T for _, f, p in used]))
        # The last slot is filled for every frequency; earlier ones only for a tail of them.
        re, im = a[:k], b[:k]
        done = k
        for slot in reversed(range(order - 1)):
            n = filled[slot]
            head = k - n
            x, y = a[done : done + n], b[done : done + n]
            done += n
            re, im = (
                jnp.concatenate([re[:head], re[head:] * x - im[head:] * y]),
                jnp.concatenate([im[:head], re[head:] * y + im[head:] * x]),
            )
        return re @ weights.T, im @ weights.T

    return characteristic


def _permutation(order: NDArray[np.int64]) -> Callable[[jax.Array], jax.Array]:
    """x[order], with the inverse gather as its derivative: a scatter would be ten times slower."""
    forward, backward = jnp.asarray(order), jnp.asarray(np.argsort(order))

    @jax.custom_vjp
    def permute(x: jax.Array) -> jax.Array:
        return x[forward]

    def first(x: jax.Array) -> tuple[jax.Array, None]:
        return x[forward], None

    def second(_: None, gradient: Any) -> tuple[jax.Array]:
        return (gradient[backward],)

    permute.defvjp(first, second)
    return permute
