"""A mixture of product distributions while it is fitted: softmaxes over cells.

Each of R components has for each column a distribution over that column's cells, all independent
given the component; labels and components have joint weights.  The expectation of a product of
functions of single columns is a sum over components of products, so fitting needs no sampling.
Columns with as many cells as each other share their arrays: a program with operations of their own
for hundreds of columns takes minutes to compile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

Groups = tuple[tuple[int, ...], ...]


def alike(sizes: Sequence[int]) -> Groups:
    """Places grouped by size, each group in order.

    Examples:
        >>> alike([4, 2, 4])
        ((0, 2), (1,))
    """
    found: dict[int, list[int]] = {}
    for place, size in enumerate(sizes):
        found.setdefault(size, []).append(place)
    return tuple(map(tuple, found.values()))


def parted(stacked: Sequence[Any], groups: Groups) -> list[Any]:
    """What is stacked by group, one by one and in order.

    Examples:
        >>> parted([["a", "c"], ["b"]], ((0, 2), (1,)))
        ['a', 'b', 'c']
    """
    found = {
        column: part[place]
        for part, group in zip(stacked, groups, strict=True)
        for place, column in enumerate(group)
    }
    return [found[column] for column in sorted(found)]


class MixtureLogits(eqx.Module):
    """The parameters while they are fitted.

    p(label, x) = sum_r w[label, r] prod_c p_c[r, x_c] over the component columns, times
    prod_c q_c[label, x_c] over the columns `by_label`: for a column of which only its marginals
    given the label are known, that is the solution of largest entropy.

    Attributes:
        joint: of labels and components.
        base: for each number of cells, what the components share, (columns, 1, cells).
        tilt: for each number of cells, what they add to it, (columns, R, cells).
        given_label: of the columns by label, (labels, cells) each.
        groups: for each number of cells, which columns have it.
    """

    joint: jax.Array
    base: list[jax.Array]
    tilt: list[jax.Array]
    given_label: list[jax.Array]
    groups: Groups = eqx.field(static=True)

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
        self.groups = alike(sizes)
        tilts = [spread * rng.normal(size=(components, size)) for size in sizes]
        self.base = [start(np.zeros((len(g), 1, sizes[g[0]]))) for g in self.groups]
        self.tilt = [start(np.stack([tilts[column] for column in g])) for g in self.groups]
        self.given_label = [start(np.zeros((labels, size))) for size in by_label]

    def weights(self) -> jax.Array:
        """Joint probabilities of label and component, (labels, R)."""
        return jax.nn.softmax(self.joint.reshape(-1)).reshape(self.joint.shape)

    def stacked(self) -> list[jax.Array]:
        """Cell probabilities of the component columns, (columns, R, cells) for each group."""
        pairs = zip(self.base, self.tilt, strict=True)
        return [jax.nn.softmax(base + tilt, axis=-1) for base, tilt in pairs]

    def some(self, groups: Groups) -> list[jax.Array]:
        """Likewise, of some columns: those of a group have as many cells as each other."""
        every, found = self.stacked(), []
        for wanted in groups:
            own = next(place for place, group in enumerate(self.groups) if wanted[0] in group)
            if wanted == self.groups[own]:
                found.append(every[own])
            else:
                places = [self.groups[own].index(column) for column in wanted]
                found.append(every[own][np.array(places)])
        return found

    def columns(self) -> list[Any]:
        """Cell probabilities of each component column, (R, cells)."""
        return parted(self.stacked(), self.groups)

    def label_columns(self) -> list[jax.Array]:
        """Cell probabilities of each column given the label, (labels, cells)."""
        return [jax.nn.softmax(logits, axis=-1) for logits in self.given_label]

    def complexity(self) -> jax.Array:
        """How far the components are from what they share, squared."""
        return sum((jnp.sum(tilt**2) for tilt in self.tilt), start=jnp.zeros(()))
