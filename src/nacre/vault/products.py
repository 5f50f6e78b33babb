"""Products of two factors of one row, summed: what gradients and second moments are made of.

A function of one row that returns `Products` names the factors and leaves the products to the
vault, which then need not make, clip and round each of them for every row: it clips and rounds the
factors, and the sum over a block of rows is one product of matrices of integers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from nacre.vault.bound import Bound
from nacre.vault.tracing import RefusedFunction

BITS = 13  # factors, of norm one, are rounded to 2^-13
LIMIT = 1 << 2 * BITS  # of the sum of a factor's squares, in these units


class Products(NamedTuple):
    """What a row contributes: plain features, then all sums over k of left[k, i] * right[k, j].

    The products fill the bound's last segment, row by row of the matrix; plain features fill the
    segments before it.

    Sensitivity:
        |sum_k left_k right_k'| <= |left| |right| <= 1 in the norms of Frobenius (Cauchy and
        Schwarz): the vault clips either factor to norm one.

    Attributes:
        plain: (size of the segments before the last,), real.
        left: (k, i), real, of norm one at most.
        right: (k, j), likewise.
    """

    plain: Any
    left: Any
    right: Any


def check(shapes: Products, bound: Bound) -> None:
    """Raise unless these products fill the bound's last segment, and plain features the rest."""
    plain, left, right = shapes
    real = all(jnp.issubdtype(getattr(s, "dtype", int), jnp.floating) for s in shapes)
    if not real or (plain.ndim, left.ndim, right.ndim) != (1, 2, 2) or len(left) != len(right):
        raise RefusedFunction(
            "Products need a real vector and two real matrices with as many rows as each other."
        )
    last = bound.segments[-1] if bound.segments else None
    if last is None or last.norm != 1 or not last.signed:
        raise RefusedFunction("Products need a last segment of norm one that may be negative.")
    sizes = plain.shape[0], left.shape[1] * right.shape[1]
    if sizes != (bound.offsets[-2], last.size):
        raise RefusedFunction(
            f"features(row) returns {sizes[0]} plain values and {sizes[1]} products, the bound "
            f"describes {bound.offsets[-2]} and, in its last segment, {last.size}."
        )


def summed(left: jax.Array, right: jax.Array, owner: jax.Array) -> jax.Array:
    """The sum over rows of their products, for each class: (classes, i * j) integers.

    Exactness:
        a sum of n rows' products is below n 2^26 by the same inequality, for blocks far below
        2^53: the float64 product is exact in any order.

    Args:
        left: integers, (rows, k, i), whose squares sum up to 2^26 at most for each row.
        right: likewise, (rows, k, j).
        owner: whether a row counts for a class, (classes, rows).
    """
    rows, k, _ = left.shape
    flat = right.astype(jnp.float64).reshape(rows * k, -1)

    def of_class(mine: jax.Array) -> jax.Array:
        own = jnp.where(mine[:, None, None], left, 0).astype(jnp.float64).reshape(rows * k, -1)
        return (own.T @ flat).astype(jnp.int64).reshape(-1)

    return jax.lax.map(of_class, owner)
