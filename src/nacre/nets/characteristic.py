"""The characteristic function of a mixture of products, in closed form.

Phi(t) = sum_r w_r prod_c E_r exp(i t_c x_c): for each frequency a product over the few columns
that it touches, of one matrix product per column.  Columns with as many cells as each other are
worked off together, as if each were touched as often as the one that is touched most.
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
from nacre.nets.logits import Groups, alike


class MixtureCharacteristic(eqx.Module):
    """The characteristic function of a mixture at public frequencies, in blocks.

    Attributes:
        real: for each group of columns, the real parts of E exp(i t x) over each cell, for the
            frequencies that touch a column, in their order, then zeros: (blocks, columns, most of
            them, cells).
        imaginary: the imaginary parts.
        order: where each frequency's factors are among the columns' products, and the inverse.
        filled: how many frequencies have a factor in each slot; the last has one for all.
        groups: columns that any frequency touches, by their number of cells.
    """

    real: list[jax.Array]
    imaginary: list[jax.Array]
    order: tuple[jax.Array, jax.Array]
    filled: tuple[int, ...] = eqx.field(static=True)
    groups: Groups = eqx.field(static=True)

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
        used = [column for column, t in enumerate(transforms) if t.shape[1]]
        sizes = [transforms[column].shape[2] for column in used]
        self.groups = tuple(tuple(used[p] for p in group) for group in alike(sizes))
        padded = [_padded([transforms[column] for column in group]) for group in self.groups]
        place = np.full(support.shape, -1, np.int64)
        start = 0
        for group, together in zip(self.groups, padded, strict=True):
            for column in group:
                rows, found = np.nonzero(support == column)
                place[rows, found] = start + np.arange(len(rows))
                if len(rows) != transforms[column].shape[1]:
                    raise NacreError(
                        "A transform is needed for each frequency that touches a column."
                    )
                start += together.shape[2]
        forward = np.concatenate(
            [place[k - self.filled[slot] :, slot] for slot in reversed(range(slots))]
        )
        backward = np.full(start, len(forward), np.int64)  # beyond the last: nobody's
        backward[forward] = np.arange(len(forward))
        self.order = (jnp.asarray(forward), jnp.asarray(backward))
        self.real = [jnp.asarray(t.real, jnp.float32) for t in padded]
        self.imaginary = [jnp.asarray(t.imag, jnp.float32) for t in padded]

    def __call__(
        self, tables: Sequence[jax.Array], weights: jax.Array, block: Any
    ) -> tuple[jax.Array, jax.Array]:
        """Real and imaginary parts for a block of frequencies, each (width, labels).

        `tables` are cell probabilities, (columns, R, cells) for each of the `groups`.
        """
        a, b = (
            _permute(_products([part[block] for part in parts], tables), *self.order)
            for parts in (self.real, self.imaginary)
        )
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


def _padded(transforms: Sequence[NDArray[np.complex128]]) -> NDArray[np.complex128]:
    """Transforms (blocks, number, cells) of some columns as one array, with zeros at the end."""
    most = max(t.shape[1] for t in transforms)
    gaps = [((0, 0), (0, most - t.shape[1]), (0, 0)) for t in transforms]
    return np.stack([np.pad(t, gap) for t, gap in zip(transforms, gaps, strict=True)], axis=1)


def _products(parts: Sequence[jax.Array], tables: Sequence[jax.Array]) -> jax.Array:
    """Each column's factors by component, one column after the other."""
    found = []
    for part, table in zip(parts, tables, strict=True):
        own = part @ jnp.swapaxes(table, 1, 2)
        found.append(own.reshape(-1, own.shape[-1]))
    return jnp.concatenate(found)


@jax.custom_vjp
def _permute(x: jax.Array, forward: jax.Array, backward: jax.Array) -> jax.Array:
    """x[forward], with the inverse gather as its derivative: a scatter is ten times slower.

    `forward` has each place once at most; where it has none, `backward` is `len(forward)`.
    """
    return x[forward]


def _first(x: jax.Array, forward: jax.Array, backward: jax.Array) -> tuple[Any, Any]:
    return x[forward], backward


def _second(backward: jax.Array, gradient: Any) -> tuple[Any, None, None]:
    nothing = jnp.zeros((1, *gradient.shape[1:]), gradient.dtype)
    return jnp.concatenate([gradient, nothing])[backward], None, None


_permute.defvjp(_first, _second)
